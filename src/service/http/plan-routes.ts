import { type FileHandle, open, rm } from 'node:fs/promises'
import { createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import {
  exportQuery,
  type JobInfo,
  jobId,
  listQuery,
  type PlanInfo,
  planId,
  planRequest,
  scheduleQuery,
  simulationQuery,
} from '../../client/protocol/http.js'
import { RankweaveError } from '../../errors.js'
import type { PlanReport } from '../../neighborhood/choose/plan-request.js'
import { isEnded } from '../jobs/jobs.js'
import { type Tasks, withStrategy } from '../jobs/task.js'
import { storing } from '../store/storing.js'
import { endWhenStalled, leaving, type ServiceContext } from './context.js'
import { parsed } from './error-answer.js'
import { listPage, notFound, readStored } from './stored-entries.js'

const params = z.strictObject({ id: planId })
const rankParams = z.strictObject({
  id: planId,
  rank: z
    .string()
    .regex(/^\d{1,8}$/, 'a rank from 0')
    .transform(Number),
})

/** Adds the routes of plans: requested, listed, and in all their forms. */
export function addPlanRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { store, jobs, tasks, answers } = context

  /** Returns the answer of a worker about a plan, as JSON, computed once while it is remembered. */
  const answer = <K extends 'simulation' | 'rank'>(
    { tenant }: FastifyRequest,
    reply: FastifyReply,
    id: string,
    kind: K,
    input: Omit<Tasks[K]['input'], 'schedule'>,
  ): Promise<string> =>
    readStored(store, 'plans', tenant, id, async ({ path }) => {
      const key = `${tenant.id}/${id}/${kind}/${JSON.stringify(input)}`
      const compute = async (signal: AbortSignal) => {
        const task = { ...input, schedule: path } as Tasks[K]['input']
        return (await tasks.run(kind, task, { tenant: tenant.id, signal })).json
      }
      const json = await answers.get(key, compute, leaving(reply))
      reply.type('application/json; charset=utf-8')
      return json
    })

  /** Streams what a worker writes, from a file whose name is already removed. */
  const written = async (
    { request, reply, type }: Answered,
    write: (into: string, options: Parameters<typeof tasks.run>[2]) => Promise<unknown>,
  ) => {
    const into = store.temporaryFile()
    try {
      await write(into, { tenant: request.tenant.id, signal: leaving(reply) })
      return sendFile(request, reply, await openStored(into), type)
    } finally {
      await rm(into, { force: true }).catch(() => {})
    }
  }

  /** Streams a text that a worker makes of a plan. */
  const text = (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    form: Pick<Tasks['text']['input'], 'as' | 'bytes'>,
    type: string,
  ) =>
    readStored(store, 'plans', request.tenant, id, ({ path }) =>
      written({ request, reply, type }, (into, options) =>
        tasks.run('text', { ...form, schedule: path, into }, options),
      ),
    )

  // Pictures of plans (view-routes.ts) are routes of the same scope.
  app.addHook('preHandler', async ({ tenant, routeOptions: { url = '' }, params: given }) => {
    if (url.includes('/plans/:id')) jobs.requireMade(tenant, (given as { readonly id: string }).id)
  })
  app.post('/plans', async (request, reply) => {
    const asked = withStrategy(parsed(planRequest, request.body))
    const { info } = await jobs.request(request.tenant, asked)
    return reply.code(info.state === 'done' ? 200 : 202).send(info)
  })
  app.get('/plans', ({ tenant, query }) => {
    const all = store.records('plans', tenant).map(({ info }) => info)
    const { page: plans, next } = listPage(all, parsed(listQuery, query))
    return { plans, next }
  })
  app.get('/plans/:id', (request) => {
    const { id } = parsed(params, request.params)
    const stored = store.get('plans', request.tenant, id)
    if (stored === undefined) throw notFound('plans', id)
    return stored.record.info
  })
  app.delete('/plans/:id', async (request, reply) => {
    const { id } = parsed(params, request.params)
    if (!(await store.remove('plans', request.tenant, id))) throw notFound('plans', id)
    return reply.code(204).send()
  })
  app.get('/plans/:id/schedule', async (request, reply) => {
    const { id } = parsed(params, request.params)
    const { version } = parsed(scheduleQuery, request.query)
    const type = 'application/x-ndjson'
    if (version === '1') return text(request, reply, id, { as: 'version 1', bytes: null }, type)
    const file = await readStored(store, 'plans', request.tenant, id, ({ path }) => openStored(path))
    return sendFile(request, reply, file, type)
  })
  app.get('/plans/:id/mapping', (request, reply) => {
    const { tenant } = request
    const { id } = parsed(params, request.params)
    const info = store.get('plans', tenant, id)?.record.info
    if (info === undefined) throw notFound('plans', id)
    const { topology, machine } = info.request
    if (!isMapped(info) || machine === undefined)
      throw new RankweaveError('ERR_NOT_FOUND', `plan ${id} has no mapping: its rank v is vertex v`)
    return readStored(
      store,
      'topologies',
      tenant,
      topology,
      ({ record: { info: uploaded, ranks }, path }) => {
        const upload = { path, format: uploaded.format, ranks }
        const type = 'application/json; charset=utf-8'
        return written({ request, reply, type }, (into, options) =>
          tasks.run('mapping', { upload, machine, into }, options),
        )
      },
    )
  })
  app.get('/plans/:id/export', async (request, reply) => {
    const { id } = parsed(params, request.params)
    const { as, bytes = null } = parsed(exportQuery, request.query)
    return text(request, reply, id, { as, bytes }, 'text/plain; charset=utf-8')
  })
  app.get('/plans/:id/simulation', (request, reply) => {
    const { id } = parsed(params, request.params)
    return answer(request, reply, id, 'simulation', parsed(simulationQuery, request.query))
  })
  app.get('/plans/:id/ranks/:rank', (request, reply) => {
    const { id, rank } = parsed(rankParams, request.params)
    return answer(request, reply, id, 'rank', { rank })
  })
}

/** A request, and its answer of a media type. */
interface Answered {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly type: string
}

/** Returns whether the ranks of a plan are slots. */
function isMapped({ statistics }: PlanInfo): boolean {
  return (statistics['mapping'] as PlanReport['mapping'])?.isMapped === true
}

/** Opens a file that can be read to its end, even when it is removed. @throws ERR_STORE */
function openStored(path: string): Promise<FileHandle> {
  return storing(() => open(path, 'r'))
}

/** Sends a file, unchanged or compressed if the client accepts that. */
function sendFile(request: FastifyRequest, reply: FastifyReply, handle: FileHandle, type: string) {
  const file = handle.createReadStream()
  reply.type(type).header('vary', 'accept-encoding')
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file)
  const gzip = createGzip({ level: 1 })
  file.on('error', (error) => gzip.destroy(error))
  gzip.on('close', () => file.destroy())
  return reply.header('content-encoding', 'gzip').send(file.pipe(gzip))
}

const jobParams = z.strictObject({ id: jobId })

/** The characters by which a slow reader may be behind; of states meanwhile it gets only the last one. */
const mostBehind = 1 << 16

/** Adds the routes of jobs: their state, their events, and their end. */
export function addJobRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { jobs, limits } = context
  /** The number of open streams of events, by tenant. */
  const open = new Map<string, number>()

  app.get('/jobs/:id', (request) => jobs.get(request.tenant, parsed(jobParams, request.params).id))
  app.delete('/jobs/:id', (request) => jobs.cancel(request.tenant, parsed(jobParams, request.params).id))
  app.get('/jobs/:id/events', (request, reply) => {
    const { tenant } = request
    const { id } = parsed(jobParams, request.params)
    const first = jobs.get(tenant, id)
    const streams = open.get(tenant.id) ?? 0
    if (streams >= limits.eventStreams)
      throw new RankweaveError('ERR_BUSY', `expected at most ${limits.eventStreams} streams (eventStreams)`)
    open.set(tenant.id, streams + 1)
    const headers = {
      ...reply.getHeaders(),
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    }
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, headers as Record<string, string>)
    const tell = (info: JobInfo) => {
      const line = `data: ${JSON.stringify(info)}\n\n`
      if (isEnded(info.state)) {
        endWhenStalled(raw, limits.requestMs)
        raw.end(line)
      } else if (raw.writableLength < mostBehind) raw.write(line)
    }
    const stop = jobs.watch(tenant, id, tell)
    raw.once('close', () => {
      stop()
      const left = open.get(tenant.id)! - 1
      if (left === 0) open.delete(tenant.id)
      else open.set(tenant.id, left)
    })
    tell(first)
  })
}
