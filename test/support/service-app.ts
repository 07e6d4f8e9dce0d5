import { onTestFinished } from 'vitest'
import { defaultServiceLimits, type ServiceLimits } from '../../src/client/protocol/limits.js'
import { AnswerCache } from '../../src/service/http/answer-cache.js'
import { makeApp } from '../../src/service/http/app.js'
import { Connections } from '../../src/service/http/connections.js'
import type { ServiceContext } from '../../src/service/http/context.js'
import { Guard } from '../../src/service/http/guard.js'
import { ServiceMetrics } from '../../src/service/http/metrics.js'
import { Jobs } from '../../src/service/jobs/jobs.js'
import { importPackages } from '../../src/service/packages.js'
import { Store } from '../../src/service/store/store.js'
import { Tenants } from '../../src/service/tenant.js'
import { MountedWorlds } from '../../src/service/worlds/mounted-worlds.js'
import { WorldService } from '../../src/service/worlds/world-service.js'
import { Rendezvous } from '../../src/websocket/rendezvous/rendezvous.js'

/**
 * The routes of a service of this host, whose tasks a test does in place of threads; it ends with the test.
 *
 * @param run in place of `WorkerPool.run`
 */
export async function serviceApp(
  folder: string,
  run: (kind: string, input: unknown, options: { readonly signal: AbortSignal }) => Promise<unknown>,
  logger: Parameters<typeof makeApp>[0]['logger'],
  changed: Partial<ServiceLimits> = {},
) {
  const limits = { ...defaultServiceLimits, ...changed }
  const store = await Store.open(folder, limits, logger)
  const pool = { run } as unknown as ServiceContext['tasks']
  const tenants = new Tenants(null)
  const rendezvous = new Rendezvous()
  const packages = await importPackages()
  const metrics = new ServiceMetrics(packages, {})
  const context: ServiceContext = {
    ...{ store, limits, tenants, log: logger, tasks: pool, now: () => new Date() },
    mounted: new MountedWorlds({ rendezvous, limits, log: logger }),
    jobs: new Jobs({ store, pool, limits, log: logger }),
    worlds: new WorldService({ tenants, log: logger }),
    answers: new AnswerCache(1000),
    connections: new Connections(limits, false),
    guard: new Guard({ host: '127.0.0.1', isTls: false, publicUrl: undefined, allowedOrigins: [] }),
  }
  const app = makeApp({ packages, context, metrics, files: new Map(), tls: undefined, logger })
  onTestFinished(async () => {
    rendezvous.close('over')
    await context.jobs.close(1000)
    await app.close()
    metrics.close()
    await store.close()
  })
  return { app, context, store }
}
