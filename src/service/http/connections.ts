import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ServiceLimits } from '../../client/protocol/limits.js'
import { AddressShares } from '../../websocket/socket/address-limits.js'

/** The milliseconds that a client has to read the last words of a connection. */
const lastWordsMs = 1_000
/** The milliseconds without traffic after which TCP asks whether the client's host is present. */
const idleMs = 15_000

/** Names a connection: the socket above one of TLS has the same addresses. */
const nameOf = ({ localAddress, remoteAddress, remotePort }: Socket) =>
  `${localAddress} ${remoteAddress} ${remotePort}`

/**
 * The connections of a service, from their first byte to their last. Each address has at most `addressConnections`,
 * loopback exempted. If the service has tokens, a quarter of `connections` is for clients that have shown one. When a
 * stranger arrives and strangers have no place left, the oldest stranger is cut off. So a client that shows its token
 * soon gets in, even while silent connections fill all other places. Memory: an entry per connection.
 */
export class Connections {
  readonly #most: number
  readonly #reserved: number
  readonly #shares: AddressShares
  readonly #needToken: boolean
  /** The connections that have shown no token, by name, the oldest first; the others follow. */
  readonly #strangers = new Map<string, Socket>()
  readonly #trusted = new Map<string, Socket>()

  constructor(limits: Pick<ServiceLimits, 'connections' | 'addressConnections'>, needToken: boolean) {
    this.#most = limits.connections
    this.#reserved = Math.floor(limits.connections / 4)
    this.#shares = new AddressShares(limits.addressConnections)
    this.#needToken = needToken
  }

  watch(server: Pick<Server, 'on'>): void {
    server.on('connection', (socket) => this.#arrived(socket))
  }

  /** Notes that the client has shown a valid token on the connection. */
  trust(connection: Socket): void {
    const name = nameOf(connection)
    const socket = this.#strangers.get(name)
    if (socket === undefined) return
    this.#strangers.delete(name)
    this.#trusted.set(name, socket)
  }

  /** Cuts off all connections that have not closed soon. */
  close(): void {
    for (const socket of [...this.#strangers.values(), ...this.#trusted.values()]) destroySoon(socket)
  }

  #arrived(socket: Socket): void {
    const name = nameOf(socket)
    // The service has handed the connection to HTTP again.
    if (this.#strangers.get(name) === socket || this.#trusted.get(name) === socket) return
    const { remoteAddress } = socket
    if (remoteAddress === undefined || !this.#shares.take(remoteAddress)) {
      socket.destroy()
      return
    }
    const [strangers, trusted] = [this.#strangers, this.#trusted]
    const places = this.#needToken ? strangers : trusted
    places.set(name, socket)
    socket.setKeepAlive(true, idleMs)
    socket.once('close', () => {
      this.#shares.give(remoteAddress)
      for (const sockets of [strangers, trusted]) if (sockets.get(name) === socket) sockets.delete(name)
    })
    const left = this.#most - (this.#needToken ? Math.max(this.#reserved, trusted.size) : 0)
    if (places.size <= left) return
    const [oldest] = strangers.values()
    ;(oldest ?? socket).destroy()
  }
}

/** Sends the last words on a connection, and destroys it soon, whether or not the client closes it. */
export function endSoon(connection: Duplex, lastWords: string): void {
  connection.on('error', () => {})
  connection.end(lastWords)
  // Reading the client's later data keeps them from turning the words into a reset.
  connection.resume()
  destroySoon(connection)
}

function destroySoon(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), lastWordsMs)
  timer.unref()
  connection.once('close', () => clearTimeout(timer))
}
