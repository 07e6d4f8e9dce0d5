import {
  type Socket,
  type SocketClose,
  type SocketError,
  type SocketMessage,
  socketState,
} from '../../src/websocket/socket/socket.js'

type Listener = (event: SocketMessage & SocketClose & SocketError) => void
type Event = 'open' | 'message' | 'close' | 'error'

/** One end of a connection in memory. What it sends arrives when the {@link Network} of both delivers. */
export class PairedSocket implements Socket {
  binaryType = 'arraybuffer'
  readyState: number = socketState.connecting
  /** Bytes of this end that are in flight, or that its peer does not read. */
  bufferedAmount = 0
  /** While true nothing of this end arrives, as on a broken network. */
  isCut = false
  readonly #listeners = new Map<Event, Set<Listener>>()
  readonly #network: Network
  peer!: PairedSocket

  constructor(network: Network) {
    this.#network = network
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState === socketState.connecting) throw new Error('not open')
    if (this.readyState !== socketState.open) return
    const copy = typeof data === 'string' ? data : data.slice().buffer
    const sizeBytes = typeof data === 'string' ? data.length : data.byteLength
    this.bufferedAmount += sizeBytes
    this.#network.deliver(this, () => {
      this.bufferedAmount -= sizeBytes
      if (this.peer.readyState === socketState.open) this.peer.emit('message', { data: copy })
    })
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState >= socketState.closing) return
    this.readyState = socketState.closing
    this.#network.deliver(this, () => {
      this.peer.ended(code, reason)
      this.ended(code, reason)
    })
  }

  terminate(): void {
    this.ended(1006, '')
    this.#network.deliver(this, () => this.peer.ended(1006, ''))
  }

  ended(code: number, reason: string): void {
    if (this.readyState === socketState.closed) return
    this.readyState = socketState.closed
    this.emit('close', { code, reason })
  }

  emit(type: Event, event: Partial<SocketMessage & SocketClose & SocketError> = {}): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(event as never)
  }

  addEventListener(type: Event, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set<Listener>()
    listeners.add(listener)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: Event, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }
}

/** Delivers what sockets send, in order, when a test says so. */
export class Network {
  #queue: { readonly from: PairedSocket; readonly run: () => void }[] = []

  deliver(from: PairedSocket, run: () => void): void {
    this.#queue.push({ from, run })
  }

  /** Two ends of a connection that opens with the next {@link settle}. */
  pair(): readonly [PairedSocket, PairedSocket] {
    const ends = [new PairedSocket(this), new PairedSocket(this)] as const
    ends[0].peer = ends[1]
    ends[1].peer = ends[0]
    return ends
  }

  /** Delivers everything, and what follows from it; what a cut socket sent stays. */
  settle(): void {
    const stuck: { readonly from: PairedSocket; readonly run: () => void }[] = []
    while (this.#queue.length > 0) {
      const queue = this.#queue
      this.#queue = []
      for (const entry of queue) {
        if (entry.from.isCut) stuck.push(entry)
        else entry.run()
      }
    }
    this.#queue = stuck
  }
}
