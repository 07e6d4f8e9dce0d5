import * as z from 'zod'
import { RankweaveError, shortened } from '../errors.js'
import { fromHex, randomBytes, toHex } from './protocol/secrets.js'

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
type IntroductionKind = keyof Messages
type IntroductionMessage<K extends IntroductionKind> = z.infer<Messages[K]>
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

const { crypto } = globalThis

/** The facts that two processes prove to each other that they know. */
export interface Meeting {
  readonly world: string
  /** The process that dialed, and its nonce. */
  readonly from: number
  readonly nonceFrom: string
  /** The process dialed, and its nonce. */
  readonly to: number
  readonly nonceTo: string
}

type MeetingRole = 'dialed' | 'accepted'

/**
 * Makes and checks proofs of a process's identity: HMAC-SHA-256 (RFC 2104), by Web Crypto, keyed by a secret that only
 * the two processes and the rendezvous know.
 */
export class ProofKey {
  readonly #key: Promise<CryptoKey>

  constructor(peerKey: Uint8Array) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    this.#key = crypto.subtle.importKey('raw', peerKey.slice(), algorithm, false, ['sign', 'verify'])
  }

  async make(role: MeetingRole, meeting: Meeting): Promise<string> {
    const signature = await crypto.subtle.sign('HMAC', await this.#key, textOf(role, meeting))
    return toHex(new Uint8Array(signature))
  }

  /** Checks a proof in the same time wherever a wrong one differs. */
  async check(role: MeetingRole, meeting: Meeting, proof: string): Promise<boolean> {
    return crypto.subtle.verify('HMAC', await this.#key, fromHex(proof), textOf(role, meeting))
  }
}

/** Draws 32 random bytes as hexadecimal digits. */
export function newNonce(): string {
  return toHex(randomBytes(32))
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

function textOf(
  role: MeetingRole,
  { world, from, to, nonceFrom, nonceTo }: Meeting,
): Uint8Array<ArrayBuffer> {
  // No field contains a line break.
  return new TextEncoder().encode(
    ['rankweave data', role, world, from, to, nonceFrom, nonceTo].join('\n'),
  ) as Uint8Array<ArrayBuffer>
}
