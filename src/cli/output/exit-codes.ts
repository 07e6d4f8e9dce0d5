import { constants } from 'node:os'

/** The exit codes. `outputClosed` is the code that a shell reports for a program that SIGPIPE ends. */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  badInput: 2,
  worldFailed: 3,
  defect: 70,
  interrupted: 130,
  outputClosed: 141,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Returns the exit code that a shell reports for a program that the signal ends. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
