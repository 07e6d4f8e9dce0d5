import type { Clock } from '../../base/clock.js'
import type { RankweaveError } from '../../errors.js'
import { Queue } from '../../fabric/queue.js'
import { encodeControl, type FromRendezvous, type JoinRequest } from '../protocol/messages.js'
import { randomBytes, toHex } from '../protocol/secrets.js'
import { drop, type Socket, socketState } from '../socket/socket.js'
import { closeSoon, protocolError, refuse } from './refuse.js'

/** The buffered bytes from which on a member counts as not reading; its relayed messages alone never reach it. */
const mostBuffered = 2 ** 24

/** The text of a beat, sent and answered alike. */
export const beat = encodeControl({ kind: 'beat' })

/** The receiver of a socket's messages after its first. */
export interface Party {
  /** Handles text or bytes. Never throws. */
  message(data: unknown): void
  closed(reason: string): void
}

/** A member as its world sees it: its sockets, and its messages in flight. */
export class HostedMember {
  readonly socket: Socket
  readonly request: JoinRequest
  /** Whether it is a process of the host's own. */
  readonly isOwn: boolean
  /** The key that admits the member's thread for heartbeats. */
  readonly heartbeatKey = toHex(randomBytes(32))
  readonly rate: MessageRate
  readonly queue: RelayQueue
  state: 'waiting' | 'joined' | 'left' | 'lost' = 'waiting'
  /** The number of the process; -1 while the world waits for members. */
  process = -1
  /** The socket for heartbeats, if there is one. */
  heartbeats: Socket | undefined
  /** The bytes of its relayed messages that are in queues of others. */
  relayedBytes = 0
  /** The members whose probe it has not answered. */
  readonly #probing = new Set<number>()
  readonly #clock: Clock

  /** @param handed reports that a relayed message of that process to this member has been handed on */
  constructor(
    socket: Socket,
    request: JoinRequest,
    isOwn: boolean,
    clock: Clock,
    handed: (from: number, sizeBytes: number) => void,
  ) {
    this.socket = socket
    this.request = request
    this.isOwn = isOwn
    this.#clock = clock
    this.rate = new MessageRate(clock)
    this.queue = new RelayQueue(socket, clock, handed)
  }

  /** Sends a message; false when the member does not read. */
  send(message: FromRendezvous): boolean {
    return this.sendText(encodeControl(message))
  }

  sendText(text: string): boolean {
    if (this.socket.readyState === socketState.open) this.socket.send(text)
    return this.socket.bufferedAmount <= mostBuffered
  }

  /**
   * Notes a probe by another member. Returns false while an earlier probe of it is not answered: probes must not pile
   * up at a member that computes.
   */
  isProbed(by: number): boolean {
    if (this.#probing.has(by)) return false
    this.#probing.add(by)
    return true
  }

  /**
   * Notes that this member is present, and returns whether that one has probed it. An answer does not count as a
   * message.
   */
  hasAnswered(prober: number): boolean {
    if (!this.#probing.delete(prober)) return false
    this.rate.uncount()
    return true
  }

  /** Ends its sockets, after sending the reason if there is one. */
  end(error?: RankweaveError): void {
    this.rate.stop()
    this.queue.drop()
    if (error === undefined) closeSoon(this.socket, this.#clock, 1000, 'left')
    else refuse(this.socket, this.#clock, error)
    this.endHeartbeats()
  }

  /**
   * Replaces the socket for heartbeats; the one before, of the same member, ends at once, so that there is one at a
   * time.
   */
  beginHeartbeats(socket: Socket, heard: () => void): Party {
    if (this.heartbeats !== undefined) drop(this.heartbeats, 1000, 'superseded')
    this.heartbeats = socket
    return {
      message: (data) => {
        if (this.heartbeats !== socket) return
        // Only beats are legal here, so the text is not parsed further.
        if (data !== beat) {
          // Later messages are not read, and not refused a second time.
          this.heartbeats = undefined
          refuse(socket, this.#clock, protocolError('a beat on a socket for heartbeats'))
          return
        }
        heard()
        // A process that does not read the answers gets no further ones, so that they do not pile up.
        if (socket.bufferedAmount === 0) socket.send(beat)
      },
      // The member may connect again; if it does not, its silence is noticed.
      closed: () => {
        if (this.heartbeats === socket) this.heartbeats = undefined
      },
    }
  }

  endHeartbeats(): void {
    if (this.heartbeats !== undefined) closeSoon(this.heartbeats, this.#clock, 1000, 'ended')
    this.heartbeats = undefined
  }
}

interface RelayedMessage {
  readonly from: number
  readonly relayed: Uint8Array<ArrayBuffer>
}

/** The buffered bytes of a socket from which on relayed messages wait. */
const mostRelayedAhead = 2 ** 20
const retryMs = 2

/**
 * The relayed messages for one member, in order. They wait here while its socket has much buffered. Control messages do
 * not wait, so they are never behind more than that. Memory: what all senders may have in flight, `maxRelayedBytes`
 * each.
 */
class RelayQueue {
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
      if (this.#socket.bufferedAmount > mostRelayedAhead) {
        this.#cancel = this.#clock.later(retryMs, this.#drain)
        return
      }
      const { from, relayed } = this.#waiting.take()!
      if (this.#socket.readyState === socketState.open) this.#socket.send(relayed)
      this.#handed(from, relayed.byteLength)
    }
  }
}

/** Counts messages of one sender per second; a second begins with a message. */
export class MessageRate {
  readonly #clock: Clock
  #count = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a message, and returns whether more than `most` came in this second. */
  exceeds(most: number): boolean {
    this.#cancel ??= this.#clock.later(1_000, () => {
      this.#count = 0
      this.#cancel = undefined
    })
    return ++this.#count > most
  }

  /** Uncounts the last message, which others have caused. */
  uncount(): void {
    if (this.#count > 0) this.#count--
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
