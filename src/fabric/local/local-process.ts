import type { Authority, BulkTransfer, Fabric, FabricCounters, FrameSink } from '../fabric.js'
import { alreadyAttached, checkFrame } from '../frame-limits.js'

/** The services that a logical process needs from its session. */
interface Network {
  enqueue(src: number, dst: number, header: Int32Array, payload: Uint8Array | undefined): void
  /** Delivers every frame that is due to one process; true if there was one. */
  drain(process: number): boolean
  bulkOf(process: number): BulkTransfer
  authorityOf(process: number): Authority
  ref(): void
  unref(): void
}

export interface ProcessOptions {
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes: number
  readonly bulk: boolean
  readonly scribble: boolean
}

/** The end of the fabric at one logical process. */
export class LocalProcess implements Fabric {
  readonly kind = 'local'
  readonly isTrusted = true
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes: number
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk?: BulkTransfer
  readonly authority: Authority
  readonly #network: Network
  readonly #scribble: boolean
  #sink: FrameSink | undefined
  #delivering = false

  constructor(network: Network, process: number, options: ProcessOptions) {
    this.#network = network
    this.process = process
    this.processes = options.processes
    this.nodes = options.nodes
    this.maxPayloadBytes = options.maxPayloadBytes
    this.#scribble = options.scribble
    this.authority = network.authorityOf(process)
    if (options.bulk) this.bulk = network.bulkOf(process)
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) throw alreadyAttached(this.process)
    this.#sink = sink
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    const payloadBytes = payload === undefined ? 0 : payload.byteLength
    checkFrame(peer, this.processes, header.length, payloadBytes, this.maxPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.byteLength + payloadBytes
    this.#network.enqueue(this.process, peer, header, payload)
  }

  /**
   * Delivers the frames that are due. Frames that arrive while one is being delivered wait: a sink is never re-entered.
   */
  poll(): boolean {
    return !this.#delivering && this.#network.drain(this.process)
  }

  ref(): void {
    this.#network.ref()
  }

  unref(): void {
    this.#network.unref()
  }

  deliver(src: number, header: Int32Array, payload: Uint8Array): void {
    this.counters.framesReceived++
    this.counters.bytesReceived += header.byteLength + payload.byteLength
    this.#delivering = true
    try {
      const sink = this.#sink
      if (sink?.inPlace?.(src, header, 0, payload, 0, payload.length) !== true)
        sink?.frame(src, header, payload)
    } finally {
      this.#delivering = false
    }
    if (!this.#scribble) return
    header.fill(0x5d5d5d5d)
    payload.fill(0x5d)
  }

  lose(peer: number, reason: string): void {
    this.#sink?.peerLost(peer, reason)
  }
}
