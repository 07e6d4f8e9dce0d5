import type { Clock } from '../../base/clock.js'
import { Queue } from '../../fabric/queue.js'
import { type Socket, socketState } from '../socket/socket.js'

interface RelayedMessage {
  readonly from: number
  readonly relayed: Uint8Array<ArrayBuffer>
}

/** The buffered bytes of a socket from which on relayed messages wait. */
const mostBuffered = 2 ** 20
const retryMs = 2

/**
 * The relayed messages for one member, in order. They wait here while its socket has much buffered. Control messages do
 * not wait, so they are never behind more than that. Memory: what all senders may have in flight, `maxRelayedBytes`
 * each.
 */
export class RelayQueue {
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #handed: (from: number, sizeBytes: number) => void
  readonly #waiting = new Queue<RelayedMessage>()
  #cancel: (() => void) | undefined

  /** @param handed reports that a message has been given to the socket, or dropped */
  constructor(socket: Socket, clock: Clock, handed: (from: number, sizeBytes: number) => void) {
    this.#socket = socket
    this.#clock = clock
    this.#handed = handed
  }

  /** @param relayed with its header, which names the sender */
  push(from: number, relayed: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push({ from, relayed })
    if (this.#cancel === undefined) this.#drain()
  }

  /** Drops the messages that wait, because the member no longer reads. */
  drop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      this.#handed(next.from, next.relayed.byteLength)
    }
  }

  readonly #drain = () => {
    this.#cancel = undefined
    while (this.#waiting.size > 0) {
      if (this.#socket.bufferedAmount > mostBuffered) {
        this.#cancel = this.#clock.later(retryMs, this.#drain)
        return
      }
      const { from, relayed } = this.#waiting.take()!
      if (this.#socket.readyState === socketState.open) this.#socket.send(relayed)
      this.#handed(from, relayed.byteLength)
    }
  }
}
