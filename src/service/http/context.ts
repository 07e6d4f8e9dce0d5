import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ServiceLimits } from '../../client/protocol/limits.js'
import type { Jobs } from '../jobs/jobs.js'
import type { WorkerPool } from '../jobs/worker-pool.js'
import type { Log } from '../log.js'
import type { Store } from '../store/store.js'
import type { Tenant, Tenants } from '../tenant.js'
import type { MountedWorlds } from '../worlds/mounted-worlds.js'
import type { WorldService } from '../worlds/world-service.js'
import type { AnswerCache } from './answer-cache.js'
import type { Connections } from './connections.js'
import type { Guard } from './guard.js'

/** The parts of the service that routes use. */
export interface ServiceContext {
  readonly store: Store
  readonly jobs: Jobs
  /** The threads for all work other than planning, so that it does not wait for plans. */
  readonly tasks: WorkerPool
  readonly worlds: WorldService
  readonly mounted: MountedWorlds
  readonly answers: AnswerCache
  readonly limits: ServiceLimits
  readonly log: Log
  readonly tenants: Tenants
  readonly guard: Guard
  readonly connections: Connections
  readonly now: () => Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant, set for every route below `/v1`. */
    tenant: Tenant
  }
}

/** Returns a signal that is aborted when the connection of a client closes, which then waits for no answer. */
export function leaving({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  if (raw.destroyed) left.abort()
  else raw.once('close', () => left.abort())
  return left.signal
}

/** Ends the connection of an answer of which the client has read nothing for so long. */
export function endWhenStalled(answer: ServerResponse, ms: number): void {
  answer.setTimeout(ms, () => answer.destroy())
}
