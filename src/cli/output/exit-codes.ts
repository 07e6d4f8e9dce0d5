/** What the shell sees. */
export const exitCodes = { ok: 0, checkFailed: 1, badInput: 2, worldFailed: 3, defect: 70 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
