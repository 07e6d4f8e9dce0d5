import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { NodeSocket } from '../../rendezvous/transport-node.js'
import type { WorldService } from '../worlds/world-service.js'
import type { ServiceContext } from './context.js'
import { errorAnswer } from './error-answer.js'

/** A socket that has not answered a ping when the next is due is ended: its host may be gone. */
const pingMs = 15_000

/**
 * Hands WebSockets at `/v1/worlds` to the worlds; what else wants to be one is refused before the handshake. Tokens come in the first
 * message, so that none is in a URL.
 *
 * @returns what ends the pings
 */
export function acceptSockets(
  server: Server,
  worlds: WorldService,
  { guard, limits }: Pick<ServiceContext, 'guard' | 'limits'>,
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
    net.on('error', () => {})
    const refusal = refusalOf(request, guard)
    if (refusal !== null) return refuse(net, refusal)
    sockets.handleUpgrade(request, net, head, (socket) => {
      socket.stand(request.socket)
      answered.set(socket, true)
      socket.on('pong', () => answered.set(socket, true))
      socket.on('close', () => answered.delete(socket))
      worlds.accept(socket, request.socket.remoteAddress ?? 'unknown')
    })
  })
  const timer = setInterval(() => {
    for (const [socket, isThere] of answered) {
      if (!isThere) {
        socket.terminate()
        continue
      }
      answered.set(socket, false)
      socket.ping()
    }
  }, pingMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Why a request is no socket of ours: an HTTP status; null if it is. */
function refusalOf(request: IncomingMessage, guard: ServiceContext['guard']): number | null {
  if (request.url?.split('?', 1)[0] !== '/v1/worlds') return 404
  try {
    guard.check(request)
    return null
  } catch (error) {
    return errorAnswer(error).status
  }
}

function refuse(net: Duplex, status: number): void {
  net.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}
