import * as z from 'zod'
import { RankweaveError, shortened } from '../errors.js'

/** The version of the messages between processes. */
export const dataVersion = 2

const process = z
  .int()
  .min(0)
  .max(2 ** 24)
const nonce = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('32 random bytes in hexadecimal digits, new for every connection')
const proof = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe(
    'HMAC-SHA-256 of role, world, both processes and both nonces, keyed by what the two processes share',
  )

/**
 * The text messages of two processes. Up to `ready` they are exchanged before the first batch, in this order; the
 * process that dials begins. Each side proves that it knows the key of the pair, for nonces of both. So neither an
 * observed nor a mirrored message helps an attacker, nor the key of another pair.
 *
 * Either side sends `end`: an intermediary could have produced a close code alone.
 */
export const introductionMessages = {
  hello: z
    .strictObject({
      kind: z.literal('hello'),
      version: z.int().min(1).describe('version of this exchange and of batches'),
      world: z.string().min(1).max(64),
      from: process.describe('the process that dials'),
      to: process.describe('the process that it dials'),
      nonce,
    })
    .describe('First message of a data connection.'),
  answer: z.strictObject({ kind: z.literal('answer'), nonce, proof }).describe('Of the process dialed.'),
  proof: z.strictObject({ kind: z.literal('proof'), proof }).describe('Of the process that dials.'),
  ready: z
    .strictObject({ kind: z.literal('ready') })
    .describe('Of the process dialed: both may send batches from here on.'),
  end: z
    .strictObject({ kind: z.literal('end') })
    .describe('Of either process, after its last batch, before it closes the socket: its session has ended.'),
} as const

type Messages = typeof introductionMessages
export type IntroductionKind = keyof Messages
export type IntroductionMessage<K extends IntroductionKind> = z.infer<Messages[K]>
export type Hello = IntroductionMessage<'hello'>

/** The most UTF-16 units of a text message. */
const longestText = 1024

/** The close codes with which a process closes a data connection that is not in use. */
export const closeCode = {
  /** The session has ended, after `end`: frames that it sent have arrived. */
  ended: 1000,
  /** The connection in the other direction stays. */
  superseded: 4100,
  /** A connection exists already, or existed. */
  occupied: 4101,
  malformed: 4102,
  proof: 4103,
  /** The peer took too long to introduce itself, or too many others do at the moment: it may dial again. */
  late: 4104,
} as const

export function encodeIntroduction<K extends IntroductionKind>(message: IntroductionMessage<K>): string {
  return JSON.stringify(message)
}

/** @throws ERR_PROTOCOL when `data` is not a message of that kind */
export function decodeIntroduction<K extends IntroductionKind>(
  data: unknown,
  kind: K,
): IntroductionMessage<K> {
  if (typeof data !== 'string' || data.length > longestText) {
    throw malformed(kind, typeof data === 'string' ? `${data.length} characters` : 'bytes')
  }
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw malformed(kind, shortened(data))
  }
  const result = introductionMessages[kind].safeParse(value)
  if (!result.success) throw malformed(kind, shortened(data))
  return result.data as IntroductionMessage<K>
}

function malformed(kind: string, got: string): RankweaveError {
  return new RankweaveError('ERR_PROTOCOL', `expected '${kind}' of a data connection, got ${got}`)
}
