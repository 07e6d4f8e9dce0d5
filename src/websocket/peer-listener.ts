import { type Clock, limitTime, realClock } from '../base/clock.js'
import { closeCode, decodeIntroduction, type Hello } from './introduction.js'
import { closeSoon } from './rendezvous/refuse.js'
import {
  drop,
  introductionMs,
  type Socket,
  type SocketListener,
  type SocketTransport,
} from './socket/socket.js'
import { WaitingRoom } from './socket/waiting-room.js'

/** A socket whose first message has arrived: what it says is not proved yet. */
export interface IncomingSocket {
  readonly socket: Socket
  readonly hello: Hello
}

/** Connections at a time in each of the three rooms. */
export const mostStrangers = 64

/**
 * Accepts data connections of peers. It listens before the process joins its world, because the join states
 * the address; connections that come before the session is open wait for it.
 *
 * Connections that say nothing do not crowd out those that do: each kind has a room, where the newest get in
 * and the address that has most loses its oldest. Each has `introductionMs` to say `hello`, and as much again to
 * prove who it is.
 *
 * Memory: three rooms of `mostStrangers` connections, each with at most one message.
 */
export class PeerListener {
  readonly #clock: Clock
  /** They have not said `hello`. */
  readonly #silent = new WaitingRoom<Socket>(mostStrangers)
  /** They have, and have not proved it. */
  readonly #greeted = new WaitingRoom<Socket>(mostStrangers)
  /** They are closed as late, and have not answered. */
  readonly #closing = new WaitingRoom<Socket>(mostStrangers)
  /** Ends the time limit of one that is silent or has said `hello`. */
  readonly #limits = new Map<Socket, () => void>()
  #listener: SocketListener | undefined
  #early: IncomingSocket[] = []
  #greet: ((incoming: IncomingSocket) => void) | undefined

  private constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws ERR_FABRIC when the transport cannot listen on its address */
  static async open(
    transport: Required<Pick<SocketTransport, 'listen'>>,
    clock: Clock = realClock,
  ): Promise<PeerListener> {
    const opened = new PeerListener(clock)
    opened.#listener = await transport.listen((socket, remote) => opened.#accept(socket, remote))
    return opened
  }

  /** What peers dial. */
  get url(): string {
    return this.#listener!.url
  }

  /**
   * Hands over those that have come, and all that come from now on. Each counts until `introduced` is called.
   */
  attach(greet: (incoming: IncomingSocket) => void): void {
    this.#greet = greet
    // From here on a waiting rank keeps the event loop alive.
    this.#listener?.unref?.()
    const early = this.#early
    this.#early = []
    for (const incoming of early) greet(incoming)
  }

  /** The socket belongs to a peer, or is closed. */
  introduced(socket: Socket): void {
    this.#limits.get(socket)?.()
    this.#limits.delete(socket)
    for (const room of [this.#silent, this.#greeted, this.#closing]) room.leave(socket)
    this.#early = this.#early.filter((incoming) => incoming.socket !== socket)
  }

  /** Stops accepting, and closes connections that have not introduced themselves. */
  async close(): Promise<void> {
    for (const socket of [...this.#silent.all, ...this.#greeted.all, ...this.#closing.all]) {
      this.introduced(socket)
      drop(socket, closeCode.occupied, 'the session has ended')
    }
    this.#early = []
    this.#greet = undefined
    await this.#listener?.close()
  }

  #accept(socket: Socket, remote: string): void {
    socket.unref?.()
    socket.addEventListener('close', () => this.introduced(socket))
    const first = ({ data }: { readonly data: unknown }) => {
      socket.removeEventListener('message', first)
      if (!this.#silent.has(socket)) return
      try {
        const hello = decodeIntroduction(data, 'hello')
        this.#enter(this.#greeted, socket, remote)
        this.#arrived({ socket, hello })
      } catch {
        this.introduced(socket)
        drop(socket, closeCode.malformed, 'malformed')
      }
    }
    socket.addEventListener('message', first)
    this.#enter(this.#silent, socket, remote)
  }

  #enter(room: WaitingRoom<Socket>, socket: Socket, remote: string): void {
    this.introduced(socket)
    const displaced = room.enter(socket, remote)
    this.#limitTime(socket)
    if (displaced !== undefined) this.#closeLate(displaced, 'too many connections')
  }

  #limitTime(socket: Socket): void {
    const expired = () => this.#closeLate(socket, 'no introduction in time')
    this.#limits.set(socket, limitTime(this.#clock, introductionMs, expired))
  }

  /** The peer may dial again. */
  #closeLate(socket: Socket, reason: string): void {
    this.introduced(socket)
    const displaced = this.#closing.enter(socket)
    closeSoon(socket, this.#clock, closeCode.late, reason)
    if (displaced !== undefined) drop(displaced, closeCode.late, reason)
  }

  #arrived(incoming: IncomingSocket): void {
    if (this.#greet === undefined) this.#early.push(incoming)
    else this.#greet(incoming)
  }
}
