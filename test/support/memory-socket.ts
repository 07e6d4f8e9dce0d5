import {
  type Socket,
  type SocketClose,
  type SocketError,
  type SocketMessage,
  socketState,
} from '../../src/websocket/socket/socket.js'

type Listener = (event: SocketMessage & SocketClose & SocketError) => void

/** A connection in memory: messages arrive in a later turn of the event loop, in order. */
export class MemorySocket implements Socket {
  binaryType = 'arraybuffer'
  readyState: number = socketState.open
  bufferedAmount = 0
  /** While false, what the other end sends counts as not taken by the network. */
  reads = true
  peer!: MemorySocket
  readonly #listeners = new Map<string, Set<Listener>>()

  /** Two ends. */
  static pair(): readonly [MemorySocket, MemorySocket] {
    const [a, b] = [new MemorySocket(), new MemorySocket()]
    a.peer = b
    b.peer = a
    return [a, b]
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== socketState.open) return
    if (!this.peer.reads) {
      this.bufferedAmount += data.length
      return
    }
    setImmediate(() => {
      if (this.peer.readyState !== socketState.closed) this.peer.emit('message', { data })
    })
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState !== socketState.open) return
    this.readyState = socketState.closing
    setImmediate(() => {
      this.peer.ended(code, reason)
      this.ended(code, reason)
    })
  }

  terminate(): void {
    this.ended(1006, '')
    setImmediate(() => this.peer.ended(1006, ''))
  }

  ended(code: number, reason: string): void {
    if (this.readyState === socketState.closed) return
    this.readyState = socketState.closed
    this.emit('close', { code, reason })
  }

  emit(type: string, event: Partial<SocketMessage & SocketClose>): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(event as never)
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set<Listener>()
    listeners.add(listener)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }
}
