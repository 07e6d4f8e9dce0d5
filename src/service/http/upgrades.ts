import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/clock.js'
import { isRankweaveError } from '../../errors.js'
import { type NodeSocket, upgradeTo } from '../../websocket/socket/transport-nodejs.js'
import type { ServiceContext } from './context.js'
import { endWith } from './error-answer.js'
import { requireHost, toOriginForm } from './guard.js'

/**
 * Hands WebSockets at `/v1/worlds` to worlds of members, and those at `/v1/rendezvous` to worlds of programs. Other
 * offers to upgrade are served as requests, which refuses them before the handshake. A CONNECT is refused. Tokens come
 * in the first message, so that none is in a URL. All of this waits for the answers to earlier requests on the
 * connection. A socket of a member that has not answered two pings in a row when the third is due is ended, after two
 * to three intervals: its host may be gone. Programs send heartbeats.
 *
 * @param clock when to ping
 * @returns a function that ends the pings
 */
export function acceptSockets(
  server: Server,
  context: Pick<ServiceContext, 'guard' | 'limits' | 'worlds' | 'mounted' | 'connections'>,
  clock: Clock,
): () => void {
  const { guard, limits, worlds, mounted, connections } = context
  /** The number of pings that each socket has not answered. */
  const unanswered = new Map<NodeSocket, number>()
  const toWorlds = upgradeTo((socket, remote, greeted) => {
    unanswered.set(socket, 0)
    socket.on('pong', () => unanswered.set(socket, 0))
    socket.on('close', () => unanswered.delete(socket))
    worlds.accept(socket, remote, greeted)
  }, limits.messageBytes)
  /** The answers that each connection has not taken completely, the oldest first. */
  const answers = new WeakMap<Duplex, Set<ServerResponse>>()
  server.on('request', ({ socket }, answer) => {
    const open = answers.get(socket) ?? new Set()
    answers.set(socket, open.add(answer))
    answer.once('close', () => open.delete(answer))
  })
  server.on('upgrade', (request, connection, head) => {
    // The connections of HTTP servers are sockets, also those of TLS.
    const net = connection as Socket
    const target = request.url ?? ''
    toOriginForm(request)
    afterAnswers(answers.get(net) ?? new Set(), net, head, (first) => {
      const upgrade = pathOf(request) === '/v1/rendezvous' ? mounted.upgrade : toWorlds
      if (isWelcome(request, guard)) upgrade(request, net, first, () => connections.trust(net))
      else withoutUpgrade(server, request, target, net, first)
    })
  })
  // Node would close the connection of a CONNECT without an answer.
  server.on('connect', (_, connection, head) => {
    const net = connection as Socket
    const message = 'the service refuses CONNECT: it is not a proxy'
    afterAnswers(answers.get(net) ?? new Set(), net, head, () =>
      endWith(net, 404, { error: { code: 'ERR_NOT_FOUND', message } }),
    )
  })
  const ping = () => {
    for (const [socket, pings] of unanswered) {
      if (pings === mostUnanswered) {
        socket.terminate()
        continue
      }
      unanswered.set(socket, pings + 1)
      socket.ping()
    }
    cancel = clock.later(limits.pingMs, ping)
  }
  let cancel = clock.later(limits.pingMs, ping)
  return () => cancel()
}

/** A limit of one would end a member that stalls for little more than an interval, if a ping falls into its stall. */
const mostUnanswered = 2

const ignore = () => {}

/**
 * Calls `act` when a connection that HTTP has let go has taken all answers; never if it breaks before.
 *
 * @param head bytes of it that were read already; `act` gets all bytes to read first
 */
function afterAnswers(
  open: ReadonlySet<ServerResponse>,
  net: Socket,
  head: Buffer,
  act: (head: Buffer) => void,
): void {
  if (!net.listeners('error').includes(ignore)) net.on('error', ignore)
  const last = [...open].at(-1)
  if (last === undefined) {
    act(head)
    return
  }
  // HTTP no longer passes these events to the answers that are being written.
  const [drain, timeout] = ['drain', 'timeout'].map((event) => () => {
    const [current] = open
    current?.emit(event)
  })
  net.unshift(head)
  // Bytes that arrive meanwhile are kept, up to the buffer of the connection.
  net.on('drain', drain).on('timeout', timeout).on('readable', ignore)
  last.once('close', () => {
    net.off('drain', drain).off('timeout', timeout).off('readable', ignore)
    net.setTimeout(0)
    if (net.writable) act(Buffer.alloc(0))
    else net.destroy()
  })
}

/**
 * Serves a request as if it had made no offer to speak another protocol. Clients of some languages offer HTTP/2 with
 * every request, and others a WebSocket where there is none. No header may be left that makes it an offer: Node reads
 * `Proxy-Connection` as it reads `Connection`.
 *
 * @param target as it arrived, perhaps in absolute form
 */
function withoutUpgrade(
  server: Server,
  { method, httpVersion, rawHeaders }: IncomingMessage,
  target: string,
  net: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${target} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at], rawHeaders[at + 1]]
    const kept = /^connection$/i.test(name) ? value.replace(/\b(upgrade|http2-settings)\b/gi, '') : value
    if (!/^(http2-settings|proxy-connection)$/i.test(name)) lines.push(`${name}: ${kept}`)
  }
  net.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit(net instanceof TLSSocket ? 'secureConnection' : 'connection', net)
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0]

export const wantsSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Returns whether a request opens a socket of ours. */
function isWelcome(request: IncomingMessage, guard: ServiceContext['guard']): boolean {
  if (!wantsSocket(request) || !['/v1/worlds', '/v1/rendezvous'].includes(pathOf(request))) return false
  try {
    requireHost(request)
    guard.check(request)
    return true
  } catch (error) {
    if (isRankweaveError(error)) return false
    throw error
  }
}
