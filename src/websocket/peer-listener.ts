import { type Clock, realClock } from '../base/clock.js'
import { closeCode, decodeIntroduction, type Hello } from './introduction.js'
import { closeSoon } from './rendezvous/refuse.js'
import { drop, type Socket, type SocketListener, type SocketTransport } from './socket/socket.js'

/** A socket whose first message has arrived: what it says is not proved yet. */
export interface IncomingSocket {
  readonly socket: Socket
  readonly hello: Hello
}

/** How long a connection may take until both sides have introduced themselves, in milliseconds. */
export const introductionMs = 5_000
/** Connections at a time that have not introduced themselves; further ones are closed, and may come again. */
const mostStrangers = 64

/**
 * Accepts data connections of peers. It listens before the process joins its world, because the join states
 * the address; connections that come before the session is open wait for it.
 *
 * Memory: `mostStrangers` connections with one short message each.
 */
export class PeerListener {
  readonly #clock: Clock
  readonly #strangers = new Map<Socket, () => void>()
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
    opened.#listener = await transport.listen((socket) => opened.#accept(socket))
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
    this.#strangers.get(socket)?.()
    this.#forget(socket)
  }

  #forget(socket: Socket): void {
    this.#strangers.delete(socket)
    this.#early = this.#early.filter((incoming) => incoming.socket !== socket)
  }

  /** Stops accepting, and closes connections that have not introduced themselves. */
  async close(): Promise<void> {
    for (const socket of [...this.#strangers.keys()]) {
      this.introduced(socket)
      drop(socket, closeCode.occupied, 'the session has ended')
    }
    this.#early = []
    this.#greet = undefined
    await this.#listener?.close()
  }

  #accept(socket: Socket): void {
    socket.unref?.()
    if (this.#strangers.size >= mostStrangers) {
      closeSoon(socket, this.#clock, closeCode.late, 'too many connections')
      return
    }
    const cancel = this.#clock.later(introductionMs, () => {
      this.#forget(socket)
      closeSoon(socket, this.#clock, closeCode.late, 'no introduction in time')
    })
    this.#strangers.set(socket, cancel)
    socket.addEventListener('close', () => this.introduced(socket))
    const first = ({ data }: { readonly data: unknown }) => {
      socket.removeEventListener('message', first)
      try {
        this.#arrived({ socket, hello: decodeIntroduction(data, 'hello') })
      } catch {
        this.introduced(socket)
        drop(socket, closeCode.malformed, 'malformed')
      }
    }
    socket.addEventListener('message', first)
  }

  #arrived(incoming: IncomingSocket): void {
    if (this.#greet === undefined) this.#early.push(incoming)
    else this.#greet(incoming)
  }
}
