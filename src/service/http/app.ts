import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { jsonCommas, jsonDepth } from '../../base/json-depth.js'
import { maxMessageDepth } from '../../client/protocol/limits.js'
import { mountedWorldId, mountedWorldRequest } from '../../client/protocol/worlds.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import type { ServicePackages } from '../packages.js'
import { endWhenStalled, type ServiceContext } from './context.js'
import { endWith, errorAnswer, parsed } from './error-answer.js'
import {
  bearerOf,
  expectsContinueAlone,
  requireEncoding,
  requireExpectation,
  requireHost,
  toOriginForm,
} from './guard.js'
import type { ServiceMetrics } from './metrics.js'
import { addJobRoutes, addPlanRoutes } from './plan-routes.js'
import { RequestTurns } from './request-turns.js'
import { addStaticFiles, type StaticFile } from './static-files.js'
import { addTopologyRoutes } from './topology-routes.js'
import { wantsSocket } from './upgrades.js'
import { addViewRoutes } from './view-routes.js'

const params = z.strictObject({ id: mountedWorldId })

interface AppOptions {
  readonly packages: ServicePackages
  readonly context: ServiceContext
  readonly metrics: ServiceMetrics
  /** The files of the page, by path. */
  readonly files: ReadonlyMap<string, StaticFile>
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly logger: FastifyBaseLogger
}

/** Makes the routes of the service, and the checks that every request passes first. */
export function makeApp({ packages, context, metrics, files, tls, logger }: AppOptions): FastifyInstance {
  const { limits, tenants, guard, connections } = context
  const unread = new UnreadBytes(limits.unreadBytes)
  const headersTimeout = Math.min(limits.requestMs, 15_000)
  const checks = {
    headersTimeout,
    // The timeout for handshakes of TLS.
    handshakeTimeout: headersTimeout,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: 10_000,
    // A longer interval would notice a slow client half a minute late.
    connectionsCheckingInterval: Math.min(limits.requestMs, 1_000),
    // Requests without the header are refused with a code (requireHost).
    requireHostHeader: false,
  }
  const app = packages.fastify({
    serverFactory: (handle) => {
      const turns = new RequestTurns(limits.connectionRequests, handle)
      const take: typeof handle = (request, answer) => {
        toOriginForm(request)
        turns.take(request, answer)
      }
      return tls === undefined ? createServer(checks, take) : createTlsServer({ ...checks, ...tls }, take)
    },
    loggerInstance: logger,
    logController: new packages.LogController({ disableRequestLogging: true }),
    bodyLimit: limits.requestBytes,
    routerOptions: { maxParamLength: 100 },
    forceCloseConnections: 'idle',
    // The handler refuses requests before there is a route: paths that cannot be decoded.
    frameworkErrors: (error, _request, reply) => {
      const { status, answer } = errorAnswer(error)
      void (reply as unknown as FastifyReply).code(status).send(answer)
    },
    clientErrorHandler: refuseMalformed,
  }) as unknown as FastifyInstance
  // All headers are served again if an offer to upgrade is not taken up; their length is bounded.
  app.server.maxHeadersCount = 0
  // Node would refuse the expectation without a body.
  app.server.on('checkExpectation', (request, answer) => app.server.emit('request', request, answer))
  // Node would ask for the body of a request that expects something else as well.
  app.server.on('checkContinue', (request, answer) => {
    if (expectsContinueAlone(request.headers.expect)) answer.writeContinue()
    app.server.emit('request', request, answer)
  })

  const methodsAt = collectRoutes(app)
  readJsonBodies(app)
  app.setErrorHandler((error, request, reply) => {
    const { status, answer } = errorAnswer(error)
    if (status === 500) context.log.error({ path: pathOf(request.url), error: String(error) }, 'a bug')
    if (isRankweaveError(error, 'ERR_STORE'))
      context.log.error({ error: error.message }, 'the data cannot be read or written')
    context.store.suspect(error)
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    if (status === 503) reply.header('retry-after', '1')
    // The rest of a refused body is not read, nor the data behind a refused WebSocket. A client without its token has
    // no use for the connection, and one that expects something may send no body.
    if ([401, 413, 417].includes(status) || wantsSocket(request.raw)) reply.header('connection', 'close')
    return reply.code(status).send(answer)
  })
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsAt(pathOf(request.url))
    if (methods.length === 0 || wantsSocket(request.raw)) throw nothingAt(request)
    const message = `${request.method} is not for ${shortPath(request.url)}: expected ${methods.join(', ')}`
    const { answer } = errorAnswer(new RankweaveError('ERR_NOT_FOUND', message))
    return reply.code(405).header('allow', methods.join(', ')).send(answer)
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    requireHost(request.raw)
    requireExpectation(request.raw)
    if (request.url === '/healthz') return
    guard.check(request.raw)
    // Static files would answer it with the page.
    if (wantsSocket(request.raw) && pathOf(request.url) === '/') throw nothingAt(request)
    const { origin } = request.headers
    if (guard.isForeign(origin)) reply.headers({ 'access-control-allow-origin': origin, vary: 'origin' })
  })
  app.addHook('onSend', async (_request, reply) => {
    endWhenStalled(reply.raw, limits.requestMs)
  })
  app.addHook('onResponse', async (request, reply) => {
    const ms = reply.elapsedTime
    const route = request.routeOptions.url ?? 'none'
    metrics.request(request.method, route, reply.statusCode, ms)
    if (route === '/healthz') return
    const fields = { method: request.method, path: pathOf(request.url), status: reply.statusCode }
    context.log.info({ ...fields, ms: Math.round(ms), from: request.ip }, 'request')
  })

  app.get('/healthz', () => {
    const { problem } = context.store
    if (problem !== null) throw new RankweaveError('ERR_STORE', problem)
    return { status: 'ok' }
  })
  app.get('/metrics', async (request, reply) => {
    tenants.checkMetrics(bearerOf(request.raw))
    connections.trust(request.raw.socket)
    reply.type(metrics.contentType)
    return metrics.text()
  })
  // Pages of allowed origins ask before they send a token.
  app.options('/v1/*', (request, reply) => {
    if (!guard.isForeign(request.headers.origin))
      throw new RankweaveError('ERR_ORIGIN', 'expected an allowed origin')
    return reply
      .headers({
        'access-control-allow-methods': 'GET, POST, PUT, DELETE',
        'access-control-allow-headers': 'authorization, content-type, content-encoding',
        'access-control-max-age': '600',
      })
      .code(204)
      .send()
  })
  addStaticFiles(app, files)
  void app.register(
    async (v1) => {
      v1.addHook('onRequest', async (request) => {
        request.tenant = tenants.find(bearerOf(request.raw))
        connections.trust(request.raw.socket)
        requireEncoding(request.raw, request.routeOptions.url === '/v1/topologies')
      })
      v1.addHook('onSend', async ({ tenant }, reply, payload) => {
        const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
        if (isWhole && tenant) unread.add(tenant.id, reply.raw, Buffer.byteLength(payload))
        if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
      })
      addTopologyRoutes(v1, context)
      addPlanRoutes(v1, context)
      addJobRoutes(v1, context)
      v1.get('/worlds', ({ tenant }) => ({ worlds: context.worlds.list(tenant) }))
      addViewRoutes(v1, context)
      addRendezvousRoutes(v1, context)
    },
    { prefix: '/v1' },
  )
  return app
}

/**
 * Adds the routes of worlds of programs: opened, listed, ended. Their sockets are at `/v1/rendezvous` (upgrades.ts).
 */
function addRendezvousRoutes(app: FastifyInstance, { mounted }: ServiceContext): void {
  app.post('/rendezvous/worlds', (request, reply) =>
    reply.code(201).send(mounted.create(request.tenant, parsed(mountedWorldRequest, request.body))),
  )
  app.get('/rendezvous/worlds', ({ tenant }) => ({ worlds: mounted.list(tenant) }))
  app.get('/rendezvous/worlds/:id', (request) =>
    mounted.get(request.tenant, parsed(params, request.params).id),
  )
  app.delete('/rendezvous/worlds/:id', (request) =>
    mounted.end(request.tenant, parsed(params, request.params).id),
  )
}

/** Refuses data that are not HTTP, or do not arrive in time. */
function refuseMalformed(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  endWith(socket, status, { error: { code: 'ERR_ARGUMENT', message: 'the request is malformed, or late' } })
}

function nothingAt({ raw, method, url }: FastifyRequest): RankweaveError {
  const path = shortPath(url)
  const message = wantsSocket(raw)
    ? `there is no WebSocket at ${path}: members connect to /v1/worlds`
    : `there is no ${method} ${path}`
  return new RankweaveError('ERR_NOT_FOUND', message)
}

const shortPath = (url: string): string => pathOf(url).slice(0, 200)

/** Returns a function that lists the methods that routes have at a path; call it before routes are added. */
function collectRoutes(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly parts: readonly string[]; readonly methods: readonly string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ parts: url.split('/'), methods: [method].flat() })
  })
  return (path) => {
    const given = path.split('/')
    const found = routes.filter(
      ({ parts }) =>
        parts.length === given.length && parts.every((part, i) => part.startsWith(':') || part === given[i]),
    )
    return [...new Set(found.flatMap(({ methods }) => methods))].sort()
  }
}

/** Returns the path of a URL, without its query. */
function pathOf(url: string): string {
  return url.split('?', 1)[0]
}

/** The most commas between members and elements; a plan request with all its members has 12. */
const mostCommas = 64

/**
 * Reads bodies of the type `application/json`: nesting and commas are counted before they are parsed, and members that
 * name a prototype are refused.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    const expected = exceeded(body)
    if (expected === null)
      return parse(request, body, (error, value) =>
        done(error === null ? null : jsonError(error, body), value),
      )
    done(new RankweaveError('ERR_ARGUMENT', `request: expected ${expected}`))
  })
}

/** Returns the parser's refusal in our words; one of a member that names a prototype is unchanged. */
function jsonError(error: Error & { readonly code?: string }, body: string): Error {
  if (body === '') return new RankweaveError('ERR_ARGUMENT', 'request: expected a body of JSON, got none')
  if (error.code !== 'FST_ERR_CTP_INVALID_JSON_BODY') return error
  return wrongValue('ERR_ARGUMENT', 'request: expected a body of JSON', body.slice(0, 40))
}

/** Returns the bound that a body exceeds; null if it exceeds none. */
function exceeded(body: string): string | null {
  if (jsonDepth(body, maxMessageDepth) > maxMessageDepth) return `nesting of at most ${maxMessageDepth}`
  return jsonCommas(body, mostCommas) > mostCommas ? `at most ${mostCommas} commas between values` : null
}

/** The bytes up to which answers do not count: a connection has one at a time. */
const shortBytes = 2 ** 16

/**
 * Bounds the answers that are whole in memory while clients have not read them, by tenant. A tenant has one of any
 * length, and more of them up to so many bytes together. Files are sent piece by piece and need no bound. Memory:
 * `most` bytes for each tenant, or its longest answer, and 64 KiB for each connection.
 */
export class UnreadBytes {
  readonly #most: number
  readonly #bytes = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Counts an answer until its connection has taken it, or has closed.
   * @throws ERR_BUSY beyond the bound
   */
  add(tenant: string, answer: ServerResponse, bytes: number): void {
    // If the client left while its answer was made, no other `close` event comes.
    if (bytes <= shortBytes || answer.destroyed) return
    const before = this.#bytes.get(tenant) ?? 0
    if (before > 0 && before + bytes > this.#most)
      throw new RankweaveError(
        'ERR_BUSY',
        `expected at most ${this.#most} bytes of answers that were not read (unreadBytes)`,
      )
    this.#bytes.set(tenant, before + bytes)
    answer.once('close', () => {
      const left = this.#bytes.get(tenant)! - bytes
      if (left === 0) this.#bytes.delete(tenant)
      else this.#bytes.set(tenant, left)
    })
  }
}
