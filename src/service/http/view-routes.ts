import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import type { ViewedPlan } from '../jobs/task.js'
import { type PlanInfo, planId, planViewQuery, topologyId, topologyViewQuery } from '../protocol/http.js'
import type { ServiceContext } from './context.js'
import { parsed } from './error-answer.js'

const planParams = z.strictObject({ id: planId })
const topologyParams = z.strictObject({ id: topologyId })
const json = 'application/json; charset=utf-8'

/** Also of plans whose strategy was chosen. */
function friendsOf({ request, statistics }: PlanInfo): ViewedPlan['friends'] {
  const { groups, chosen } = statistics
  const strategy = request.strategy.startsWith('auto') ? String(chosen) : request.strategy
  const isGrouped = /^common-neighbor\b/.test(strategy) && request.operation === 'neighbor-allgather'
  if (!isGrouped || typeof groups !== 'number') return null
  const { bytes: _, ...others } = request
  return { request: { ...others, strategy }, groups }
}

/** What pictures of topologies and plans show, computed once while it is remembered, and reports. */
export function addViewRoutes(app: FastifyInstance, { store, tasks, answers }: ServiceContext): void {
  /** @throws ERR_NOT_FOUND */
  const viewedPlan = async (request: FastifyRequest): Promise<{ id: string; viewed: ViewedPlan }> => {
    const { id } = parsed(planParams, request.params)
    const query = parsed(planViewQuery, request.query)
    const stored = await store.verified('plans', request.tenant, id)
    if (stored === undefined) throw new RankweaveError('ERR_NOT_FOUND', `there is no plan ${id}`)
    const { info } = stored.record
    const topology = store.get('topologies', request.tenant, info.request.topology)
    const { planMs } = info.statistics
    const viewed = {
      schedule: stored.path,
      name: topology?.record.info.name || 'topology',
      machine: query.machine ?? info.request.machine ?? null,
      bytes: query.bytes ?? info.request.bytes ?? null,
      rank: query.rank ?? null,
      planMs: typeof planMs === 'number' ? planMs : null,
      friends: friendsOf(info),
    }
    return { id, viewed }
  }

  app.get('/topologies/:id/view', async (request, reply) => {
    const { id } = parsed(topologyParams, request.params)
    const { rank = null } = parsed(topologyViewQuery, request.query)
    const stored = await store.verified('topologies', request.tenant, id)
    if (stored === undefined) throw new RankweaveError('ERR_NOT_FOUND', `there is no topology ${id}`)
    const { info, ranks } = stored.record
    const upload = { path: stored.path, format: info.format, ranks }
    const name = info.name || 'topology'
    const text = await answers.get(`${request.tenant.id}/${id}/view/${rank}`, async () => {
      return (await tasks.run('topologyView', { upload, name, rank })).json
    })
    return reply.type(json).send(text)
  })
  app.get('/plans/:id/view', async (request, reply) => {
    const { id, viewed } = await viewedPlan(request)
    const text = await answers.get(
      `${request.tenant.id}/${id}/view/${JSON.stringify(viewed)}`,
      async () => (await tasks.run('planView', { viewed })).json,
    )
    return reply.type(json).send(text)
  })
  app.get('/plans/:id/report', async (request, reply) => {
    const { viewed } = await viewedPlan(request)
    const { html } = await tasks.run('report', { viewed })
    return reply
      .headers({
        'content-disposition': 'attachment; filename="report.html"',
        // A file that was asked for, never a page of the service's origin.
        'content-security-policy': 'sandbox',
      })
      .type('text/html; charset=utf-8')
      .send(html)
  })
}
