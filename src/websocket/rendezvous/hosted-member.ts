import type { Clock } from '../../base/clock.js'
import type { RankweaveError } from '../../errors.js'
import { encodeControl } from '../protocol/control-codec.js'
import type { FromRendezvous, JoinRequest } from '../protocol/messages.js'
import { randomBytes, toHex } from '../protocol/secrets.js'
import { drop, type Socket, socketState } from '../socket/socket.js'
import { MessageRate } from './message-rate.js'
import { closeSoon, protocolError, refuse } from './refuse.js'
import { RelayQueue } from './relay-queue.js'

/**
 * A member that has so much buffered does not read, in bytes; its relayed messages alone never make as much.
 */
const mostBuffered = 2 ** 24

/** Sent and answered alike. */
export const beat = encodeControl({ kind: 'beat' })

/** Who answers the messages of one socket, after its first. */
export interface Party {
  /** Text, or bytes. Never throws. */
  message(data: unknown): void
  closed(reason: string): void
}

/** One member as its world has it: its sockets, and what is in flight for it. */
export class HostedMember {
  readonly socket: Socket
  readonly request: JoinRequest
  /** A process of the host's own. */
  readonly isOwn: boolean
  /** Lets the member's thread for heartbeats in. */
  readonly heartbeatKey = toHex(randomBytes(32))
  readonly rate: MessageRate
  readonly queue: RelayQueue
  state: 'waiting' | 'joined' | 'left' | 'lost' = 'waiting'
  /** Its number; -1 while the world waits for members. */
  process = -1
  /** Its socket for heartbeats, if it has one. */
  heartbeats: Socket | undefined
  /** Bytes of its relayed messages that are in queues of others. */
  relayedBytes = 0
  /** Members whose probe it has not answered. */
  readonly #probing = new Set<number>()
  readonly #clock: Clock

  /** @param handed a relayed message of that process to this member has been handed on */
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

  /** False when the member does not read what it is sent. */
  send(message: FromRendezvous): boolean {
    return this.sendText(encodeControl(message))
  }

  sendText(text: string): boolean {
    if (this.socket.readyState === socketState.open) this.socket.send(text)
    return this.socket.bufferedAmount <= mostBuffered
  }

  /**
   * Another member probes this one. False while an earlier probe of it is not answered: probes must not pile
   * up at a member that computes.
   */
  isProbed(by: number): boolean {
    if (this.#probing.has(by)) return false
    this.#probing.add(by)
    return true
  }

  /** This member says that it is present: whether that one has probed it. An answer does not count as a message. */
  hasAnswered(prober: number): boolean {
    if (!this.#probing.delete(prober)) return false
    this.rate.uncount()
    return true
  }

  /** Ends its sockets: after the reason why, if there is one. */
  end(error?: RankweaveError): void {
    this.rate.stop()
    this.queue.drop()
    if (error === undefined) closeSoon(this.socket, this.#clock, 1000, 'left')
    else refuse(this.socket, this.#clock, error)
    this.endHeartbeats()
  }

  /**
   * The socket for heartbeats from now on; the one before, of the same member, ends at once, so that there is
   * one at a time.
   */
  beginHeartbeats(socket: Socket, heard: () => void): Party {
    if (this.heartbeats !== undefined) drop(this.heartbeats, 1000, 'superseded')
    this.heartbeats = socket
    return {
      message: (data) => {
        if (this.heartbeats !== socket) return
        // Nothing else is said here, so the text is not looked at further.
        if (data !== beat) {
          // What else it says is not read, and refused no second time.
          this.heartbeats = undefined
          refuse(socket, this.#clock, protocolError('a beat on a socket for heartbeats'))
          return
        }
        heard()
        // A process that does not read the answers gets no more of them, so that they do not pile up.
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
