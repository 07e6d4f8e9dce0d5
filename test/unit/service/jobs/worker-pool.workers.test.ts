import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Clock } from '../../../../src/base/clock.js'
import { readRequest, type WorkerSettings } from '../../../../src/service/jobs/task.js'
import { sliceMs, WorkerPool } from '../../../../src/service/jobs/worker-pool.js'
import { refusal } from '../../../support/refusal.js'
import { idOf } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('worker-pool')

const settings: WorkerSettings = {
  ...{ ranks: 2 ** 20, edges: 2 ** 24, expandedBytes: 2 ** 28, arraysMb: 1024, answerBytes: 2 ** 20 },
}

/** Timers that a test ends, by their delay: those that wait when it asks. */
function heldTimers() {
  const waiting = new Map<() => void, number>()
  const clock: Clock = {
    later(delayMs, run) {
      waiting.set(run, delayMs)
      return () => waiting.delete(run)
    },
  }
  const passes = (ms: number) => {
    for (const [run, delayMs] of [...waiting]) if (delayMs === ms && waiting.delete(run)) run()
  }
  return { clock, passes }
}

interface PoolChanges {
  readonly waiting?: number
  readonly heapMb?: number
  readonly settings?: WorkerSettings
  readonly clock?: Clock
}

function newPool(options: PoolChanges = {}) {
  const pool = new WorkerPool({ threads: 1, waiting: 2, heapMb: 512, seconds: 600, settings, ...options })
  onTestFinished(() => pool.close())
  return pool
}

function uploaded(name: string, text: string, format: 'spec' | 'json' = 'spec') {
  const path = join(folder(), name)
  writeFileSync(path, text)
  return { upload: { path, format, ranks: null } }
}

const small = () => uploaded('small', 'moore:8x8:r=1')

/** The input of a plan of an upload. */
function planOf(name: string, spec: string, words: object, into = join(folder(), `${name}-plan`)) {
  const plan = { topology: idOf('t', 0), strategy: 'direct', operation: 'neighbor-allgather', ...words }
  return { ...uploaded(name, spec), request: readRequest(plan as never).read, into }
}

describe('a pool of one thread', () => {
  let pool: WorkerPool
  beforeAll(() => {
    pool = new WorkerPool({ threads: 1, waiting: 2, heapMb: 512, seconds: 600, settings })
  })
  afterAll(() => pool.close())

  it('works in the order of asking, refuses what would wait beyond the bound, and continues after bad input', async () => {
    const order: number[] = []
    const bad = uploaded('bad', 'nonsense')
    const run = (index: number, input = small()) =>
      pool.run('topology', input).finally(() => {
        order.push(index)
      })
    const all = Promise.allSettled([run(0), run(1, bad), run(2), run(3)])
    expect([pool.running, pool.waiting]).toEqual([1, 2])
    const [first, failed, third, refused] = await all
    expect(first).toMatchObject({ status: 'fulfilled', value: { ranks: 64, edges: 512 } })
    expect(third).toEqual(first)
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SPEC' } })
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'ERR_BUSY' } })
    expect(order).toEqual([3, 0, 1, 2])
    expect([pool.running, pool.waiting]).toEqual([0, 0])
  })

  it('finds no defect in what the system refuses, such as a full disk', async () => {
    const plan = pool.run('plan', planOf('refused', 'moore:8x8:r=1', {}, join(folder(), 'nowhere', 'plan')))
    await expect(plan).rejects.toMatchObject({ code: 'ERR_STORE' })
    await expect(plan).rejects.not.toMatchObject({ message: expect.stringContaining('nowhere') as string })
  })

  it('writes a plan that is started again over what was written before', async () => {
    const input = planOf('again', 'moore:8x8:r=1', {})
    writeFileSync(input.into, 'longer than the schedule '.repeat(10_000))
    const { body } = await pool.run('plan', input)
    expect(statSync(input.into).size).toBe(body.bytes)
  })

  it('aborts a plan inside the solver of the engine exact, and gives the next task a thread', async () => {
    const words = { strategy: 'common-neighbor', engine: 'exact', k: 2, mode: 'agnostic' }
    const controller = new AbortController()
    const steps: string[] = []
    const plan = pool.run('plan', planOf('exact', 'er:128:d=0.3:seed=1', words), {
      signal: controller.signal,
      onProgress: ({ step }) => {
        steps.push(step)
        if (step.startsWith('choosing among')) controller.abort()
      },
    })
    await expect(plan).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
    expect(steps.at(-1)).toMatch(/^choosing among \d+ friend groups$/)
    expect(await pool.run('topology', small())).toMatchObject({ ranks: 64 })
  })

  it('ends a task that is aborted at once, running, waiting or later, and gives the next one a thread', async () => {
    const large = uploaded('large', 'moore:1000x1000:r=1')
    const [running, waiting] = [new AbortController(), new AbortController()]
    const tasks = Promise.allSettled([
      pool.run('topology', large, { signal: running.signal }),
      pool.run('topology', large, { signal: waiting.signal }),
      pool.run('topology', small()),
      pool.run('topology', small(), { signal: AbortSignal.abort() }),
    ])
    waiting.abort()
    running.abort()
    const [first, second, third, late] = await tasks
    for (const task of [first, second, late])
      expect(task).toMatchObject({ reason: { code: 'ERR_CANCELLED' } })
    expect(third).toMatchObject({ value: { ranks: 64 } })
  })
})

it('a thread that a task has made grow gives its memory back; another is used again', async () => {
  let started = 0
  const count = () => {
    started++
  }
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  const pool = newPool()
  const starts = []
  // A large upload that is refused, and then a small one again.
  const large = uploaded('large-json', ' '.repeat(2 ** 27), 'json')
  for (const input of [small(), small(), large, small()]) {
    await pool.run('topology', input).catch(({ code }) => expect(code).toBe('ERR_TOPOLOGY'))
    starts.push(started)
  }
  expect(starts).toEqual([1, 1, 1, 2])
})

it('tenants take turns, and one that has as many tasks as may wait leaves room for others', async () => {
  // No slice passes, however long a task takes on a busy machine.
  const pool = newPool({ clock: heldTimers().clock })
  const order: string[] = []
  const run = (tenant: string) => pool.run('topology', small(), { tenant }).finally(() => order.push(tenant))
  const all = await Promise.allSettled(['a', 'a', 'a', 'a', 'b', 'b'].map(run))
  expect(all.map(({ status }) => status === 'fulfilled')).toEqual([true, true, true, false, true, true])
  // The first of a was refused at once; of those that waited b has its turn after one of a.
  expect(order).toEqual(['a', 'a', 'a', 'b', 'a', 'b'])
})

it('a task that needs more heap than it may have fails with a code, and the next one gets a thread', async () => {
  const pool = newPool({ heapMb: 24 })
  const keys = Array.from({ length: 80_000 }, (_, index) => `${index}`)
  const edges = keys.map((key, index) => ({ source: `${index % 9}`, target: key }))
  const deep = uploaded('graph', JSON.stringify({ nodes: keys.map((key) => ({ key })), edges }), 'json')
  await expect(pool.run('topology', deep)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  expect(await pool.run('topology', small())).toMatchObject({ ranks: 64 })
})

it('when it closes, what runs and what waits ends with a code, and nothing more is taken', async () => {
  const pool = newPool()
  const tasks = Promise.allSettled([1, 2].map(() => pool.run('topology', small())))
  await pool.close()
  for (const task of await tasks) expect(task).toMatchObject({ reason: { code: 'ERR_BUSY' } })
  await expect(pool.run('topology', small())).rejects.toMatchObject({ code: 'ERR_BUSY' })
})

it('a plan that needs more arrays than it may have fails with a code before they are there, by whatever strategy', async () => {
  const pool = newPool({ settings: { ...settings, arraysMb: 16 } })
  const machine = 'cluster:nodes=64,cores=64,profile=simgrid-fast'
  const ends = []
  for (const strategy of ['direct', 'routed', 'common-neighbor']) {
    const planned = (name: string, spec: string) =>
      pool.run('plan', planOf(name, spec, { strategy, machine }))
    await expect(planned('large-plan', 'moore:64x64:r=2'), strategy).rejects.toMatchObject(
      refusal('ERR_LIMIT', 'jobArraysMb'),
    )
    // Its edges pass the estimate, and the lists of some strategies do not.
    const spread = planned('spread', 'er:512:d=0.23:seed=1')
    ends.push(
      await spread.then(
        ({ statistics }) => statistics['verified'],
        ({ code }) => code,
      ),
    )
  }
  expect(ends[0]).toBe(true)
  expect(ends).toContain('ERR_LIMIT')
  expect([true, 'ERR_LIMIT']).toEqual(expect.arrayContaining(ends))
})

describe('tasks that take seconds each, on one thread', () => {
  const long = () => uploaded('long', 'rmat:1048576:d=16')
  /** Starts a long task of a tenant; its states so far. */
  function start(pool: WorkerPool, tenant: string) {
    const states: string[] = []
    const controller = new AbortController()
    const onState = (state: string) => void states.push(state)
    const task = pool.run('topology', long(), { tenant, onState, signal: controller.signal })
    const ended = task.then(
      () => 'done',
      ({ code }: { code: string }) => code,
    )
    return { states, ended, abort: () => controller.abort() }
  }

  it('another tenant is answered while one runs, which keeps its thread', async () => {
    const { clock, passes } = heldTimers()
    const pool = newPool({ clock })
    const first = start(pool, 'a')
    const second = pool.run('topology', small(), { tenant: 'b' })
    expect([pool.running, pool.waiting]).toEqual([1, 1])
    passes(sliceMs)
    expect(await second).toMatchObject({ ranks: 64 })
    expect([first.states, pool.running]).toEqual([['running'], 1])
    first.abort()
    expect(await first.ended).toBe('ERR_CANCELLED')
  })

  it('also where it waits only after the slice, and the tenant itself has no claim', async () => {
    const { clock, passes } = heldTimers()
    const pool = newPool({ clock })
    start(pool, 'a')
    passes(sliceMs)
    const own = pool.run('topology', small(), { tenant: 'a' })
    expect([pool.running, pool.waiting]).toEqual([1, 1])
    expect(await pool.run('topology', small(), { tenant: 'b' })).toMatchObject({ ranks: 64 })
    expect(await own).toMatchObject({ ranks: 64 })
  })

  it('of three tenants one keeps its thread, one starts again in the lane, and a fourth is answered', async () => {
    const { clock, passes } = heldTimers()
    const pool = newPool({ clock })
    const tasks = ['a', 'b', 'c'].map((tenant) => start(pool, tenant))
    passes(sliceMs)
    expect([pool.running, pool.waiting]).toEqual([2, 1])
    passes(sliceMs)
    await until(() => tasks[2].states.length === 1)
    expect(tasks.map(({ states }) => states)).toEqual([['running'], ['running', 'queued'], ['running']])
    const fourth = pool.run('topology', small(), { tenant: 'd' })
    passes(sliceMs)
    expect(await fourth).toMatchObject({ ranks: 64 })
    expect([pool.running, pool.waiting]).toEqual([1, 2])
    // The lane is free: the one that has waited there for longest has it, and is not stopped again.
    tasks[0].abort()
    expect(await tasks[0].ended).toBe('ERR_CANCELLED')
    expect(tasks[1].states).toEqual(['running', 'queued', 'running'])
    passes(sliceMs)
    expect(await pool.run('topology', small(), { tenant: 'd' })).toMatchObject({ ranks: 64 })
    expect(tasks[1].states.length).toBe(3)
    tasks[2].abort()
    expect(await tasks[2].ended).toBe('ERR_CANCELLED')
    expect([pool.running, pool.waiting]).toEqual([1, 0])
  })

  it('one that runs longer than it may ends with a code, and the next one gets a thread', async () => {
    const { clock, passes } = heldTimers()
    const pool = newPool({ clock })
    const first = start(pool, 'a')
    passes(600_000)
    expect(await first.ended).toBe('ERR_LIMIT')
    expect(await pool.run('topology', small())).toMatchObject({ ranks: 64 })
  })
})

/** Resolves when it holds, which is looked at in every turn of the event loop. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
