import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { mountedWorldId, mountedWorldRequest } from '../../client/protocol/mounted-worlds.js'
import type { ServiceContext } from './context.js'
import { parsed } from './error-answer.js'

const params = z.strictObject({ id: mountedWorldId })

/** Worlds of programs: opened, listed, ended. Their sockets are at `/v1/rendezvous` (upgrades.ts). */
export function addRendezvousRoutes(app: FastifyInstance, { mounted }: ServiceContext): void {
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
