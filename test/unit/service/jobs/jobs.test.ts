import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CompletePlanRequest, JobInfo } from '../../../../src/client/protocol/http.js'
import { RankweaveError } from '../../../../src/errors.js'
import { isEnded, Jobs } from '../../../../src/service/jobs/jobs.js'
import { Store } from '../../../../src/service/store/store.js'
import { heldPool } from '../../../support/held-pool.js'
import { silentLog } from '../../../support/silent-log.js'
import { addTopology, idOf } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const tenant = { id: 'local' }
const other = { id: 'f'.repeat(32) }
const topology = idOf('t', 0)
const folder = temporaryFolder('jobs')
let folders = 0

const request = (k: number): CompletePlanRequest => ({
  ...{ topology, strategy: 'common-neighbor', operation: 'neighbor-allgather', k },
})

/** Jobs over a store of their own; `again` is what a service does that starts after this one was killed. */
async function newJobs(
  limits: { queuedJobs?: number; endedJobs?: number; workers?: number } = {},
  poolOptions: Parameters<typeof heldPool>[0] = {},
) {
  const root = join(folder(), `${folders++}`)
  const errors: string[] = []
  const log = { ...silentLog, error: (fields: object) => void errors.push(JSON.stringify(fields)) }
  const onStore = async (store: Store) => {
    const { pool, held, asked } = heldPool(poolOptions)
    const all = { queuedJobs: 100, endedJobs: 100, workers: 1, ranks: 2 ** 20, ...limits }
    return { jobs: new Jobs({ store, pool, limits: all, log }), held, asked, store }
  }
  let store = await Store.open(root, { dataBytes: 2 ** 30, entries: 100 }, silentLog)
  for (const of of [tenant, other]) await addTopology(store, of, 0)
  onTestFinished(() => store.close())
  const again = async () => {
    await store.close()
    store = await Store.open(root, { dataBytes: 2 ** 30, entries: 100 }, silentLog)
    const next = await onStore(store)
    await next.jobs.resume()
    return next
  }
  return { ...(await onStore(store)), again, root, errors }
}

/** Resolves with the last state of a job. */
function endOf(jobs: Jobs, { id }: JobInfo, of = tenant): Promise<JobInfo> {
  return new Promise((resolve) => {
    const info = jobs.get(of, id)
    jobs.watch(of, id, (now) => {
      if (isEnded(now.state)) resolve(now)
    })
    if (isEnded(info.state)) resolve(info)
  })
}

describe('equal requests', () => {
  it('share one job, at the same time, while it runs and afterwards; each distinct one is planned once', async () => {
    const { jobs, held, asked } = await newJobs()
    const ks = Array.from({ length: 20 }, (_, index) => 2 + (index % 10))
    const answers = await Promise.all(ks.map((k) => jobs.request(tenant, request(k))))
    expect(answers.filter(({ isNew }) => isNew).length).toBe(10)
    expect(new Set(answers.map(({ info }) => info.id)).size).toBe(10)
    for (let index = 0; index < 10; index++) {
      const plan = await asked(index)
      const { info } = await jobs.request(tenant, request(plan.k))
      expect(info.state).toBe('running')
      plan.finish()
      await endOf(jobs, info)
    }
    const { info, isNew } = await jobs.request(tenant, request(2))
    expect([info.state, isNew, held.length]).toEqual(['done', false, 10])
    // Defaults written out or not are the same request; another tenant's is another.
    const spelled = await jobs.request(tenant, {
      ...request(2),
      mode: 'agnostic',
      dedupe: true,
      engine: 'greedy',
    })
    expect(spelled.info.plan).toBe(info.plan)
    expect((await jobs.request(other, request(2))).isNew).toBe(true)
  })
})

describe('cancelling', () => {
  it('ends a job that waits, and it is never planned', async () => {
    const { jobs, held, asked } = await newJobs()
    await jobs.request(tenant, request(2))
    const second = (await jobs.request(tenant, request(3))).info
    const third = (await jobs.request(tenant, request(4))).info
    const cancelled = await jobs.cancel(tenant, second.id)
    expect(cancelled).toMatchObject({ state: 'cancelled', error: { code: 'ERR_CANCELLED' } })
    ;(await asked(0)).finish()
    ;(await asked(1)).finish()
    expect((await endOf(jobs, third)).state).toBe('done')
    expect(held.map(({ k }) => k)).toEqual([2, 4])
  })

  it('ends a job that runs, with its thread, for all who wait; the next one starts', async () => {
    const { jobs, asked, root } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    const next = (await jobs.request(tenant, request(3))).info
    const running = await asked(0)
    running.progress({ step: 'searching', done: 1, total: null })
    expect(jobs.get(tenant, info.id).progress).toEqual({ step: 'searching', done: 1, total: null })
    const refusal = (id: string, code: string, words: string) =>
      expect(() => jobs.requireMade(tenant, id)).toThrow(
        expect.objectContaining({ code, message: expect.stringContaining(`plan ${id} ${words}`) }),
      )
    const wait = (state: string, { id }: JobInfo) =>
      `is not made yet: its job is ${state}; wait for the end of /v1/jobs/${id}/events`
    refusal(info.plan, 'ERR_NOT_FOUND', wait('running', info))
    refusal(next.plan, 'ERR_NOT_FOUND', wait('queued', next))
    const ended = Promise.all([endOf(jobs, info), endOf(jobs, info)])
    await jobs.cancel(tenant, info.id)
    for (const { state, progress } of await ended) expect([state, progress]).toEqual(['cancelled', null])
    expect(running.isAborted()).toBe(true)
    refusal(info.plan, 'ERR_CANCELLED', 'was not made: its job was cancelled')
    ;(await asked(1)).finish()
    expect((await endOf(jobs, next)).state).toBe('done')
    jobs.requireMade(tenant, next.plan)
    expect(jobs.ended).toEqual({ done: 1, failed: 0, cancelled: 1 })
    await jobs.close(60_000)
    expect(readdirSync(join(root, 'temporary'))).toEqual([])
  })

  it('leaves no file of a job whose plan comes after it was cancelled', async () => {
    const { jobs, asked, root } = await newJobs({}, { heedsAbort: false })
    const { info } = await jobs.request(tenant, request(2))
    const running = await asked(0)
    await jobs.cancel(tenant, info.id)
    running.finish()
    await jobs.close(60_000)
    expect(readdirSync(join(root, 'temporary'))).toEqual([])
  })

  it('leaves a job that has ended unchanged, and one that was cancelled can be asked for again', async () => {
    const { jobs, asked } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    ;(await asked(0)).finish()
    await endOf(jobs, info)
    expect((await jobs.cancel(tenant, info.id)).state).toBe('done')
    const second = (await jobs.request(tenant, request(3))).info
    await asked(1)
    await jobs.cancel(tenant, second.id)
    expect((await jobs.cancel(tenant, second.id)).state).toBe('cancelled')
    const again = await jobs.request(tenant, request(3))
    expect([again.isNew, again.info.id]).toEqual([true, second.id])
    ;(await asked(2)).finish()
    expect((await endOf(jobs, again.info)).state).toBe('done')
  })

  it('is refused for a job of another tenant', async () => {
    const { jobs } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    await expect(jobs.cancel(other, info.id)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(() => jobs.watch(other, info.id, () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_FOUND' }),
    )
  })
})

describe('the queue', () => {
  it('is bounded for each tenant, and tenants take turns', async () => {
    const { jobs, asked } = await newJobs({ queuedJobs: 3 })
    // The first one runs, and does not wait.
    for (const k of [2, 3, 4, 5]) await jobs.request(tenant, request(k))
    await expect(jobs.request(tenant, request(6))).rejects.toMatchObject({ code: 'ERR_BUSY' })
    const last = (await jobs.request(other, request(7))).info
    expect(jobs.queued + jobs.running).toBe(5)
    const order = []
    for (let index = 0; index < 5; index++) {
      const plan = await asked(index)
      order.push(plan.k)
      plan.finish()
    }
    // The pool has one of each tenant, and lets them take turns.
    expect(order).toEqual([2, 7, 3, 4, 5])
    expect((await endOf(jobs, last, other)).state).toBe('done')
  })

  it('remembers so many jobs that have ended', async () => {
    const { jobs, asked, again } = await newJobs({ endedJobs: 2 })
    const infos: JobInfo[] = []
    for (let k = 2; k < 6; k++) {
      infos.push((await jobs.request(tenant, request(k))).info)
      ;(await asked(k - 2)).fail(new RankweaveError('ERR_SPEC', 'cannot be planned'))
      expect(await endOf(jobs, infos.at(-1)!)).toMatchObject({ state: 'failed', error: { code: 'ERR_SPEC' } })
      expect(() => jobs.requireMade(tenant, infos.at(-1)!.plan)).toThrow(
        'failed with ERR_SPEC: cannot be planned',
      )
    }
    await jobs.close(60_000)
    expect(() => jobs.get(tenant, infos[0].id)).toThrow(expect.objectContaining({ code: 'ERR_NOT_FOUND' }))
    expect(jobs.get(tenant, infos[3].id).state).toBe('failed')
    expect((await again()).store.records('jobs', tenant).length).toBe(2)
  })

  it('a defect is shown as one, without what it says, and is in the log', async () => {
    const { jobs, asked, errors } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    ;(await asked(0)).fail(new TypeError('x is not a function'))
    const { error } = await endOf(jobs, info)
    expect(error!.code).toBe('ERR_WORKER')
    expect(error!.message).not.toContain('function')
    expect(errors.join()).toContain('x is not a function')
  })
})

describe('after the service was killed', () => {
  it('jobs that waited or ran are planned, in their order; those that had ended stay ended', async () => {
    const { jobs, asked, again } = await newJobs()
    const done = (await jobs.request(tenant, request(2))).info
    ;(await asked(0)).finish()
    await endOf(jobs, done)
    const [running, waiting] = [
      await jobs.request(tenant, request(3)),
      await jobs.request(tenant, request(4)),
    ]
    await asked(1)
    const after = await again()
    expect(after.jobs.get(tenant, done.id).state).toBe('done')
    for (const [index, { info }] of [running, waiting].entries()) {
      ;(await after.asked(index)).finish()
      expect((await endOf(after.jobs, info)).state).toBe('done')
    }
    expect(after.held.map(({ k }) => k)).toEqual([3, 4])
  })

  it('a job that ten processes began and none ended fails, and one whose request changed is not planned', async () => {
    const { jobs, asked, store, again } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    const waiting = (await jobs.request(tenant, request(3))).info
    await asked(0)
    const records = store.records('jobs', tenant)
    expect(records.map(({ starts }) => starts).sort()).toEqual([0, 1])
    for (const record of records)
      await store.putJob(
        tenant,
        record.id === info.id ? { ...record, starts: 10 } : { ...record, request: request(5) },
      )
    const after = await again()
    expect(await endOf(after.jobs, info)).toMatchObject({ state: 'failed', error: { code: 'ERR_STORE' } })
    expect(await endOf(after.jobs, waiting)).toMatchObject({ state: 'failed', error: { code: 'ERR_STORE' } })
    expect(after.held).toEqual([])
  })

  it('a job whose plan had been stored is done', async () => {
    const { jobs, asked, store, again } = await newJobs()
    const { info } = await jobs.request(tenant, request(2))
    const waits = store.records('jobs', tenant)[0]
    ;(await asked(0)).finish()
    await endOf(jobs, info)
    await jobs.close(60_000)
    // As it is when the service is killed between the plan and the state of its job.
    await store.putJob(tenant, waits)
    const after = await again()
    expect(after.jobs.get(tenant, info.id).state).toBe('done')
    expect(after.held).toEqual([])
  })
})

it('a plan that is asked for again in the moment in which its job fails or is cancelled is not lost', async () => {
  const { jobs, asked, again } = await newJobs()
  const infos: JobInfo[] = []
  const accepted: Promise<unknown>[] = []
  for (const k of [2, 3]) {
    const { info } = await jobs.request(tenant, request(k))
    infos.push(info)
    const stop = jobs.watch(tenant, info.id, ({ state }) => {
      if (!isEnded(state)) return
      stop()
      accepted.push(jobs.request(tenant, request(k)))
    })
  }
  await jobs.cancel(tenant, infos[1].id)
  ;(await asked(0)).fail(new RankweaveError('ERR_SPEC', 'cannot be planned'))
  while (accepted.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await Promise.all(accepted)
  const after = await again()
  for (const [index, info] of infos.entries()) {
    expect(isEnded(after.jobs.get(tenant, info.id).state)).toBe(false)
    ;(await after.asked(index)).finish()
  }
  for (const info of infos) expect((await endOf(after.jobs, info)).state).toBe('done')
})

it('a plan that was removed has no job and needs no topology, and is planned again when it is asked for', async () => {
  const { jobs, asked, store } = await newJobs()
  const { info } = await jobs.request(tenant, request(2))
  expect([jobs.needs('local', topology), jobs.needs(other.id, topology)]).toEqual([true, false])
  ;(await asked(0)).finish()
  await endOf(jobs, info)
  expect(jobs.needs('local', topology)).toBe(false)
  await store.remove('plans', tenant, info.plan)
  expect(() => jobs.get(tenant, info.id)).toThrow(expect.objectContaining({ code: 'ERR_NOT_FOUND' }))
  const again = await jobs.request(tenant, request(2))
  expect([again.isNew, again.info.id]).toEqual([true, info.id])
  ;(await asked(1)).finish()
  expect((await endOf(jobs, info)).state).toBe('done')
})

it('a service that shuts down takes no job, and one that does not end within its time waits on the disk', async () => {
  const { jobs, asked, again } = await newJobs()
  const { info } = await jobs.request(tenant, request(2))
  const running = await asked(0)
  await jobs.close(0)
  await expect(jobs.request(tenant, request(3))).rejects.toMatchObject({ code: 'ERR_BUSY' })
  running.fail(new RankweaveError('ERR_BUSY', 'the service shuts down'))
  const after = await again()
  ;(await after.asked(0)).finish()
  expect((await endOf(after.jobs, info)).state).toBe('done')
})

describe('what is impossible whatever the edges are', () => {
  const machine = 'cluster:nodes=2,cores=2,profile=simgrid-fast'
  const small = 'cluster:nodes=1,cores=2'
  const tooMany = /^machine: expected at most 1048576 cores in all \(ranks\), got \d+$/
  it.each<[object, 'ERR_STRATEGY' | 'ERR_MACHINE', RegExp]>([
    [
      { strategy: 'hierarchical' },
      'ERR_STRATEGY',
      /^hierarchical needs the node of every rank: pass a machine/,
    ],
    [{ strategy: 'lanes:lanes=100000', machine }, 'ERR_STRATEGY', /^lanes: expected lanes/],
    [{ strategy: 'pipelined:between=100000', machine }, 'ERR_STRATEGY', /^pipelined: .*between/],
    [{ strategy: 'routed:radices=2' }, 'ERR_STRATEGY', /^routed: expected radices/],
    [
      { strategy: `pipelined:between=${'2.'.repeat(24)}2`, machine },
      'ERR_STRATEGY',
      /^pipelined: expected at most 24 between, got 25$/,
    ],
    [{ strategy: 'common-neighbor:k=4,mode=aware,engine=exact' }, 'ERR_STRATEGY', /^aware/],
    [{ strategy: 'direct', machine: small }, 'ERR_MACHINE', /^expected at least 4 cores/],
    [{ strategy: 'auto', bytes: 8, machine: `${small},profile=simgrid-fast` }, 'ERR_MACHINE', /4 cores/],
    [{ strategy: 'direct', machine: 'cluster:nodes=200000,cores=8' }, 'ERR_MACHINE', tooMany],
    [{ strategy: 'direct', machine: 'torus:dims=1024x1024,cores=4' }, 'ERR_MACHINE', tooMany],
    [{ strategy: 'direct', machine: 'clos:radix=4096,levels=3' }, 'ERR_MACHINE', /at most \d+ nodes/],
  ])('%j is refused before there is a job', async (words, code, message) => {
    const { jobs, store } = await newJobs()
    const asked = { topology, operation: 'neighbor-allgather', ...words } as CompletePlanRequest
    const refused = { code, message: expect.stringMatching(message) as string }
    await expect(jobs.request(tenant, asked)).rejects.toMatchObject(refused)
    expect([jobs.queued, store.records('jobs', tenant)]).toEqual([0, []])
  })
})
