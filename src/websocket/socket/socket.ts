import { reasonText } from '../../errors.js'

/**
 * What a WebSocket of the package `ws` and one of a browser have in common. Binary messages arrive as
 * `ArrayBuffer` once `binaryType` is `'arraybuffer'`; on Node also as `Uint8Array`, see {@link messageBytes}.
 */
export interface Socket {
  /** Bytes that `send` has taken and the network has not; on Node with the heads of messages. */
  readonly bufferedAmount: number
  /** One of {@link socketState}. */
  readonly readyState: number
  binaryType: string
  /** True where `send` calls `sent`. Absent in browsers. */
  readonly reportsSent?: true
  /**
   * Queues one message. The bytes may be read until `sent` is called or `bufferedAmount` is 0 again.
   *
   * @param sent called when the network has taken the message, or the socket has failed, where the socket
   *   `reportsSent`
   */
  send(data: string | Uint8Array<ArrayBuffer>, sent?: (error?: Error) => void): void
  /** Starts the closing handshake: what was sent before still arrives. */
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: SocketMessage) => void): void
  addEventListener(type: 'close', listener: (event: SocketClose) => void): void
  addEventListener(type: 'error', listener: (event: SocketError) => void): void
  removeEventListener(type: 'open', listener: () => void): void
  removeEventListener(type: 'message', listener: (event: SocketMessage) => void): void
  removeEventListener(type: 'close', listener: (event: SocketClose) => void): void
  removeEventListener(type: 'error', listener: (event: SocketError) => void): void
  /**
   * Calls `listener` for every message from now on, besides the listeners of events: without an event object,
   * and of bytes without a copy. They are lent for the duration of the call. Absent in browsers.
   */
  receive?(listener: (data: string | Uint8Array<ArrayBuffer>) => void): void
  /** Reads nothing until `resume`; messages that were read before it still arrive. Absent in browsers. */
  pause?(): void
  resume?(): void
  /** Bytes that have come, of pings and parts of messages too. Absent in browsers. */
  readonly receivedBytes?: number
  /** Sends a ping, which the other side answers by itself. Absent in browsers. */
  ping?(): void
  /** Ends the connection without a handshake. Absent in browsers. */
  terminate?(): void
  /** Whether the socket keeps the event loop alive; by default it does. Absent in browsers. */
  ref?(): void
  unref?(): void
}

export interface SocketMessage {
  /** A string, or bytes. */
  readonly data: unknown
}

export interface SocketClose {
  readonly code: number
  readonly reason: string
}

export interface SocketError {
  /** Browsers do not tell. */
  readonly message?: string
  readonly error?: unknown
}

/** What an error of a socket says; '' where the platform does not say. */
export function socketErrorText({ message = '', error }: SocketError): string {
  if (message !== '') return message
  // Node tries each address of a name, and its error has one for each.
  const { errors } = (error ?? {}) as { readonly errors?: unknown }
  return Array.isArray(errors) ? errors.map(reasonText).join('; ') : ''
}

/**
 * Whether the other end has taken a connection, and ended it before the handshake: it computes, or too many
 * came at once. Browsers do not tell.
 */
export function isPutOff({ message = '', error }: SocketError): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === 'ECONNRESET' || code === 'EPIPE' || message === 'Unexpected server response: 408'
}

/** Milliseconds until a connection fails that the network does not establish. */
export const connectMs = 10_000

/**
 * How long a connection may take for each step until it has introduced itself, in milliseconds: a peer may
 * compute meanwhile. What it occupies is bounded by rooms, see `WaitingRoom`.
 */
export const introductionMs = 60_000

/** How long a peer may take to answer a closing handshake, in milliseconds. */
export const closingMs = 2_000

export const socketState = { connecting: 0, open: 1, closing: 2, closed: 3 } as const

/** How a process reaches others and is reached. A browser can only dial. */
export interface SocketTransport {
  /** A socket that connects to `url`; its events say whether it succeeds. */
  dial(url: string): Socket
  /**
   * Accepts connections from now on. Absent where a process cannot listen.
   *
   * @param accept is given every connection, and the address it comes from; it adds its listeners before it
   *   returns
   */
  listen?(accept: (socket: Socket, remote: string) => void): Promise<SocketListener>
}

export interface SocketListener {
  /** What others dial. */
  readonly url: string
  /** From now on it does not keep the event loop alive. Where there is such a thing. */
  unref?(): void
  /** Accepts no further connections; those that there are remain. */
  close(): Promise<void>
}

/** The bytes of a binary message, without a copy; undefined for a text message. */
export function messageBytes(data: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  // Not a Buffer, whose `slice` would not copy.
  return data instanceof Uint8Array
    ? new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)
    : undefined
}

/** Ends a connection at once where the socket can. */
export function drop(socket: Socket, code: number, reason: string): void {
  if (socket.terminate === undefined) socket.close(code, reason)
  else socket.terminate()
}

/** Where to accept connections. */
export interface ListenOptions {
  /**
   * Address to listen on. Default `127.0.0.1`: this host only. Beyond it, use TLS: tokens
   * travel in the first message.
   */
  readonly host?: string
  /** Port to listen on. Default 0: any that is free. */
  readonly port?: number
  /** Host in the URL that others dial. Default: `host`. */
  readonly advertisedHost?: string
  /** Certificate and key in PEM: connections are accepted by TLS only. */
  readonly tls?: { readonly cert: string; readonly key: string }
}
