import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, isIPv6, type Socket as NetSocket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { type Clock, limitTime, realClock } from '../../base/clock.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { WaitingRoom } from './address-limits.js'
import {
  closingMs,
  connectMs,
  introductionMs,
  type ListenOptions,
  type Socket,
  type SocketListener,
  type SocketTransport,
} from './socket.js'

export interface NodeTransportOptions extends ListenOptions {
  /** The largest message accepted, in bytes; a connection with a larger one is closed with code 1009. */
  readonly maxMessageBytes: number
  /**
   * The most connections that the listener holds at a time; further ones are closed. Default 2048. A quarter of them,
   * at most 256, may be connections that have not asked for a WebSocket: the newest, of as many addresses as possible.
   */
  readonly maxConnections?: number
  /** The certificates in PEM that sign those of dialed peers. Default: those that Node trusts. */
  readonly ca?: string
  /** The clock of connections that have not asked for a WebSocket. */
  readonly clock?: Clock
}

/**
 * The milliseconds without traffic after which TCP asks whether the peer is present; Node then asks ten times, once per
 * second.
 */
const idleMs = 15_000
/** The most connections without a request at a time. */
const mostWaiting = 256

/**
 * Makes sockets of the package `ws`, without compression. A dialed socket masks nothing (the mask is 0). Masks keep
 * scripts in a browser from choosing the bytes on the wire, which any other program can do anyway.
 */
export function nodeTransport(options: NodeTransportOptions): SocketTransport {
  return {
    dial: (url) => dial(url, options),
    listen: (accept) => listen(accept, options),
  }
}

/** The bytes below which messages are copied behind their head: a write of two pieces costs more than the copy. */
const shortBytes = 2048
/** The bits of RFC 6455, 5.2: a whole message of bytes, a mask after the length, and a length in the next two bytes. */
const [wholeBinary, isMasked, longerLength] = [0x82, 0x80, 126]

/** A callback of `send` that reports whether the message has been sent. */
type Sent = (error?: Error) => void

/**
 * @internal A socket of `ws` that decides whether it keeps the event loop alive, and writes short messages at once. It
 *   is internal because its type would need the types of `ws`.
 */
export class NodeSocket extends WebSocket implements Socket {
  readonly reportsSent = true
  #net: NetSocket | undefined
  #isDialed = false
  #isRef = true

  /** Names the connection below. */
  stand(on: NetSocket, isDialed: boolean): void {
    this.#net = on
    this.#isDialed = isDialed
    // The user of the socket listens to 'close', which follows every error.
    this.on('error', () => {})
    // Keep-alive breaks a connection that a firewall has forgotten, or whose other host is gone, even if nothing is
    // sent on it. The operating systems answer each other, whatever the processes do.
    on.setKeepAlive(true, idleMs)
    if (!this.#isRef) on.unref()
  }

  receive(listener: (data: string | Uint8Array<ArrayBuffer>) => void): void {
    this.binaryType = 'nodebuffer'
    this.on('message', (data, isBinary) => {
      const bytes = data as Buffer
      if (!isBinary) listener(bytes.toString())
      else listener(new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength))
    })
  }

  /**
   * Sends like `ws`, which writes every message at once because nothing is compressed: messages written here keep their
   * place among its own.
   */
  override send(data: string | Uint8Array, sent?: object | Sent, last?: Sent): void {
    const net = this.#net
    const isShort = typeof data === 'object' && data.length < shortBytes && this.readyState === WebSocket.OPEN
    if (net === undefined || !isShort || typeof sent === 'object') super.send(data, sent as object, last)
    else net.write(shortMessage(data, this.#isDialed), sent as (() => void) | undefined)
  }

  get receivedBytes(): number {
    return this.#net?.bytesRead ?? 0
  }

  ref(): void {
    this.#isRef = true
    this.#net?.ref()
  }

  unref(): void {
    this.#isRef = false
    this.#net?.unref()
  }
}

/** Returns the only frame of a message. A dialed connection has a mask, which is 0. */
function shortMessage(data: Uint8Array, isDialed: boolean): Buffer {
  const isLonger = data.length >= longerLength
  const headBytes = (isLonger ? 4 : 2) + (isDialed ? 4 : 0)
  const frame = Buffer.allocUnsafe(headBytes + data.length)
  frame[0] = wholeBinary
  frame[1] = (isLonger ? longerLength : data.length) | (isDialed ? isMasked : 0)
  if (isLonger) {
    frame[2] = data.length >> 8
    frame[3] = data.length & 0xff
  }
  if (isDialed) frame.fill(0, headBytes - 4, headBytes)
  frame.set(data, headBytes)
  return frame
}

function dial(url: string, { maxMessageBytes, ca }: NodeTransportOptions): Socket {
  const socket = new NodeSocket(url, [], {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    finishRequest: (request) => {
      request.once('socket', limitConnecting)
      request.end()
    },
    generateMask: (mask) => void mask.fill(0),
    ...(ca === undefined ? {} : { ca }),
  })
  socket.on('error', () => {})
  socket.on('upgrade', (response) => socket.stand(response.socket, true))
  return socket
}

/** Limits the time of the connection, not of the answer: a process that computes takes its time, and is present. */
function limitConnecting(net: NetSocket): void {
  if (!net.connecting) return
  const late = () => net.destroy(new Error(`no connection within ${connectMs} ms`))
  const endLimit = limitTime(realClock, connectMs, late)
  net.once('connect', endLimit)
  net.once('close', endLimit)
}

/** @throws ERR_FABRIC when the address cannot be listened on, or certificate and key are no pair */
async function listen(
  accept: (socket: Socket, remote: string) => void,
  options: NodeTransportOptions,
): Promise<SocketListener> {
  const { host = '127.0.0.1', port = 0, advertisedHost = host, maxMessageBytes, tls } = options
  const { clock = realClock } = options
  const server = serverOf(tls)
  server.maxConnections = options.maxConnections ?? 2048
  const endWaiting = limitWaiting(server, Math.min(mostWaiting, Math.ceil(server.maxConnections / 4)), clock)
  server.on('upgrade', upgradeTo(accept, maxMessageBytes))
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error) => reject(cannotListen(host, port, error))
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.off('error', refuse)
      server.on('error', () => {})
      resolve()
    })
  })
  const { port: actualPort } = server.address() as AddressInfo
  const name = isIPv6(advertisedHost) ? `[${advertisedHost}]` : advertisedHost
  return {
    url: `${tls === undefined ? 'ws' : 'wss'}://${name}:${actualPort}`,
    unref: () => void server.unref(),
    close: () => {
      endWaiting()
      return closeServer(server)
    },
  }
}

/**
 * A listener of an HTTP server's event `upgrade`. `greeted` is called when the first message of a WebSocket has
 * arrived, and has not been refused.
 */
export type UpgradeListener = (
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  greeted?: () => void,
) => void

/**
 * @internal Makes WebSockets of requests for them.
 *
 * @param accept as that of `SocketTransport.listen`; it is also given `greeted`, which it is to call
 * @param maxMessageBytes largest message accepted; a connection with a larger one is closed with code 1009
 */
export function upgradeTo(
  accept: (socket: NodeSocket, remote: string, greeted: () => void) => void,
  maxMessageBytes: number,
): UpgradeListener {
  const bounds = { maxPayload: maxMessageBytes, closeTimeout: closingMs }
  const sockets = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false, WebSocket: NodeSocket },
    ...bounds,
  })
  sockets.on('wsClientError', ({ message }, connection) => refuseHandshake(connection, message))
  return (request, connection, head, greeted = () => {}) =>
    sockets.handleUpgrade(request, connection, head, (socket) => {
      // The connections of HTTP servers are of this type, also those of TLS.
      const net = connection as NetSocket
      socket.stand(net, false)
      accept(socket, net.remoteAddress ?? 'unknown', greeted)
    })
}

/** Answers a handshake that is not one of RFC 6455 with a code, and ends its connection. */
function refuseHandshake(connection: Duplex, reason: string): void {
  const answer = { error: { code: 'ERR_ARGUMENT', message: `the handshake of a WebSocket: ${reason}` } }
  const body = JSON.stringify(answer)
  const headers = [
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'sec-websocket-version: 13, 8',
  ]
  connection.once('finish', () => connection.destroy())
  connection.end(`HTTP/1.1 400 Refused\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Keeps connections that have not asked for a WebSocket from taking the places of those that do. The returned function
 * ends them.
 */
function limitWaiting(server: Server, most: number, clock: Clock): () => void {
  const waiting = new WaitingRoom<NetSocket>(most)
  const byName = new Map<string, NetSocket>()
  const limits = new Map<NetSocket, () => void>()
  const leave = (name: string, socket: NetSocket) => {
    waiting.leave(socket)
    limits.get(socket)?.()
    limits.delete(socket)
    if (byName.get(name) === socket) byName.delete(name)
  }
  server.on('connection', (socket: NetSocket) => {
    const name = nameOf(socket)
    byName.set(name, socket)
    limits.set(
      socket,
      limitTime(clock, introductionMs, () => void socket.destroy()),
    )
    socket.once('close', () => leave(name, socket))
    const displaced = waiting.enter(socket, socket.remoteAddress)
    displaced?.destroy()
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    const name = nameOf(socket)
    const entered = byName.get(name)
    if (entered !== undefined) leave(name, entered)
  })
  return () => {
    for (const socket of waiting.all) socket.destroy()
  }
}

/** Names a connection by its remote end: a socket of TLS has the addresses of the one below it. */
function nameOf({ remoteAddress, remotePort }: NetSocket): string {
  return `${remoteAddress} ${remotePort}`
}

function serverOf(tls: NodeTransportOptions['tls']): Server {
  // Node's checks count from the accept, and run before a request is read that came while this process computed. They
  // are off because `limitWaiting` limits the time. A TLS server takes 0 as its default.
  const checks = { headersTimeout: 0, requestTimeout: 0 }
  const handshakeTimeout = 2 ** 31 - 1
  if (tls === undefined) return createHttpServer(checks, refuseRequest)
  try {
    return createHttpsServer({ ...checks, handshakeTimeout, cert: tls.cert, key: tls.key }, refuseRequest)
  } catch (error) {
    throw new RankweaveError('ERR_FABRIC', `certificate and key are unusable: ${reasonText(error)}`, {
      cause: error,
    })
  }
}

/** Refuses a request that does not ask for a WebSocket. */
const refuseRequest: Parameters<typeof createHttpServer>[1] = (_request, response) => {
  response.writeHead(426, { connection: 'close', 'content-type': 'text/plain' })
  response.end('This port speaks WebSocket only.\n')
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The callback of `close` would wait for the WebSockets too.
    server.close()
    server.closeAllConnections()
    setImmediate(resolve)
  })
}

function cannotListen(host: string, port: number, error: Error): RankweaveError {
  return new RankweaveError('ERR_FABRIC', `cannot listen on ${host}:${port}: ${error.message}`, {
    cause: error,
  })
}
