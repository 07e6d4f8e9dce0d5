import { type Clock, realClock } from '../base/clock.js'
import { RankweaveError, reasonText } from '../errors.js'
import { afterLosses } from '../fabric/authority.js'
import { PiecewiseBulk } from '../fabric/bulk-transfers.js'
import {
  type Authority,
  alreadyAttached,
  checkFrame,
  closedToSends,
  type Fabric,
  type FabricCounters,
  type FabricSession,
  type FrameSink,
  type SendingAhead,
} from '../fabric/fabric.js'
import { KeepAlive, Task } from '../fabric/own-handles.js'
import { Queue } from '../fabric/queue.js'
import { BatchReader, batchPayloadBytes, pieceBytes, plainFrame } from './batch.js'
import type { Link } from './links.js'
import { Links, type LinksParts } from './links.js'
import type { PeerListener } from './peer-listener.js'
import type { Membership } from './rendezvous/join-world.js'
import type { SocketTransport } from './socket/socket.js'

/**
 * Opens the session of the process that has joined a world. Closing it ends the listener and all data connections; the
 * membership remains, for the caller to leave.
 *
 * @param listener where peers dial this process, at the address that it stated when it joined; none when it stated none
 */
export function openWebSocket(
  membership: Membership,
  transport: Pick<SocketTransport, 'dial'>,
  listener?: PeerListener,
  clock: Clock = realClock,
): WebSocketSession {
  return new WebSocketSession(membership, new WebSocketProcess({ membership, transport, listener, clock }))
}

export class WebSocketSession implements FabricSession {
  readonly kind = 'websocket'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly WebSocketProcess[]
  readonly authority: Authority
  readonly #process: WebSocketProcess

  /** Users do not call this: sessions come from `openWebSocket`. */
  constructor(membership: Membership, process: WebSocketProcess) {
    this.#process = process
    this.processes = membership.processes
    this.nodes = membership.nodes
    this.hosted = [process]
    this.authority = membership.authority
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Notes that a process is lost: a task of the fabric's own reports it to the sink. */
  lose(peer: number, reason: string): void {
    this.#process.lose(peer, reason)
  }

  close(): Promise<void> {
    return this.#process.close()
  }
}

/**
 * The interval at which channels that do not report are polled while a bulk transfer waits for them, in milliseconds.
 */
const watchMs = 2

/**
 * A process of a world over WebSockets. It hands over what it has sent once per turn of the event loop, or when no rank
 * can continue without a frame. Frames that arrive are delivered in the event of their message. Memory: per peer what
 * its link holds. The credits of `messages/` keep that far below the limit; a link that exceeds it breaks.
 */
export class WebSocketProcess implements Fabric {
  readonly kind = 'websocket'
  readonly isTrusted = false
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes = batchPayloadBytes
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk: PiecewiseBulk
  readonly ahead: SendingAhead
  readonly authority: Authority
  readonly #links: Links
  readonly #clock: Clock
  readonly #reader = new BatchReader()
  readonly #own = new OwnFrames()
  /** The relayed messages that arrived before there was a sink. */
  #early: { readonly from: number; readonly message: Uint8Array }[] = []
  readonly #losses = new Losses()
  readonly #keepAlive = new KeepAlive()
  readonly #task = new Task(() => this.#turn())
  #stopWatch: (() => void) | undefined
  #sink: FrameSink | undefined
  #delivering = false
  #closed = false

  /** @internal */
  constructor(parts: LinksParts) {
    const { membership } = parts
    this.#clock = parts.clock
    this.process = membership.process
    this.processes = membership.processes
    this.nodes = membership.nodes
    this.authority = afterLosses(membership.authority, () => this.#losses.waiting === 0)
    this.bulk = new PiecewiseBulk(
      {
        process: this.process,
        pieceBytes,
        post: (peer, kind, header) => this.#post(peer, kind, header, undefined),
        write: (peer, kind, header, payload, from, to) => this.#write(peer, kind, header, payload, from, to),
        schedule: () => this.#task.schedule(),
        lost: (peer) => (this.#closed ? closedToSends() : this.#losses.of(peer)),
        settled: () => {},
      },
      this.processes,
    )
    this.#links = new Links(parts, {
      isClosed: () => this.#closed,
      isLost: (peer) => this.#losses.of(peer) !== undefined,
      schedule: () => this.#task.schedule(),
      taken: (peer) => {
        if (!this.#closed && this.bulk.isMovingTo(peer)) this.#task.schedule()
      },
      message: (link, bytes) => this.#receive(link, bytes),
      frame: (peer, reader) => this.#deliver(peer, reader),
      failed: (peer, error) => this.#loseWorld(ownFailure(this.process, peer, error)),
    })
    this.ahead = {
      windowBytes: this.#links.windowBytes,
      queueBytes: membership.limits.maxQueuedBytes,
      spaceFor: (peer) => this.#links.spaceFor(peer),
    }
    membership.attach({
      lost: (peer, reason) => this.lose(peer, reason),
      worldLost: (error) => this.#loseWorld(error),
      relayed: (from, message) => this.#relayed(from, message),
      probed: (from) => this.#links.probed(from),
      present: (peer) => this.#links.present(peer),
    })
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) throw alreadyAttached(this.process)
    this.#sink = sink
    this.#links.begin()
    this.#task.schedule()
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    if (this.#closed) throw closedToSends()
    const payloadBytes = payload === undefined ? 0 : payload.length
    checkFrame(peer, this.processes, header.length, payloadBytes, batchPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.length * 4 + payloadBytes
    this.#post(peer, plainFrame, header, payload)
  }

  /** Delivers the frames that this process has sent to itself; events deliver those of others. */
  poll(): boolean {
    if (this.#delivering || this.#closed) return false
    this.#links.flush()
    return this.#deliverOwn()
  }

  /**
   * Flushes, because no rank can continue without a frame: frames that peers wait for must not wait for the next turn.
   */
  spin(): boolean {
    if (this.#delivering || this.#closed) return false
    this.#links.flush()
    // An empty turn would keep the event loop from waiting for the network.
    const waiting = this.#own.size + this.#losses.waiting + this.#early.length
    if (waiting === 0 && !this.bulk.moving) this.#task.cancel()
    return false
  }

  blame(peer: number, reason: string): void {
    if (!this.#closed && peer !== this.process) this.#links.of(peer).break(reason, 'malformed')
  }

  ref(): void {
    this.#keepAlive.ref()
  }

  unref(): void {
    this.#keepAlive.unref()
  }

  /** @internal Returns whether nothing is in flight here, as far as this process can see. */
  quiet(): boolean {
    const waiting = this.#own.size + this.#links.waiting + this.#losses.waiting + this.#early.length
    return waiting === 0 && this.bulk.idle
  }

  /**
   * @internal Notes that a process is lost, as the rendezvous reports; announced in a separate task, after what has
   *   arrived by then.
   */
  lose(peer: number, reason: string): void {
    if (this.#closed) {
      // The link accepts no further frames.
      this.#links.end(peer)
      return
    }
    this.#losses.add(peer, reason)
    this.#task.schedule()
  }

  /** @internal Resolves when what was sent has been handed to the peers. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#task.cancel()
    this.#stopWatch?.()
    this.bulk.fail(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    this.#losses.clear()
    this.#early = []
    this.#own.clear()
    // Nothing else keeps the event loop alive until the last bytes have gone.
    this.#keepAlive.ref()
    await this.#links.close()
    this.#keepAlive.close()
  }

  #post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (peer !== this.process) {
      this.#links.of(peer).post(kind, header, payload, payload === undefined ? 0 : payload.length)
      return
    }
    this.#own.push(kind, header, payload)
    this.#task.schedule()
  }

  #write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array,
    from: number,
    to: number,
  ): boolean {
    if (peer !== this.process) return this.#links.of(peer).postPiece(kind, header, payload, from, to)
    this.#task.schedule()
    return this.#own.pushPiece(kind, header, payload, from, to)
  }

  #relayed(from: number, message: Uint8Array): void {
    if (this.#closed) return
    if (this.#sink === undefined) this.#early.push({ from, message })
    else this.#receive(this.#links.of(from), message)
  }

  #receive(link: Link, message: Uint8Array): void {
    if (this.#closed) return
    this.#delivering = true
    try {
      link.receive(message, this.#reader)
    } finally {
      this.#delivering = false
    }
  }

  /** Delivers the frame that the reader has reached. */
  #deliver(src: number, { kind, header, payload }: Pick<BatchReader, 'kind' | 'header' | 'payload'>): void {
    if (this.#closed) return
    if (kind !== plainFrame) {
      if (!this.bulk.record(src, kind, header, payload) && src !== this.process) {
        this.#links.of(src).break('a piece of a bulk transfer exceeds its buffer', 'malformed')
      }
      return
    }
    this.counters.framesReceived++
    this.counters.bytesReceived += header.length * 4 + payload.length
    this.#sink!.frame(src, header, payload)
  }

  #deliverOwn(): boolean {
    if (this.#sink === undefined) return false
    this.#delivering = true
    try {
      return this.#own.deliver((frame) => this.#deliver(this.process, frame))
    } finally {
      this.#delivering = false
    }
  }

  #turn(): void {
    if (this.#closed || this.#sink === undefined) return
    try {
      this.#deliverEarly()
      this.#deliverOwn()
      this.#links.flush()
      if (this.bulk.moving) this.#pump()
      this.#reportLosses()
    } finally {
      if (!this.#closed && this.#own.size > 0) this.#task.schedule()
    }
  }

  #deliverEarly(): void {
    const early = this.#early
    this.#early = []
    for (const { from, message } of early) this.#receive(this.#links.of(from), message)
  }

  #pump(): void {
    let needsWatch = false
    for (let peer = 0; peer < this.processes; peer++) {
      if (!this.bulk.isMovingTo(peer)) continue
      const link = peer === this.process ? undefined : this.#links.of(peer)
      link?.newTurn()
      this.bulk.pump(peer)
      if (link?.needsWatch === true && this.bulk.isMovingTo(peer)) needsWatch = true
    }
    if (!needsWatch || this.#stopWatch !== undefined) return
    this.#stopWatch = this.#clock.later(watchMs, () => {
      this.#stopWatch = undefined
      this.#task.schedule()
    })
  }

  #loseWorld(error: RankweaveError): void {
    if (this.#closed) {
      this.#links.endAll()
      return
    }
    this.#losses.addWorld(error)
    for (let peer = 0; peer < this.processes; peer++) {
      if (peer !== this.process) this.lose(peer, error.message)
    }
    this.#task.schedule()
  }

  #reportLosses(): void {
    if (this.#losses.waiting === 0) return
    this.#losses.report(
      (error) => this.#sink?.worldLost?.(error),
      (peer, reason, error) => {
        if (this.#closed) return
        const isOwn = peer === this.process
        if (isOwn) this.#links.endAll()
        else this.#links.end(peer)
        this.bulk.fail(error, isOwn ? undefined : peer)
        this.#sink?.peerLost(peer, reason)
      },
    )
  }
}

/** Returns the error with which the peers of this process lose it; the peer whose frame failed is not blamed. */
function ownFailure(process: number, peer: number, cause: unknown): RankweaveError {
  const text = `process ${process} has failed while it handled a frame of process ${peer}: ${reasonText(cause)}`
  return new RankweaveError('ERR_FABRIC', text, { cause, details: { process } })
}

/** The lost processes, and the losses that the sink has not been told yet. */
class Losses {
  readonly #errors: (RankweaveError | undefined)[] = []
  #unreported: { readonly peer: number; readonly reason: string }[] = []
  #world: RankweaveError | undefined

  /** The number of losses that the sink has not been told. */
  get waiting(): number {
    return this.#unreported.length + (this.#world === undefined ? 0 : 1)
  }

  /** Returns the error of calls that need `peer`, once its loss has been reported. */
  of(peer: number): RankweaveError | undefined {
    return this.#errors[peer]
  }

  add(peer: number, reason: string): void {
    if (this.#errors[peer] === undefined) this.#unreported.push({ peer, reason })
  }

  addWorld(error: RankweaveError): void {
    this.#world = error
  }

  /** Hands over the losses that have not been reported: each once, that of the world first. */
  report(
    world: (error: RankweaveError) => void,
    process: (peer: number, reason: string, error: RankweaveError) => void,
  ): void {
    const lostWorld = this.#world
    this.#world = undefined
    if (lostWorld !== undefined) world(lostWorld)
    const unreported = this.#unreported
    this.#unreported = []
    for (const { peer, reason } of unreported) {
      if (this.#errors[peer] !== undefined) continue
      const error = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#errors[peer] = error
      process(peer, reason, error)
    }
  }

  /** Drops the waiting losses; no further report follows. */
  clear(): void {
    this.#unreported = []
    this.#world = undefined
  }
}

/** A frame to oneself: the fabric's own copy. */
interface OwnFrame {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** The number of pieces of bulk transfers that may wait at a time. */
const mostPieces = 4
const nothing = new Uint8Array(0)

/** The frames that a process sends to itself, until its next turn. */
class OwnFrames {
  readonly #frames = new Queue<OwnFrame>()
  #pieces = 0

  get size(): number {
    return this.#frames.size
  }

  push(kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    const own = payload === undefined ? nothing : new Uint8Array(payload)
    this.#frames.push({ kind, header: header.slice(), payload: own })
  }

  /** Queues a piece; false while too many pieces wait. */
  pushPiece(kind: number, header: Int32Array, payload: Uint8Array, from: number, to: number): boolean {
    if (this.#pieces >= mostPieces) return false
    this.#pieces++
    // An empty buffer may be detached, unnoticed.
    this.push(kind, header, from === to ? undefined : payload.subarray(from, to))
    return true
  }

  /** Delivers frames that were sent before, not those sent in answer; true if there was one. */
  deliver(take: (frame: OwnFrame) => void): boolean {
    let left = this.#frames.size
    if (left === 0) return false
    this.#pieces = 0
    // Handling a frame may clear the rest.
    for (; left > 0 && this.#frames.size > 0; left--) take(this.#frames.take()!)
    return true
  }

  clear(): void {
    this.#frames.clear()
  }
}
