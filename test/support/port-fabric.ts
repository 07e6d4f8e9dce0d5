import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { RankweaveError } from 'rankweave/errors'
import {
  type Fabric,
  type FabricCounters,
  type FabricFactory,
  type FabricSession,
  type FrameSink,
  fabricLimits,
} from 'rankweave/fabric'

/**
 * Returns a fabric as a user of the package would write one: it imports what the package exports, and nothing in `src`
 * knows its name. Its processes are in one thread, with a message port from each to each, itself included.
 */
export function ports(processes: number, { isTrusted = true } = {}): FabricFactory {
  return {
    kind: 'ports',
    processes,
    places: 'one thread',
    open: async () => new PortSession(processes, isTrusted),
  }
}

type Frame = readonly [header: Int32Array<ArrayBuffer>, payload: Uint8Array<ArrayBuffer>]

class PortSession implements FabricSession {
  readonly kind = 'ports'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly PortProcess[]
  #closed = false

  constructor(processes: number, isTrusted: boolean) {
    this.processes = processes
    this.nodes = new Array<string>(processes).fill('here')
    this.hosted = this.nodes.map((_, process) => new PortProcess(process, this.nodes, isTrusted))
    for (const src of this.hosted) {
      for (const dst of this.hosted) {
        const { port1, port2 } = new MessageChannel()
        src.sending.push(port1)
        dst.receiving.push(port2)
      }
    }
  }

  quiet(): boolean {
    let inFlight = 0
    for (const { counters } of this.hosted) inFlight += counters.framesSent - counters.framesReceived
    return this.#closed || inFlight === 0
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const fabric of this.hosted) fabric.close()
  }
}

class PortProcess implements Fabric {
  readonly kind = 'ports'
  readonly isTrusted: boolean
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes = 65_536
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  /** The ports to every process and from every process. */
  readonly sending: MessagePort[] = []
  readonly receiving: MessagePort[] = []
  #sink: FrameSink | undefined
  #isDelivering = false
  #closed = false

  constructor(process: number, nodes: readonly string[], isTrusted: boolean) {
    this.process = process
    this.processes = nodes.length
    this.nodes = nodes
    this.isTrusted = isTrusted
  }

  attach(sink: FrameSink): void {
    this.#sink = sink
    // A port with a listener keeps the event loop alive until it is closed, so `ref` has nothing to do.
    for (const [src, port] of this.receiving.entries())
      port.on('message', (frame: Frame) => this.#deliver(src, frame))
  }

  send(peer: number, header: Int32Array, payload: Uint8Array = new Uint8Array(0)): void {
    const port = this.sending[peer]
    if (this.#closed || port === undefined) throw refused(`process ${peer} cannot be reached`)
    if (header.length > fabricLimits.maxHeaderWords || payload.length > this.maxPayloadBytes)
      throw refused(`a frame of ${header.length} words and ${payload.length} bytes is too long`)
    this.counters.framesSent++
    this.counters.bytesSent += header.byteLength + payload.byteLength
    const frame: Frame = [Int32Array.from(header), Uint8Array.from(payload)]
    port.postMessage(frame, [frame[0].buffer, frame[1].buffer])
  }

  poll(): boolean {
    if (this.#isDelivering || this.#closed || this.#sink === undefined) return false
    let delivered = false
    for (const [src, port] of this.receiving.entries()) {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        this.#deliver(src, next.message as Frame)
        delivered = true
      }
    }
    return delivered
  }

  ref(): void {}
  unref(): void {}

  close(): void {
    this.#closed = true
    for (const port of this.receiving) port.close()
  }

  #deliver(src: number, [header, payload]: Frame): void {
    if (this.#closed) return
    this.counters.framesReceived++
    this.counters.bytesReceived += header.byteLength + payload.byteLength
    this.#isDelivering = true
    try {
      this.#sink!.frame(src, header, payload)
    } finally {
      this.#isDelivering = false
    }
  }
}

const refused = (reason: string) => new RankweaveError('ERR_FABRIC', reason)
