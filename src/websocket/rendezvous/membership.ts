import type { RankweaveError } from '../../errors.js'
import type { Authority } from '../../fabric/fabric.js'
import type { WorldLimits } from '../protocol/limits.js'
import type { BreakCause } from '../protocol/messages.js'

/** What a process knows of its world, kept current by the rendezvous. */
export interface Membership {
  /** Names the world among those of its rendezvous; not secret. */
  readonly world: string
  /** This process, 0-based. */
  readonly process: number
  readonly processes: number
  /** Node label of every process. */
  readonly nodes: readonly string[]
  /** Where to dial each process; null: it is reached only through the rendezvous (`relay`). */
  readonly addresses: readonly (string | null)[]
  /**
   * 32 random bytes for each other process, which only that one shares: proofs on data connections are keyed
   * by them (HMAC-SHA-256). null: there is no data connection with it.
   */
  readonly peerKeys: readonly (Uint8Array | null)[]
  readonly limits: WorldLimits
  /** What the creator of the world lets all its processes know; '' if nothing. */
  readonly settings: string
  /** Names the receiver of events. Called once; what happened before arrives first, in its own task. */
  attach(events: MembershipEvents): void
  /**
   * The data socket to `peer` broke while no report said that `peer` was lost. The rendezvous collects such
   * reports for `limits.verdictMs` and then decides who is lost; until then nothing is known.
   *
   * @param cause whose fault it is, as far as this process knows
   */
  reportBroken(peer: number, reason: string, cause: BreakCause): void
  /**
   * Asks `peer`, through the rendezvous, whether it is there: the answer is the event `present`, or it is
   * lost.
   */
  probe(peer: number): void
  /**
   * Sends a message through the rendezvous; it may be reused at once. To a process that is lost or has left:
   * dropped.
   *
   * @throws ERR_MESSAGE_TOO_LARGE for more than `limits.maxMessageBytes`
   */
  relay(to: number, message: Uint8Array): void
  /**
   * Relayed bytes that the rendezvous has not yet handed on, for pacing. A process that lets them grow beyond
   * `limits.maxRelayedBytes` is disconnected. Falls to 0 when nothing is in flight.
   */
  readonly relayBufferedBytes: number
  readonly authority: Authority
  /**
   * Says that this process is done, so that it is not lost when its sockets close. Ends all events.
   *
   * @param failure why its ranks have failed, for the host of the world; cut to 500 characters
   */
  leave(failure?: string): Promise<void>
}

export interface MembershipEvents {
  /** Told to every member in the same order. */
  lost(process: number, reason: string): void
  /** The rendezvous is lost or has expelled this process: for it the world has failed. The last event. */
  worldLost(error: RankweaveError): void
  /** Another member asks whether this process is there. When this returns, that member learns it. */
  probed?(from: number): void
  /** `peer` has answered `probe`: its event loop turns. */
  present?(peer: number): void
  /** The message belongs to the receiver. */
  relayed(from: number, message: Uint8Array): void
}
