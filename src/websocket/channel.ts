import { closeCode, decodeIntroduction, encodeIntroduction } from './introduction.js'
import type { WatchedConnection } from './link-watch.js'
import type { BreakCause } from './protocol/messages.js'
import type { Membership } from './rendezvous/membership.js'
import {
  drop,
  messageBytes,
  type Socket,
  type SocketError,
  socketErrorText,
  socketState,
} from './socket/socket.js'

/** The carrier of the messages of a link: a socket, or the relay of the rendezvous. */
export interface Channel {
  /** The number of bytes taken and not yet on the network. */
  readonly bufferedBytes: number
  /** Whether `taken` is called when the network has taken a message; else the caller has to check `bufferedBytes`. */
  readonly reportsSent: boolean
  /**
   * Sends a message. Its memory may be reused once `bufferedBytes` is 0.
   *
   * @param taken called when the memory may be reused, if the channel reports that; perhaps never when it fails
   */
  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void
  /** Resolves when what was sent has been handed over and the channel is closed. */
  close(): Promise<void>
  /** Closes at once. */
  drop(): void
}

interface ChannelEvents {
  message(bytes: Uint8Array): void
  /** Notes that the peer has ended its session. */
  ended(): void
  broken(reason: string, cause: BreakCause): void
}

/** A data socket on which both sides have introduced themselves. */
export class SocketChannel implements Channel, WatchedConnection {
  readonly reportsSent: boolean
  readonly #socket: Socket
  readonly #closed: Promise<void>
  #events: ChannelEvents | undefined
  #closing = false
  /** Whether the peer has announced its end: whatever closes the socket then, nothing is lost. */
  #peerHasEnded = false
  #sentBytes = 0

  constructor(socket: Socket, events: ChannelEvents) {
    this.#socket = socket
    this.#events = events
    this.reportsSent = socket.reportsSent === true
    if (socket.receive !== undefined) socket.receive((data) => this.#arrived(data))
    else socket.addEventListener('message', ({ data }) => this.#arrived(messageBytes(data) ?? data))
    let lastError = ''
    socket.addEventListener('error', (event) => {
      lastError = socketErrorText(event)
      if (isTooLarge(event))
        this.#break(`a message has more than the bytes that are accepted: ${lastError}`, 'too large')
    })
    this.#closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        if (this.#peerHasEnded) this.#events?.ended()
        else if (!this.#closing) {
          const said = [`the connection was closed (${code})`, reason, lastError].filter(Boolean).join(': ')
          this.#break(said, 'closed')
        }
        this.#events = undefined
        resolve()
      })
    })
    if (socket.readyState === socketState.closed) this.#break('the connection was closed', 'closed')
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  get receivedBytes(): number | undefined {
    return this.#socket.receivedBytes
  }

  get takenBytes(): number {
    return this.#sentBytes - this.#socket.bufferedAmount
  }

  ping(): void {
    if (this.#socket.readyState === socketState.open) this.#socket.ping?.()
  }

  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void {
    this.#sentBytes += message.length
    this.#socket.send(message, taken)
  }

  close(): Promise<void> {
    this.#closing = true
    if (this.#socket.readyState === socketState.open) {
      this.#socket.send(encodeIntroduction<'end'>({ kind: 'end' }))
      // The handshake follows what was sent; a ref'd socket lives until it is done.
      this.#socket.close(closeCode.ended)
    }
    return this.#socket.readyState === socketState.closed ? Promise.resolve() : this.#closed
  }

  drop(): void {
    this.#events = undefined
    drop(this.#socket, closeCode.malformed, 'dropped')
  }

  /** @param data bytes, or a text */
  #arrived(data: unknown): void {
    if (!(data instanceof Uint8Array)) this.#peerSaid(data)
    else if (this.#peerHasEnded) this.#break('a batch of frames after the last', 'malformed')
    else this.#events?.message(data)
  }

  #peerSaid(text: unknown): void {
    try {
      decodeIntroduction(text, 'end')
      this.#peerHasEnded = true
    } catch {
      this.#break('a text message among batches of frames', 'malformed')
    }
  }

  #break(reason: string, cause: BreakCause): void {
    const events = this.#events
    this.#events = undefined
    events?.broken(reason, cause)
  }
}

/** Returns whether the socket refused a message for its size. */
function isTooLarge({ error }: SocketError): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
}

/** A channel through the rendezvous, to a process that cannot be dialed or cannot dial. */
export class RelayChannel implements Channel {
  readonly reportsSent = false
  readonly #membership: Pick<Membership, 'relay' | 'relayBufferedBytes'>
  readonly #peer: number

  constructor(membership: Pick<Membership, 'relay' | 'relayBufferedBytes'>, peer: number) {
    this.#membership = membership
    this.#peer = peer
  }

  /** The number of buffered bytes of all relayed peers together. */
  get bufferedBytes(): number {
    return this.#membership.relayBufferedBytes
  }

  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void {
    this.#membership.relay(this.#peer, message)
    taken?.()
  }

  /** Resolves at once: the rendezvous gets what was sent before it learns that this process leaves. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  drop(): void {}
}
