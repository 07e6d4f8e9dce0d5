import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { Lane } from './proxy-lane.js'
import { type ProxyRoute, routedUrl, routeOf } from './proxy-route.js'

export interface TcpProxyOptions {
  /** Delay of every byte, in each direction, in milliseconds. Default 0. */
  readonly latencyMs?: number
  /** The address of a proxy of messages that every connection passes, too. */
  readonly through?: string
  /** Called for every connection before its first byte passes: a fault can be set at once. */
  readonly connected?: (connection: ProxiedConnection) => void
}

/** Longest head of a request that is read. */
const maxHeadBytes = 16 * 1024

/**
 * Passes bytes between sockets, and fails to as told: latency, lost connections, half-open ones, slow
 * readers, streams that end in the middle of a frame. It reads the head of the WebSocket request to learn the
 * route, and nothing after it.
 */
export class TcpProxy {
  readonly url: string
  readonly #server: Server
  readonly #options: TcpProxyOptions
  readonly #connections = new Set<ProxiedConnection>()

  private constructor(server: Server, options: TcpProxyOptions) {
    this.#server = server
    this.#options = options
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
    server.on('connection', (socket) => this.#accept(socket, Buffer.alloc(0), undefined))
  }

  static async start(options: TcpProxyOptions = {}): Promise<TcpProxy> {
    const server = createServer({ noDelay: true, allowHalfOpen: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, options)
  }

  /** The address that leads to `target` through this proxy. */
  through(target: string, link: string): string {
    return routedUrl(this.url, { target, link })
  }

  /** Connections that are open, those of one link if given. */
  connections(link?: string): ProxiedConnection[] {
    return [...this.#connections].filter((connection) => link === undefined || connection.link === link)
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  /** Leads a connection that somebody else has accepted, of which `bytes` were read. */
  lead(client: Socket, bytes: Buffer, route: ProxyRoute): void {
    this.#accept(client, bytes, route)
  }

  #accept(client: Socket, bytes: Buffer, given: ProxyRoute | undefined): void {
    readHead(client, bytes, (head) => {
      const line = head.subarray(0, head.indexOf('\r\n')).toString('latin1')
      const [method, path, protocol] = line.split(' ')
      const route =
        given === undefined ? routeOf(path) : { ...given, target: new URL(path, given.target).href }
      if (route === undefined) {
        client.destroy()
        return
      }
      // By way of the proxy of messages, which finds the route in the path.
      const { through } = this.#options
      const url = new URL(through === undefined ? route.target : routedUrl(through, route))
      const server = createConnection({
        host: url.hostname,
        port: Number(url.port),
        noDelay: true,
        allowHalfOpen: true,
      })
      const connection = new ProxiedConnection(route.link, client, server, this.#options.latencyMs ?? 0)
      this.#connections.add(connection)
      client.once('close', () => this.#connections.delete(connection))
      this.#options.connected?.(connection)
      connection.toServer.pass(Buffer.from(`${method} ${url.pathname}${url.search} ${protocol}`, 'latin1'))
      connection.toServer.pass(head.subarray(line.length))
    })
  }
}

/** Two sockets and what passes between them. */
export class ProxiedConnection {
  readonly link: string
  readonly toServer: Lane
  readonly toClient: Lane
  readonly #sockets: readonly [Socket, Socket]

  constructor(link: string, client: Socket, server: Socket, latencyMs: number) {
    this.link = link
    this.#sockets = [client, server]
    this.toServer = new Lane(client, server, latencyMs)
    this.toClient = new Lane(server, client, latencyMs)
    for (const socket of this.#sockets) {
      // What a socket reports is passed on by its lane's end, or by nobody while the connection is half open.
      socket.on('error', () => {})
      socket.once('close', () => this.#ended())
    }
    client.resume()
  }

  /** Half open from now on: nothing passes in either direction, also no end of the connection. */
  stall(): void {
    this.toServer.stall()
    this.toClient.stall()
  }

  /** Loses the connection: both ends are reset at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  #ended(): void {
    if (this.toServer.isStalled || this.toClient.isStalled) return
    if (!this.#sockets.some(({ destroyed }) => destroyed)) return
    // After what is still on its way.
    const [client, server] = this.#sockets
    this.toServer.afterAll(() => server.destroySoon())
    this.toClient.afterAll(() => client.destroySoon())
  }
}

/**
 * Lets so many more bytes pass to each end of these connections. The first end that has them loses its
 * connection, in the middle of whatever that was, and all the others with it: a connection on which nothing
 * happens to pass would survive.
 */
export function cutTogetherAfter(connections: readonly ProxiedConnection[], bytes: number): void {
  const cutAll = () => {
    for (const connection of connections) connection.cut()
  }
  for (const { toServer, toClient } of connections) {
    toServer.endAfter(bytes, cutAll)
    toClient.endAfter(bytes, cutAll)
  }
}

/** Calls back with all that has arrived once the head of a request is among it. */
function readHead(socket: Socket, before: Buffer, whole: (bytes: Buffer) => void): void {
  let bytes = before
  const more = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.indexOf('\r\n\r\n') >= 0) {
      socket.off('data', more).pause()
      whole(bytes)
    } else if (bytes.length > maxHeadBytes) socket.destroy()
  }
  socket.on('data', more)
  socket.on('error', () => {})
  socket.resume()
  more(Buffer.alloc(0))
}
