import type { Clock } from '../../base/clock.js'
import { RankweaveError } from '../../errors.js'
import type { Membership } from '../../rendezvous/membership.js'
import type { Socket, SocketTransport } from '../../rendezvous/socket.js'
import type { Authority } from '../authority.js'
import type { Fabric, FabricCounters, FrameSink } from '../fabric.js'
import { alreadyAttached, checkFrame, closedToSends } from '../frame-limits.js'
import { KeepAlive, Task } from '../own-handles.js'
import { PiecewiseBulk } from '../piecewise-bulk.js'
import { Queue } from '../queue.js'
import { BatchReader, maxPayloadBytes, pieceBytes, plainFrame } from './batch.js'
import { RelayChannel, SocketChannel } from './channel.js'
import { Connector } from './connector.js'
import { Link } from './link.js'
import type { PeerListener } from './peer-listener.js'

export interface WebSocketParts {
  readonly membership: Membership
  readonly transport: Pick<SocketTransport, 'dial'>
  /** Absent where a process cannot listen. */
  readonly listener: PeerListener | undefined
  readonly clock: Clock
}

/** A frame to oneself: the fabric's own copy. */
interface OwnFrame {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** Pieces of a bulk transfer to oneself that wait at a time. */
const ownPieces = 4
/** How often channels that do not report are looked at while a bulk transfer waits for them, in milliseconds. */
const watchMs = 2

/**
 * One process of a world over WebSockets. It hands over what it has sent once per turn of the event loop, or when no rank can
 * continue without a frame; frames that arrive are delivered in the event of their message.
 *
 * Memory: per peer what its link holds. The credits of `comm/` keep that far below the limit; a link that exceeds it breaks.
 */
export class WebSocketProcess implements Fabric {
  readonly kind = 'websocket'
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes = maxPayloadBytes
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk: PiecewiseBulk
  readonly authority: Authority
  readonly #parts: WebSocketParts
  readonly #membership: Membership
  readonly #connector: Connector
  readonly #links: (Link | undefined)[] = []
  readonly #reader = new BatchReader()
  /** Links with a batch that has not been handed over. */
  #pending: Link[] = []
  readonly #toSelf = new Queue<OwnFrame>()
  #ownPieces = 0
  /** Relayed messages that came before there was a sink. */
  #early: { readonly from: number; readonly message: Uint8Array }[] = []
  readonly #lost: (RankweaveError | undefined)[] = []
  #unreported: { readonly peer: number; readonly reason: string }[] = []
  #worldLost: RankweaveError | undefined
  readonly #keepAlive = new KeepAlive()
  readonly #task = new Task(() => this.#turn())
  #stopWatch: (() => void) | undefined
  #sink: FrameSink | undefined
  #delivering = false
  #closed = false

  /** @internal */
  constructor(parts: WebSocketParts) {
    const { membership } = parts
    this.#parts = parts
    this.#membership = membership
    this.process = membership.process
    this.processes = membership.processes
    this.nodes = membership.nodes
    this.authority = membership.authority
    this.bulk = new PiecewiseBulk(
      {
        process: this.process,
        pieceBytes,
        post: (peer, kind, header) => this.#post(peer, kind, header, undefined),
        write: (peer, kind, header, payload, from, to) => this.#write(peer, kind, header, payload, from, to),
        schedule: () => this.#task.schedule(),
        lost: (peer) => (this.#closed ? closedToSends() : this.#lost[peer]),
        settled: () => {},
      },
      this.processes,
    )
    this.#connector = new Connector({
      ...parts,
      wants: (peer) => !this.#closed && ['idle', 'waiting'].includes(this.#link(peer).state),
      connected: (peer, socket) => this.#connected(peer, socket),
      failed: (peer, reason) => this.#link(peer).break(reason),
    })
    membership.attach({
      lost: (peer, reason) => this.lose(peer, reason),
      worldLost: (error) => this.#loseWorld(error),
      relayed: (from, message) => this.#relayed(from, message),
    })
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) throw alreadyAttached(this.process)
    this.#sink = sink
    // Before this, frames could have arrived that nobody takes.
    this.#connector.listen()
    this.#task.schedule()
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    if (this.#closed) throw closedToSends()
    const payloadBytes = payload === undefined ? 0 : payload.length
    checkFrame(peer, this.processes, header.length, payloadBytes, maxPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.length * 4 + payloadBytes
    this.#post(peer, plainFrame, header, payload)
  }

  /** Delivers what this process has sent to itself: what comes from others is delivered by events. */
  poll(): boolean {
    if (this.#delivering || this.#closed) return false
    this.#flush()
    return this.#deliverOwn()
  }

  /** No rank can continue without a frame: what peers wait for must not wait for the next turn. */
  spin(): boolean {
    if (this.#delivering || this.#closed) return false
    this.#flush()
    // An empty turn would keep the event loop from waiting for the network.
    const waiting = this.#toSelf.size + this.#unreported.length + this.#early.length
    if (waiting === 0 && !this.bulk.moving && this.#worldLost === undefined) this.#task.cancel()
    return false
  }

  ref(): void {
    this.#keepAlive.ref()
  }

  unref(): void {
    this.#keepAlive.unref()
  }

  /** @internal Nothing is in flight here, as far as this process can see. */
  quiet(): boolean {
    const waiting = this.#toSelf.size + this.#pending.length + this.#unreported.length + this.#early.length
    return waiting === 0 && this.bulk.idle && this.#links.every((link) => link?.hasPending !== true)
  }

  /** @internal A process is lost, as the rendezvous says; reported in a task of its own, after what has arrived by then. */
  lose(peer: number, reason: string): void {
    if (this.#closed) {
      // It takes nothing more.
      this.#connector.abandon(peer)
      this.#links[peer]?.end()
      return
    }
    if (this.#lost[peer] !== undefined) return
    this.#unreported.push({ peer, reason })
    this.#task.schedule()
  }

  /** @internal Resolves when what was sent has been handed to the peers. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#task.cancel()
    this.#stopWatch?.()
    this.bulk.fail(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    this.#unreported = []
    this.#early = []
    this.#toSelf.clear()
    // Nobody else keeps the event loop alive until the last bytes have gone.
    this.#keepAlive.ref()
    await Promise.all([this.#parts.listener?.close(), ...this.#links.map((link) => link?.close())])
    this.#connector.close()
    this.#keepAlive.close()
  }

  // -- sending -------------------------------------------------------------------------------------------------

  #post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (peer !== this.process) {
      this.#link(peer).post(kind, header, payload, payload === undefined ? 0 : payload.length)
      return
    }
    const own = payload === undefined ? nothing : new Uint8Array(payload)
    this.#toSelf.push({ kind, header: header.slice(), payload: own })
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
    if (peer !== this.process) return this.#link(peer).postPiece(kind, header, payload, from, to)
    if (this.#ownPieces >= ownPieces) return false
    this.#ownPieces++
    // An empty buffer may be detached, unnoticed.
    this.#post(peer, kind, header, from === to ? undefined : payload.subarray(from, to))
    return true
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    const pending = this.#pending
    this.#pending = []
    for (const link of pending) link.flush()
  }

  #link(peer: number): Link {
    const link = this.#links[peer]
    if (link !== undefined) return link
    const made = new Link(peer, {
      maxQueuedBytes: this.#membership.limits.maxQueuedBytes,
      connect: (to) => this.#connect(to),
      pending: (begun) => {
        this.#pending.push(begun)
        this.#task.schedule()
      },
      taken: (to) => {
        if (!this.#closed && this.bulk.isMovingTo(to)) this.#task.schedule()
      },
      frame: (from, reader) => this.#deliver(from, reader),
      broken: (to, reason) => {
        if (!this.#closed && this.#lost[to] === undefined) this.#membership.reportBroken(to, reason)
      },
    })
    this.#links[peer] = made
    if (this.#lost[peer] !== undefined) made.end()
    return made
  }

  #connect(peer: number): void {
    const { addresses } = this.#membership
    // Both sides must choose the same.
    if (addresses[peer] !== null && addresses[this.process] !== null) this.#connector.dial(peer)
    else this.#link(peer).open(new RelayChannel(this.#membership, peer))
  }

  // -- arriving ------------------------------------------------------------------------------------------------

  #connected(peer: number, socket: Socket): void {
    const link = this.#link(peer)
    link.open(
      new SocketChannel(socket, {
        message: (bytes) => this.#receive(link, bytes),
        ended: () => link.end(),
        broken: (reason) => link.break(reason),
      }),
    )
  }

  #relayed(from: number, message: Uint8Array): void {
    if (this.#closed) return
    if (this.#sink === undefined) this.#early.push({ from, message })
    else this.#receive(this.#link(from), message)
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

  /** The frame that the reader has come to. */
  #deliver(src: number, { kind, header, payload }: Pick<BatchReader, 'kind' | 'header' | 'payload'>): void {
    if (this.#closed) return
    if (kind !== plainFrame) {
      if (!this.bulk.record(src, kind, header, payload) && src !== this.process) {
        this.#link(src).break('a piece of a bulk transfer exceeds its buffer')
      }
      return
    }
    this.counters.framesReceived++
    this.counters.bytesReceived += header.length * 4 + payload.length
    this.#sink!.frame(src, header, payload)
  }

  /** Frames to itself that were sent before, not those sent in answer; true if there was one. */
  #deliverOwn(): boolean {
    if (this.#toSelf.size === 0 || this.#sink === undefined) return false
    this.#delivering = true
    try {
      for (let left = this.#toSelf.size; left > 0 && !this.#closed; left--) {
        const frame = this.#toSelf.take()!
        if (frame.kind !== plainFrame) this.#ownPieces = 0
        this.#deliver(this.process, frame)
      }
    } finally {
      this.#delivering = false
    }
    return true
  }

  // -- turns ---------------------------------------------------------------------------------------------------

  #turn(): void {
    if (this.#closed || this.#sink === undefined) return
    try {
      this.#deliverEarly()
      this.#deliverOwn()
      this.#flush()
      if (this.bulk.moving) this.#pump()
      this.#reportLosses()
    } finally {
      if (!this.#closed && this.#toSelf.size > 0) this.#task.schedule()
    }
  }

  #deliverEarly(): void {
    const early = this.#early
    this.#early = []
    for (const { from, message } of early) this.#receive(this.#link(from), message)
  }

  #pump(): void {
    let needsWatch = false
    for (let peer = 0; peer < this.processes; peer++) {
      if (!this.bulk.isMovingTo(peer)) continue
      const link = peer === this.process ? undefined : this.#link(peer)
      link?.newTurn()
      this.bulk.pump(peer)
      if (link?.needsWatch === true && this.bulk.isMovingTo(peer)) needsWatch = true
    }
    if (!needsWatch || this.#stopWatch !== undefined) return
    this.#stopWatch = this.#parts.clock.later(watchMs, () => {
      this.#stopWatch = undefined
      this.#task.schedule()
    })
  }

  // -- losses --------------------------------------------------------------------------------------------------

  #loseWorld(error: RankweaveError): void {
    if (this.#closed) {
      this.#disconnect()
      return
    }
    this.#worldLost = error
    for (let peer = 0; peer < this.processes; peer++) {
      if (peer !== this.process) this.lose(peer, error.message)
    }
    this.#task.schedule()
  }

  #reportLosses(): void {
    const worldLost = this.#worldLost
    this.#worldLost = undefined
    if (worldLost !== undefined) this.#sink?.worldLost?.(worldLost)
    if (this.#unreported.length === 0) return
    const unreported = this.#unreported
    this.#unreported = []
    for (const { peer, reason } of unreported) {
      if (this.#lost[peer] !== undefined || this.#closed) continue
      const error = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#lost[peer] = error
      if (peer === this.process) this.#disconnect()
      else this.#endLink(peer)
      this.bulk.fail(error, peer === this.process ? undefined : peer)
      this.#sink?.peerLost(peer, reason)
    }
  }

  /** This process is lost to all others. */
  #disconnect(): void {
    for (let peer = 0; peer < this.processes; peer++) {
      if (peer !== this.process) this.#endLink(peer)
    }
  }

  #endLink(peer: number): void {
    this.#connector.abandon(peer)
    this.#link(peer).end()
  }
}

const nothing = new Uint8Array(0)
