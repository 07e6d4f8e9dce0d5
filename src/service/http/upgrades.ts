import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { WebSocketServer } from 'ws'
import type { Clock } from '../../base/clock.js'
import { RankweaveError } from '../../errors.js'
import { NodeSocket } from '../../websocket/socket/transport-nodejs.js'
import type { ServiceContext } from './context.js'
import { endWith, errorAnswer, type Refusal } from './error-answer.js'

/**
 * Hands WebSockets at `/v1/worlds` to worlds of members, and those at `/v1/rendezvous` to worlds of
 * programs; what else wants to be one is refused before the handshake. Tokens come in the first message, so
 * that none is in a URL.
 *
 * A socket of a member that has not answered a ping when the next is due is ended: its host may be gone.
 * Programs send heartbeats.
 *
 * @param clock when to ping
 * @returns what ends the pings
 */
export function acceptSockets(
  server: Server,
  { guard, limits, worlds, mounted }: Pick<ServiceContext, 'guard' | 'limits' | 'worlds' | 'mounted'>,
  clock: Clock,
): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytes,
    WebSocket: NodeSocket,
  })
  /** Whether each has answered the last ping. */
  const answered = new Map<NodeSocket, boolean>()
  server.on('upgrade', (request, net, head) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket')
      return withoutUpgrade(server, request, net, head)
    net.on('error', () => {})
    const refusal = refusalOf(request, guard)
    if (refusal !== null) return endWith(net, refusal)
    if (pathOf(request) === '/v1/rendezvous') return mounted.upgrade(request, net, head)
    sockets.handleUpgrade(request, net, head, (socket) => {
      socket.stand(request.socket, false)
      answered.set(socket, true)
      socket.on('pong', () => answered.set(socket, true))
      socket.on('close', () => answered.delete(socket))
      worlds.accept(socket, request.socket.remoteAddress ?? 'unknown')
    })
  })
  const ping = () => {
    for (const [socket, isThere] of answered) {
      if (!isThere) {
        socket.terminate()
        continue
      }
      answered.set(socket, false)
      socket.ping()
    }
    cancel = clock.later(limits.pingMs, ping)
  }
  let cancel = clock.later(limits.pingMs, ping)
  return () => cancel()
}

/**
 * An offer to speak another protocol, such as HTTP/2, which clients of some languages make with every
 * request: it is not taken up, and the request is served as if it had not been made.
 */
function withoutUpgrade(server: Server, request: IncomingMessage, net: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(upgrade|connection|http2-settings)$/i.test(rawHeaders[at]))
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  net.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit(net instanceof TLSSocket ? 'secureConnection' : 'connection', net)
}

const paths = ['/v1/worlds', '/v1/rendezvous']
const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0]

/** Why a request is no socket of ours; null if it is. */
function refusalOf(request: IncomingMessage, guard: ServiceContext['guard']): Refusal | null {
  if (!paths.includes(pathOf(request)))
    return errorAnswer(new RankweaveError('ERR_NOT_FOUND', `expected a WebSocket at ${paths.join(' or ')}`))
  try {
    guard.check(request)
    return null
  } catch (error) {
    return errorAnswer(error)
  }
}
