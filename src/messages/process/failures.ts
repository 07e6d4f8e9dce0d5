import { RankweaveError } from '../../errors.js'
import type { Trouble } from './frame-port.js'
import { ranksText, type WorldLayout } from './world-layout.js'

/** The reasons why operations of one process cannot complete: processes that are lost, and the end of the world. */
export class Failures {
  readonly #layout: WorldLayout
  readonly #lost = new Map<number, string>()
  readonly #listeners: Trouble[] = []
  #ended: RankweaveError | undefined

  constructor(layout: WorldLayout) {
    this.#layout = layout
  }

  /** The reason the world ended, once it has. */
  get ended(): RankweaveError | undefined {
    return this.#ended
  }

  /** Adds a listener. Listeners are notified in the order in which they were added. */
  listen(listener: Trouble): void {
    this.#listeners.push(listener)
  }

  /** Records a lost process and notifies the listeners. Returns false if it was lost already. */
  lose(peer: number, reason: string): boolean {
    if (this.#lost.has(peer)) return false
    this.#lost.set(peer, reason)
    const error = this.lostPeer(peer)!
    for (const listener of this.#listeners) listener.peerLost(peer, error)
    return true
  }

  get lostPeers(): Iterable<number> {
    return this.#lost.keys()
  }

  /** Returns the error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined {
    const reason = this.#lost.get(peer)
    return reason === undefined
      ? undefined
      : new RankweaveError('ERR_PEER_LOST', `${ranksText(this.#layout, peer)} is lost: ${reason}`, {
          details: { process: peer },
        })
  }

  end(error: RankweaveError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    for (const listener of this.#listeners) listener.ended(error)
  }
}

/**
 * The lost processes of one communicator as one process knows them, and how many each rank here has acknowledged. They
 * are in the order in which the authority reported them. The order is the same everywhere, so two ranks that have
 * acknowledged as many have acknowledged the same.
 *
 * @see MPI Forum, User-Level Failure Mitigation (MPIX_Comm_ack_failed)
 */
export class KnownLosses {
  readonly #localRanks: number
  readonly #errorOf: (process: number) => RankweaveError
  readonly #processes: number[] = []
  /** The acknowledged losses by local index; made with the first loss. */
  #acknowledged: Int32Array | undefined

  /** @param errorOf makes the error of an operation that needs a lost process; none is held, for each has a stack */
  constructor(localRanks: number, errorOf: (process: number) => RankweaveError) {
    this.#localRanks = localRanks
    this.#errorOf = errorOf
  }

  /** The world processes, in the order in which they were lost. */
  get processes(): readonly number[] {
    return this.#processes
  }

  add(process: number): void {
    this.#acknowledged ??= new Int32Array(this.#localRanks)
    this.#processes.push(process)
  }

  get last(): RankweaveError | undefined {
    const process = this.#processes.at(-1)
    return process === undefined ? undefined : this.#errorOf(process)
  }

  acknowledged(localIndex: number): number {
    return this.#acknowledged?.[localIndex] ?? 0
  }

  /** Acknowledges, for a rank, all losses that are known here; returns how many they are. */
  acknowledge(localIndex: number): number {
    const count = this.#processes.length
    if (this.#acknowledged !== undefined) this.#acknowledged[localIndex] = count
    return count
  }

  /** Returns why a rank cannot receive from any source: losses that it has not acknowledged. */
  unacknowledged(localIndex: number): RankweaveError | undefined {
    const from = this.acknowledged(localIndex)
    const errors = this.#processes.slice(from).map(this.#errorOf)
    if (errors.length <= 1) return errors[0]
    const message = `${errors.length} processes are lost: ${errors.map((error) => error.message).join('; ')}`
    return new RankweaveError('ERR_PEER_LOST', message, { details: { ...errors[0].details } })
  }
}

/**
 * Records which ranks of this process have acknowledged which losses, on any communicator. That decides whether the
 * world can end well without the processes that were lost.
 */
export class Acknowledgements {
  /** The hosted indices, by lost process. */
  readonly #by = new Map<number, Set<number>>()
  readonly #ignored = new Set<number>()

  /**
   * Notes that a rank continues without `process`.
   *
   * @param index hosted index of the rank
   */
  acknowledge(process: number, index: number): void {
    const ranks = this.#by.get(process)
    if (ranks === undefined) this.#by.set(process, new Set([index]))
    else ranks.add(index)
  }

  /**
   * Notes that the main of a rank has returned.
   *
   * @param lost processes that are known as lost by now
   */
  returned(index: number, lost: Iterable<number>): void {
    for (const process of lost) if (this.#by.get(process)?.has(index) !== true) this.#ignored.add(process)
  }

  /** Tells whether a rank here has acknowledged the loss of `process`. */
  has(process: number): boolean {
    return this.#by.has(process)
  }

  /** Tells whether there are losses, and a rank here has acknowledged each of them. */
  cover(lost: Iterable<number>): boolean {
    const processes = [...lost]
    return processes.length > 0 && processes.every((process) => this.#by.has(process))
  }

  /** Tells whether a rank here has returned although it could know of the loss, without acknowledging it. */
  ignored(process: number): boolean {
    return this.#ignored.has(process)
  }
}

/**
 * Tells whether living processes continue without a lost one: a rank has acknowledged the loss, and none has ignored
 * it.
 */
export function isSurvived(process: number, living: readonly Acknowledgements[]): boolean {
  return living.some((each) => each.has(process)) && !living.some((each) => each.ignored(process))
}
