import type { ErrorCode } from '../../errors.js'

/**
 * The codes of refusals, each with the close code of the socket in case the message before it is lost. Codes from 4000
 * on are for applications (RFC 6455, section 7.4.2).
 */
export const refusalCodes = {
  ERR_PROTOCOL: 4000,
  ERR_TOKEN: 4001,
  ERR_REPLAYED: 4002,
  ERR_WORLD_FULL: 4003,
  ERR_PROGRAM_MISMATCH: 4004,
  ERR_VERSION_MISMATCH: 4005,
  ERR_MESSAGE_TOO_LARGE: 4006,
  ERR_LIMIT: 4007,
  ERR_WORLD: 4008,
  ERR_WORLD_LOST: 4009,
  ERR_TUNING_MISMATCH: 4010,
} as const satisfies Partial<Record<ErrorCode, number>>

export type RefusalCode = keyof typeof refusalCodes

export const refusalNames = Object.keys(refusalCodes) as [RefusalCode, ...RefusalCode[]]

/** Returns the refusal that a close code stands for; undefined for a close code of another origin. */
export function refusalOf(closeCode: number): RefusalCode | undefined {
  return refusalNames.find((name) => refusalCodes[name] === closeCode)
}
