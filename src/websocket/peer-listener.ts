import { type Clock, limitTime, realClock } from '../base/clock.js'
import { closeCode, decodeIntroduction, type Hello } from './introduction.js'
import { closeSoon } from './rendezvous/refuse.js'
import { WaitingRoom } from './socket/address-limits.js'
import {
  drop,
  introductionMs,
  type Socket,
  type SocketListener,
  type SocketTransport,
} from './socket/socket.js'

/** A socket whose first message has arrived; its claims are not proved yet. */
export interface IncomingSocket {
  readonly socket: Socket
  readonly hello: Hello
}

/** The most connections at a time in each of the three rooms. */
export const mostStrangers = 64

/**
 * Accepts data connections of peers. It listens before the process joins its world, because the join states the
 * address; connections that arrive before the session is open wait for it.
 *
 * Silent connections do not crowd out those that send `hello`: each kind has a room. The newest connections get in, and
 * the address that has most loses its oldest. Each has `introductionMs` to say `hello`, and as much again to prove its
 * identity. Memory: three rooms of `mostStrangers` connections, each with at most one message.
 */
export class PeerListener {
  readonly #clock: Clock
  /** The connections that have not sent `hello`. */
  readonly #silent = new WaitingRoom<Socket>(mostStrangers)
  /** The connections that have sent `hello`, and not proved it. */
  readonly #greeted = new WaitingRoom<Socket>(mostStrangers)
  /** The connections that are closed as late, and have not answered. */
  readonly #closing = new WaitingRoom<Socket>(mostStrangers)
  /** The functions that end the time limits of connections that are silent or have said `hello`. */
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

  /** The URL that peers dial. */
  get url(): string {
    return this.#listener!.url
  }

  /** Hands over the connections that have arrived, and all later ones. Each counts until `introduced` is called. */
  attach(greet: (incoming: IncomingSocket) => void): void {
    this.#greet = greet
    // A waiting rank keeps the event loop alive from this point.
    this.#listener?.unref?.()
    const early = this.#early
    this.#early = []
    for (const incoming of early) greet(incoming)
  }

  /** Ends the count of a socket, which belongs to a peer, or is closed. */
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

  /** Closes a connection as late: the peer may dial again. */
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
