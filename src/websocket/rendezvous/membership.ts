import type { RankweaveError } from '../../errors.js'
import type { Authority } from '../../fabric/fabric.js'
import type { WorldLimits } from '../protocol/limits.js'
import type { BreakCause } from '../protocol/messages.js'

/** The state of a process's world, kept current by the rendezvous. */
export interface Membership {
  /** The name of the world among those of its rendezvous; not secret. */
  readonly world: string
  /** The number of this process, 0-based. */
  readonly process: number
  readonly processes: number
  /** The node label of every process. */
  readonly nodes: readonly string[]
  /** The URL to dial each process; null if it is reached only through the rendezvous (`relay`). */
  readonly addresses: readonly (string | null)[]
  /**
   * The keys shared with each other process, 32 random bytes each, which only the two know: they key the proofs on data
   * connections (HMAC-SHA-256). null: there is no data connection with it.
   */
  readonly peerKeys: readonly (Uint8Array | null)[]
  readonly limits: WorldLimits
  /** The text that the creator of the world passes to all its processes; '' if there is none. */
  readonly settings: string
  /** Names the receiver of events. Called once; earlier events arrive first, in a separate task. */
  attach(events: MembershipEvents): void
  /**
   * Reports that the data socket to `peer` broke while no report said that `peer` was lost. The rendezvous collects
   * such reports for `limits.verdictMs` and then decides which process is lost; until then nothing is known.
   *
   * @param cause the fault, as far as this process knows
   */
  reportBroken(peer: number, reason: string, cause: BreakCause): void
  /** Asks `peer`, through the rendezvous, whether it is present: the answer is the event `present`, or its loss. */
  probe(peer: number): void
  /**
   * Sends a message through the rendezvous; it may be reused at once. Drops it if the receiver is lost or has left.
   *
   * @throws ERR_MESSAGE_TOO_LARGE for more than `limits.maxMessageBytes`
   */
  relay(to: number, message: Uint8Array): void
  /**
   * The relayed bytes that the rendezvous has not yet handed on, for pacing. A process that lets them grow beyond
   * `limits.maxRelayedBytes` is disconnected. Falls to 0 when nothing is in flight.
   */
  readonly relayBufferedBytes: number
  readonly authority: Authority
  /**
   * Announces that this process is done, so that it is not lost when its sockets close. Ends all events.
   *
   * @param failure why its ranks have failed, for the host of the world; truncated to 500 characters
   */
  leave(failure?: string): Promise<void>
}

export interface MembershipEvents {
  /** Reports a loss, to every member in the same order. */
  lost(process: number, reason: string): void
  /** Reports that the rendezvous is lost or has expelled this process: for it the world has failed. The last event. */
  worldLost(error: RankweaveError): void
  /** Reports that another member asks whether this process is present. When this returns, that member learns it. */
  probed?(from: number): void
  /** Reports that `peer` has answered `probe`: its event loop turns. */
  present?(peer: number): void
  /** Takes a relayed message, which the receiver may keep. */
  relayed(from: number, message: Uint8Array): void
}
