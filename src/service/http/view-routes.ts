import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import {
  type PlanInfo,
  planId,
  planViewQuery,
  topologyId,
  topologyViewQuery,
} from '../../client/protocol/http.js'
import { isAuto } from '../../neighborhood/choose/auto.js'
import { groupingOf, parseStrategy } from '../../neighborhood/strategies/strategies.js'
import { readRequest, type ViewedPlan } from '../jobs/task.js'
import { leaving, type ServiceContext } from './context.js'
import { parsed } from './error-answer.js'
import { readStored } from './stored-entries.js'

const planParams = z.strictObject({ id: planId })
const topologyParams = z.strictObject({ id: topologyId })
const json = 'application/json; charset=utf-8'

/** Adds the routes of pictures of topologies and plans, computed once while remembered, and of reports. */
export function addViewRoutes(app: FastifyInstance, { store, tasks, answers }: ServiceContext): void {
  /** @throws ERR_NOT_FOUND */
  const viewing = <T>(
    { tenant, params, query }: FastifyRequest,
    view: (viewed: ViewedPlan, id: string) => Promise<T>,
  ): Promise<T> => {
    const { id } = parsed(planParams, params)
    const { machine, bytes, rank = null } = parsed(planViewQuery, query)
    return readStored(store, 'plans', tenant, id, async ({ record: { info }, path }) => {
      const topology = store.get('topologies', tenant, info.request.topology)
      const { choiceMs, planMs } = info.statistics
      const viewed = {
        schedule: path,
        name: topology?.record.info.name || 'topology',
        machine: machine ?? info.request.machine ?? null,
        bytes: bytes ?? info.request.bytes ?? null,
        rank,
        planMs: typeof planMs === 'number' ? planMs : null,
        choiceMs: typeof choiceMs === 'number' ? choiceMs : 0,
        friends: friendsOf(info),
      }
      return view(viewed, id)
    })
  }

  app.get('/topologies/:id/view', async ({ tenant, params, query }, reply) => {
    const { id } = parsed(topologyParams, params)
    const { rank = null } = parsed(topologyViewQuery, query)
    const text = await readStored(store, 'topologies', tenant, id, ({ record: { info, ranks }, path }) => {
      const input = { upload: { path, format: info.format, ranks }, name: info.name || 'topology', rank }
      return answers.get(
        `${tenant.id}/${id}/view/${rank}`,
        async (signal) => (await tasks.run('topologyView', input, { tenant: tenant.id, signal })).json,
        leaving(reply),
      )
    })
    return reply.type(json).send(text)
  })
  app.get('/plans/:id/view', async (request, reply) => {
    const tenant = request.tenant.id
    const text = await viewing(request, (viewed, id) =>
      answers.get(
        `${tenant}/${id}/view/${JSON.stringify(viewed)}`,
        async (signal) => (await tasks.run('planView', { viewed }, { tenant, signal })).json,
        leaving(reply),
      ),
    )
    return reply.type(json).send(text)
  })
  app.get('/plans/:id/report', async (request, reply) => {
    const tenant = request.tenant.id
    const options = { tenant, signal: leaving(reply) }
    const { html } = await viewing(request, (viewed) => tasks.run('report', { viewed }, options))
    return reply
      .headers({
        'content-disposition': 'attachment; filename="report.html"',
        // The answer is a requested file, never a page of the service's origin.
        'content-security-policy': 'sandbox',
      })
      .type('text/html; charset=utf-8')
      .send(html)
  })
}

/** Returns the options that found friends, also of plans whose strategy was chosen. */
function friendsOf({ request, statistics }: PlanInfo): ViewedPlan['friends'] {
  const { groups, chosen } = statistics
  // Plans without groups have k null; their requests need not be read.
  if (typeof groups !== 'number' || statistics['k'] === null) return null
  const { strategy: asked, operation, machine } = readRequest(request).read
  const strategy = isAuto(asked) ? parseStrategy(String(chosen)) : asked
  const isGrouped = groupingOf(strategy) !== undefined && operation === 'neighbor-allgather'
  return isGrouped ? { strategy, machine, groups } : null
}
