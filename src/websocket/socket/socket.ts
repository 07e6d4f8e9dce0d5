import { reasonText } from '../../errors.js'

/**
 * The common part of a WebSocket of the package `ws` and one of a browser. Binary messages arrive as `ArrayBuffer` once
 * `binaryType` is `'arraybuffer'`; on Node also as `Uint8Array`, see {@link messageBytes}.
 */
export interface Socket {
  /** The number of bytes that `send` has taken and the network has not; on Node with the heads of messages. */
  readonly bufferedAmount: number
  /** The state, one of {@link socketState}. */
  readonly readyState: number
  binaryType: string
  /** Whether `send` calls `sent`. Absent in browsers. */
  readonly reportsSent?: true
  /**
   * Queues one message. The bytes may be read until `sent` is called or `bufferedAmount` is 0 again.
   *
   * @param sent called when the network has taken the message, or the socket has failed, if the socket `reportsSent`
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
   * Calls `listener` for every later message, in addition to the listeners of events, but without an event object and
   * without copying bytes. The bytes are lent for the duration of the call. Absent in browsers.
   */
  receive?(listener: (data: string | Uint8Array<ArrayBuffer>) => void): void
  /** Reads nothing until `resume`; messages that were read before it still arrive. Absent in browsers. */
  pause?(): void
  resume?(): void
  /** The number of bytes that have arrived, of pings and parts of messages too. Absent in browsers. */
  readonly receivedBytes?: number
  /** Sends a ping, which the other side answers by itself. Absent in browsers. */
  ping?(): void
  /** Ends the connection without a handshake. Absent in browsers. */
  terminate?(): void
  /** Lets the socket keep the event loop alive, as it does by default. Absent in browsers. */
  ref?(): void
  unref?(): void
}

export interface SocketMessage {
  /** The content: a string, or bytes. */
  readonly data: unknown
}

export interface SocketClose {
  readonly code: number
  readonly reason: string
}

export interface SocketError {
  /** The reason, which browsers do not report. */
  readonly message?: string
  readonly error?: unknown
}

/** Returns the text of a socket's error; '' if the platform does not report it. */
export function socketErrorText({ message = '', error }: SocketError): string {
  if (message !== '') return message
  // Node tries each address of a name, and its error has one for each.
  const { errors } = (error ?? {}) as { readonly errors?: unknown }
  return Array.isArray(errors) ? errors.map(reasonText).join('; ') : ''
}

/**
 * Returns whether the other end has taken a connection, and ended it before the handshake: it computes, or too many
 * came at once. Browsers do not report it.
 */
export function isPutOff({ message = '', error }: SocketError): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === 'ECONNRESET' || code === 'EPIPE' || message === 'Unexpected server response: 408'
}

/** The milliseconds within which the network must establish a connection. */
export const connectMs = 10_000

/**
 * The time for each step of a connection until it has introduced itself, in milliseconds: a peer may compute meanwhile.
 * Rooms bound what it occupies, see `WaitingRoom`.
 */
export const introductionMs = 60_000

/** The time within which a peer must answer a closing handshake, in milliseconds. */
export const closingMs = 2_000

export const socketState = { connecting: 0, open: 1, closing: 2, closed: 3 } as const

/** The transport by which a process reaches others and is reached. A browser can only dial. */
export interface SocketTransport {
  /** Makes a socket that connects to `url`; its events report whether it succeeds. */
  dial(url: string): Socket
  /**
   * Accepts connections from now on. Absent if a process cannot listen.
   *
   * @param accept is given every connection, and the address it comes from; it adds its listeners before it returns
   */
  listen?(accept: (socket: Socket, remote: string) => void): Promise<SocketListener>
}

export interface SocketListener {
  /** The URL that others dial. */
  readonly url: string
  /** Stops keeping the event loop alive, on platforms that have one. */
  unref?(): void
  /** Accepts no further connections; existing ones remain. */
  close(): Promise<void>
}

/** Returns the bytes of a binary message, without a copy; undefined for a text message. */
export function messageBytes(data: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  // The result is not a Buffer, whose `slice` would not copy.
  return data instanceof Uint8Array
    ? new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)
    : undefined
}

/** Ends a connection at once if the socket can. */
export function drop(socket: Socket, code: number, reason: string): void {
  if (socket.terminate === undefined) socket.close(code, reason)
  else socket.terminate()
}

/** The address at which connections are accepted. */
export interface ListenOptions {
  /**
   * The address to listen on. Default `127.0.0.1`: this host only. Beyond it, use TLS: tokens travel in the first
   * message.
   */
  readonly host?: string
  /** The port to listen on. Default 0: any that is free. */
  readonly port?: number
  /** The host in the URL that others dial. Default: `host`. */
  readonly advertisedHost?: string
  /** The certificate and key in PEM: with them, connections are accepted by TLS only. */
  readonly tls?: { readonly cert: string; readonly key: string }
}
