import { type AddressInfo, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, realClock } from '../../base/clock.js'
import { checkOptions, givenOptions, withDefaults } from '../../base/option-table.js'
import { type ServiceLimits, serviceLimits } from '../../client/protocol/limits.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { pageFile } from '../../package-paths.js'
import { Jobs } from '../jobs/jobs.js'
import { WorkerPool } from '../jobs/worker-pool.js'
import { importPackages } from '../packages.js'
import { rehearseOpening } from '../store/database.js'
import { Store } from '../store/store.js'
import { Tenants } from '../tenant.js'
import { MountedWorlds } from '../worlds/mounted-worlds.js'
import { WorldService } from '../worlds/world-service.js'
import { AnswerCache } from './answer-cache.js'
import { makeApp } from './app.js'
import { Connections } from './connections.js'
import type { ServiceContext } from './context.js'
import { Guard, isLoopback } from './guard.js'
import { ServiceMetrics } from './metrics.js'
import { filesOf } from './static-files.js'
import { acceptSockets } from './upgrades.js'

export interface ServeOptions {
  /** The folder of the service's data, made if it does not exist. One service at a time uses it. */
  readonly data: string
  /** The address to listen on. Default `127.0.0.1`. Another address needs tokens. */
  readonly host?: string
  /** The port. Default 0: any that is free. */
  readonly port?: number
  /** The tokens, one per tenant. Default: none, for programs and pages of this host only. */
  readonly tokens?: readonly string[] | null
  /**
   * The token that shows `/metrics`, of all tenants, and nothing else. Default: none, so with `tokens` no client may
   * read it.
   */
  readonly metricsToken?: string | null
  readonly tls?: { readonly cert: string; readonly key: string }
  /** The URL by which clients reach it, if not where it listens. */
  readonly publicUrl?: string
  readonly allowedOrigins?: readonly string[]
  readonly limits?: Partial<ServiceLimits>
  /** The logger. Default: JSON lines on standard error. */
  readonly logger?: FastifyBaseLogger
  /** @internal The clock for pings of members. Default: the time of this machine. */
  readonly pingClock?: Clock
}

/** A service that runs. */
export interface Service {
  readonly url: string
  readonly tenants: number
  /**
   * Accepts no more requests, lets running jobs end for `graceMs` (default 10 s), and releases port and data. Accepted
   * jobs that have not ended are on the disk, and continue when the service is started again.
   */
  close(graceMs?: number): Promise<void>
}

const defaultGraceMs = 10_000

/**
 * Starts the service.
 *
 * @throws ERR_USAGE for an address beyond this host without tokens, and for invalid origins
 * @throws ERR_SERVICE_PACKAGE, ERR_TOKEN for malformed tokens, ERR_STORE for data that cannot be used
 * @throws ERR_FABRIC when the address cannot be listened on, or certificate and key are no pair
 */
export async function serve(options: ServeOptions): Promise<Service> {
  const {
    data,
    host = '127.0.0.1',
    port = 0,
    tls,
    tokens = null,
    metricsToken,
    publicUrl,
    allowedOrigins = [],
  } = options
  if (tokens === null && !isLoopback(host))
    throw new RankweaveError('ERR_USAGE', `${host}: expected tokens, as it is not a loopback address`)
  const limits = limitsOf(options.limits)
  const packages = await importPackages()
  const { pino } = packages
  const logger = options.logger ?? pino({ level: 'info' }, pino.destination(2))
  const tenants = new Tenants(tokens, metricsToken, () =>
    logger.warn(
      'a client sent a token, but every client is served: start with --token-file to demand tokens',
    ),
  )
  const isBehindTls = tls !== undefined || publicUrl?.startsWith('https:') === true
  if (!isLoopback(host) && !isBehindTls)
    logger.warn(`without TLS, tokens travel readable to ${host}: use --tls-cert, or a proxy and --public-url`)
  const guard = new Guard({ host, isTls: tls !== undefined, publicUrl, allowedOrigins })
  await rehearseOpening(join(data, 'records'))
  const store = await Store.open(data, limits, logger)
  const settings = { ...limits, arraysMb: limits.jobArraysMb }
  const pool = (threads: number, waiting: number) =>
    new WorkerPool({ threads, waiting, heapMb: limits.jobHeapMb, seconds: limits.jobSeconds, settings })
  // The pool accepts as many of a tenant as `Jobs` hands over at a time.
  const planning = pool(limits.workers, limits.workers)
  const tasks = pool(1, limits.queuedTasks)
  const jobs = new Jobs({ store, pool: planning, limits, log: logger })
  const worlds = new WorldService({
    tenants,
    log: logger,
    limits: {
      maxSockets: limits.connections,
      maxWorlds: limits.worlds,
      maxMembers: limits.members,
      maxCallsInFlight: limits.callsInFlight,
      maxMessageBytes: limits.messageBytes,
    },
  })
  const mounted = new MountedWorlds({ rendezvous: worlds.rendezvous, limits, log: logger })
  const metrics = new ServiceMetrics(packages, {
    jobs_queued: { help: 'Jobs that wait.', value: () => jobs.queued },
    jobs_running: { help: 'Jobs that run.', value: () => jobs.running },
    jobs_done: { help: 'Plans that were made.', value: () => jobs.ended.done },
    jobs_failed: { help: 'Jobs that failed.', value: () => jobs.ended.failed },
    jobs_cancelled: { help: 'Jobs that were cancelled.', value: () => jobs.ended.cancelled },
    tasks_waiting: { help: 'Uploads and answers that wait for a thread.', value: () => tasks.waiting },
    worlds: { help: 'Worlds of members that ask.', value: () => worlds.metrics().worlds },
    mounted_worlds: { help: 'Worlds of programs.', value: () => mounted.open },
    world_sockets: { help: 'Their sockets.', value: () => worlds.metrics().sockets },
    member_messages: {
      help: 'Messages of programs that wait for members.',
      value: () => worlds.waiting().messages,
    },
    member_message_bytes: {
      help: 'Bytes of their data in the service.',
      value: () => worlds.waiting().bytes,
    },
    member_queue_longest: {
      help: 'The most that have waited for one member on one communicator, in worlds that run.',
      value: () => worlds.waiting().longest,
    },
    data_bytes: { help: 'Bytes below the data folder.', value: () => store.bytes },
  })
  const context: ServiceContext = {
    ...{ store, jobs, tasks, worlds, mounted, limits, tenants, guard, log: logger },
    connections: new Connections(limits, tenants.needToken),
    ...{ answers: new AnswerCache(limits.answerBytes), now: () => new Date() },
  }
  const release = async () => {
    await Promise.all([planning.close(), tasks.close()])
    metrics.close()
    await store.close()
  }
  let app: FastifyInstance
  let endPings = () => {}
  try {
    const files = filesOf(webFolder())
    app = makeApp({ packages, context, metrics, files, tls, logger })
    context.connections.watch(app.server)
    endPings = acceptSockets(app.server, context, options.pingClock ?? realClock)
    await jobs.resume()
    await app.listen({ host, port })
  } catch (cause) {
    endPings()
    await release()
    throw cause instanceof RankweaveError
      ? cause
      : new RankweaveError(
          'ERR_FABRIC',
          `cannot listen on ${host}:${port}${isTaken(cause) ? ' (give another --port)' : ''}: ${reasonText(cause)}`,
          { cause },
        )
  }
  let closing: Promise<void> | undefined
  return {
    url: urlOf(app, host, tls !== undefined),
    tenants: tenants.count,
    close(graceMs = defaultGraceMs) {
      closing ??= (async () => {
        const served = app.close()
        // Closing the worlds also closes the rendezvous, which worlds of programs use.
        await worlds.close()
        endPings()
        await jobs.close(graceMs)
        await release()
        app.server.closeAllConnections()
        context.connections.close()
        await served
      })()
      return closing
    },
  }
}

const isTaken = (cause: unknown) => (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'

/** Returns the folder of the page, if the package has it. */
function webFolder(): string {
  return fileURLToPath(new URL('.', pageFile('index.html')))
}

function urlOf(app: FastifyInstance, host: string, isTls: boolean): string {
  const { port } = app.server.address() as AddressInfo
  return `${isTls ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** @throws ERR_USAGE for an unknown limit, one that is not a positive integer, or one beyond its bound */
function limitsOf(given: Partial<ServiceLimits> = {}): ServiceLimits {
  checkOptions('limits', serviceLimits, given, 'ERR_USAGE')
  const workers = Math.max(1, Math.min(serviceLimits.workers.default, availableParallelism() - 1))
  return withDefaults(serviceLimits, { workers, ...givenOptions(given) })
}
