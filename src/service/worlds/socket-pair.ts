import {
  type Socket,
  type SocketClose,
  type SocketError,
  type SocketMessage,
  socketState,
} from '../../websocket/socket/socket.js'

type Listener = (event: SocketMessage & SocketClose & SocketError) => void

/**
 * Makes a connection between two parts of this process, open at once. A message of one end arrives at the other in a
 * microtask, in order. So all consequences of one event of the network have arrived before the next event.
 */
export function socketPair(): readonly [Socket, Socket] {
  const [a, b] = [new PairedEnd(), new PairedEnd()]
  a.peer = b
  b.peer = a
  queueMicrotask(() => {
    for (const end of [a, b]) end.emit('open', {})
  })
  return [a, b]
}

class PairedEnd implements Socket {
  binaryType = 'arraybuffer'
  readyState: number = socketState.open
  bufferedAmount = 0
  peer!: PairedEnd
  readonly #listeners = new Map<string, Set<Listener>>()

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== socketState.open) return
    const size = typeof data === 'string' ? data.length : data.byteLength
    this.bufferedAmount += size
    queueMicrotask(() => {
      this.bufferedAmount -= size
      if (this.peer.readyState !== socketState.closed) this.peer.emit('message', { data })
    })
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState !== socketState.open) return
    this.readyState = socketState.closing
    queueMicrotask(() => {
      for (const end of [this.peer, this]) end.#ended(code, reason)
    })
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set<Listener>()
    listeners.add(listener)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  emit(type: string, event: Partial<SocketMessage & SocketClose>): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(event as Parameters<Listener>[0])
  }

  #ended(code: number, reason: string): void {
    if (this.readyState === socketState.closed) return
    this.readyState = socketState.closed
    this.emit('close', { code, reason })
  }
}
