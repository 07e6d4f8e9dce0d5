import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import type { Tasks } from '../jobs/task.js'
import { exportQuery, planId, planRequest, scheduleQuery, simulationQuery } from '../protocol/http.js'
import type { PlanRecord } from '../store/records.js'
import type { Stored } from '../store/store.js'
import type { ServiceContext } from './context.js'
import { parsed } from './error-answer.js'

const params = z.strictObject({ id: planId })
const rankParams = z.strictObject({
  id: planId,
  rank: z
    .string()
    .regex(/^\d{1,8}$/)
    .transform(Number),
})

/** Plans: requested, listed, and in all their forms. */
export function addPlanRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { store, jobs, tasks, answers } = context

  /** The plan of a request, its schedule verified. @throws ERR_NOT_FOUND */
  const planOf = async (request: FastifyRequest, id: string): Promise<Stored<PlanRecord>> => {
    const stored = await store.verified('plans', request.tenant, id)
    if (stored !== undefined) return stored
    throw new RankweaveError('ERR_NOT_FOUND', `there is no plan ${id}`)
  }

  /** The answer of a worker about a plan, as JSON, computed once while it is remembered. */
  const answer = async <K extends 'simulation' | 'rank'>(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    kind: K,
    input: Omit<Tasks[K]['input'], 'schedule'>,
  ): Promise<string> => {
    const { path } = await planOf(request, id)
    const key = `${request.tenant.id}/${id}/${kind}/${JSON.stringify(input)}`
    const json = await answers.get(key, async () => {
      const task = { ...input, schedule: path } as Tasks[K]['input']
      return (await tasks.run(kind, task)).json
    })
    reply.type('application/json; charset=utf-8')
    return json
  }

  /** A text that a worker makes of a plan, as a stream of a file that is gone afterwards. */
  const text = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    form: Pick<Tasks['text']['input'], 'as' | 'bytes'>,
    type: string,
  ) => {
    const { path } = await planOf(request, id)
    const into = store.temporaryFile()
    const remove = () => void rm(into, { force: true }).catch(() => {})
    try {
      await tasks.run('text', { ...form, schedule: path, into })
    } catch (error) {
      remove()
      throw error
    }
    return sendFile(request, reply, into, type, remove)
  }

  app.post('/plans', async (request, reply) => {
    const { info } = await jobs.request(request.tenant, parsed(planRequest, request.body))
    return reply.code(info.state === 'done' ? 200 : 202).send(info)
  })
  app.get('/plans', ({ tenant }) => ({ plans: store.records('plans', tenant).map(({ info }) => info) }))
  app.get('/plans/:id', (request) => {
    const { id } = parsed(params, request.params)
    const stored = store.get('plans', request.tenant, id)
    if (stored === undefined) throw new RankweaveError('ERR_NOT_FOUND', `there is no plan ${id}`)
    return stored.record.info
  })
  app.delete('/plans/:id', async (request, reply) => {
    const { id } = parsed(params, request.params)
    if (!(await store.remove('plans', request.tenant, id)))
      throw new RankweaveError('ERR_NOT_FOUND', `there is no plan ${id}`)
    return reply.code(204).send()
  })
  app.get('/plans/:id/schedule', async (request, reply) => {
    const { id } = parsed(params, request.params)
    const { version } = parsed(scheduleQuery, request.query)
    const type = 'application/x-ndjson'
    if (version === '1') return text(request, reply, id, { as: 'version 1', bytes: null }, type)
    const { path } = await planOf(request, id)
    return sendFile(request, reply, path, type)
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

/** A file as it is, or compressed where the client takes that. */
function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  type: string,
  done: () => void = () => {},
) {
  const file = createReadStream(path)
  file.once('close', done)
  reply.type(type).header('vary', 'accept-encoding')
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file)
  const gzip = createGzip({ level: 1 })
  file.on('error', (error) => gzip.destroy(error))
  gzip.on('close', () => file.destroy())
  return reply.header('content-encoding', 'gzip').send(file.pipe(gzip))
}
