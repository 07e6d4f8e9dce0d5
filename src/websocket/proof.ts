import { fromHex, randomBytes, toHex } from './protocol/secrets.js'

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

export type MeetingRole = 'dialed' | 'accepted'

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
