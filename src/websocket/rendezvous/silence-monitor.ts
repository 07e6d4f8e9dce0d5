import type { Clock } from '../../base/clock.js'

/**
 * Detects peers that have been silent for too long. It counts its own ticks instead of reading a clock: an observer
 * that was itself stopped, or busy, has not listened meanwhile and blames no peer for it. A peer is reported once,
 * after `silenceMs` without a message and at most one tick later.
 */
export class SilenceMonitor<Peer> {
  /** The tick during which each peer was heard last. */
  readonly #heardAt = new Map<Peer, number>()
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #mostTicks: number
  readonly #silent: (peer: Peer) => void
  #tick = 0
  #cancel: (() => void) | undefined

  /** @param silent is called for every peer that was silent; it may call `forget` for any */
  constructor(
    { heartbeatMs, silenceMs }: { readonly heartbeatMs: number; readonly silenceMs: number },
    clock: Clock,
    silent: (peer: Peer) => void,
  ) {
    this.#clock = clock
    this.#tickMs = heartbeatMs
    // A peer heard during a tick may have been heard at its end, so that tick does not count.
    this.#mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
    this.#silent = silent
  }

  /** Returns whether two messages of `peer` are overdue: it should send one every tick. */
  isOverdue(peer: Peer): boolean {
    return this.#tick - (this.#heardAt.get(peer) ?? this.#tick) > 2
  }

  /** Notes a message of `peer`. The first one begins its watch. */
  heard(peer: Peer): void {
    this.#heardAt.set(peer, this.#tick)
    this.#cancel ??= this.#clock.later(this.#tickMs, this.#pass)
  }

  /** Ends the watch of `peer`. No timer runs while no peer is watched. */
  forget(peer: Peer): void {
    this.#heardAt.delete(peer)
    if (this.#heardAt.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  readonly #pass = () => {
    this.#tick++
    this.#cancel = this.#clock.later(this.#tickMs, this.#pass)
    for (const [peer, heardAt] of [...this.#heardAt]) {
      if (this.#tick - heardAt < this.#mostTicks || !this.#heardAt.has(peer)) continue
      this.forget(peer)
      this.#silent(peer)
    }
  }
}
