import type { Clock } from '../base/clock.js'

/** A connection as its watch sees it. */
export interface WatchedConnection {
  /**
   * The number of bytes that have arrived, of any kind and also in parts of messages; undefined if the platform does
   * not report it.
   */
  readonly receivedBytes: number | undefined
  /** The number of bytes of messages that the network has taken. */
  readonly takenBytes: number
  /** The number of bytes that the network has not taken. */
  readonly bufferedBytes: number
  /** Sends a ping, which the peer's side answers by itself, if that is possible. */
  ping(): void
}

interface LinkWatchHost {
  /** Asks through the rendezvous whether `peer` is present; it answers `present` after it has sent a separate ping. */
  probe(peer: number): void
  silent(peer: number): void
}

interface Watched {
  readonly connection: WatchedConnection
  received: number | undefined
  taken: number
  buffered: number
  /** The number of ticks without a sign of life. */
  ticks: number
  /** The number of ticks since the peer answered during the silence. */
  ticksSincePresent: number | undefined
}

/**
 * The ticks within which a ping that the peer sent before its answer arrives: one heartbeat at least, and part of
 * another.
 */
const ticksToArrive = 2

/**
 * Detects connections that carry nothing though neither side closes them: a firewall has forgotten them, or the host of
 * the peer has another address. The operating system notices bytes in flight after a quarter of an hour. A process that
 * computes reads nothing and is not to blame. So a silent connection is reported only if its peer has answered through
 * the rendezvous, and still nothing has arrived.
 *
 * Two things are signs of life: bytes that arrive, to which both sides contribute a ping every `heartbeatMs`, and
 * progress of the network on bytes that had to wait. In a browser, which does not report pings, a connection is suspect
 * only while bytes wait that the network does not take. Like the rendezvous it counts its own ticks, so a process that
 * was stopped blames no peer for that. Memory: one record per connection.
 */
export class LinkWatch {
  readonly #clock: Clock
  readonly #heartbeatMs: number
  readonly #mostTicks: number
  readonly #host: LinkWatchHost
  readonly #watched = new Map<number, Watched>()
  #cancel: (() => void) | undefined

  constructor(
    { heartbeatMs, silenceMs }: { readonly heartbeatMs: number; readonly silenceMs: number },
    clock: Clock,
    host: LinkWatchHost,
  ) {
    this.#clock = clock
    this.#heartbeatMs = heartbeatMs
    this.#mostTicks = Math.ceil(silenceMs / heartbeatMs) + 1
    this.#host = host
  }

  add(peer: number, connection: WatchedConnection): void {
    const { receivedBytes: received, takenBytes: taken, bufferedBytes: buffered } = connection
    const counts = { ticks: 0, ticksSincePresent: undefined }
    this.#watched.set(peer, { connection, received, taken, buffered, ...counts })
    this.#cancel ??= this.#clock.later(this.#heartbeatMs, this.#pass)
  }

  /** Ends the watch of a connection. No timer runs while no connection is watched. */
  forget(peer: number): void {
    this.#watched.delete(peer)
    if (this.#watched.size === 0) this.stop()
  }

  stop(): void {
    this.#watched.clear()
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Answers `peer`, which asks whether this process is present. */
  probed(peer: number): void {
    this.#watched.get(peer)?.connection.ping()
  }

  /** Notes that `peer` is present, and has sent a ping. */
  present(peer: number): void {
    const watched = this.#watched.get(peer)
    if (watched !== undefined && watched.ticks >= this.#mostTicks) watched.ticksSincePresent ??= 0
  }

  readonly #pass = () => {
    this.#cancel = this.#clock.later(this.#heartbeatMs, this.#pass)
    for (const [peer, watched] of [...this.#watched]) {
      if (isAlive(watched)) {
        watched.ticks = 0
        watched.ticksSincePresent = undefined
      } else {
        watched.ticks++
        if (watched.ticksSincePresent !== undefined) watched.ticksSincePresent++
      }
      watched.connection.ping()
      if (watched.ticks === this.#mostTicks) this.#host.probe(peer)
      if ((watched.ticksSincePresent ?? 0) < ticksToArrive) continue
      this.forget(peer)
      this.#host.silent(peer)
    }
  }
}

/** Returns whether there was a sign of life since the last call. */
function isAlive(watched: Watched): boolean {
  const { connection, received, taken, buffered } = watched
  watched.received = connection.receivedBytes
  watched.taken = connection.takenBytes
  watched.buffered = connection.bufferedBytes
  if (watched.received !== received) return true
  // Bytes that the network takes while nothing waits only fill the buffer of this host.
  if (buffered > 0 && watched.taken > taken) return true
  return watched.received === undefined && watched.buffered === 0
}
