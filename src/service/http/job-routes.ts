import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { type JobInfo, jobId } from '../../client/protocol/http.js'
import { RankweaveError } from '../../errors.js'
import { isEnded } from '../jobs/jobs.js'
import { endWhenStalled, type ServiceContext } from './context.js'
import { parsed } from './error-answer.js'

const params = z.strictObject({ id: jobId })

/** The characters by which a slow reader may be behind; of states meanwhile it gets only the last one. */
const mostBehind = 1 << 16

/** Adds the routes of jobs: their state, their events, and their end. */
export function addJobRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { jobs, limits } = context
  /** The number of open streams of events, by tenant. */
  const open = new Map<string, number>()

  app.get('/jobs/:id', (request) => jobs.get(request.tenant, parsed(params, request.params).id))
  app.delete('/jobs/:id', (request) => jobs.cancel(request.tenant, parsed(params, request.params).id))
  app.get('/jobs/:id/events', (request, reply) => {
    const { tenant } = request
    const { id } = parsed(params, request.params)
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
