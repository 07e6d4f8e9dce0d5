import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Clock } from '../../../../src/base/clock.js'
import { readRequest } from '../../../../src/service/jobs/read-request.js'
import type { WorkerSettings } from '../../../../src/service/jobs/task.js'
import { sliceMs, WorkerPool } from '../../../../src/service/jobs/worker-pool.js'
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

it('works in the order of asking, refuses what would wait beyond the bound, and continues after bad input', async () => {
  const pool = newPool()
  const order: number[] = []
  const small = uploaded('small', 'moore:8x8:r=1')
  const bad = uploaded('bad', 'nonsense')
  const run = (index: number, input = small) =>
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

it('a thread that a task has made grow gives its memory back; another is used again', async () => {
  let started = 0
  const count = () => {
    started++
  }
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  const pool = newPool()
  const run = (name: string, text: string, format: 'spec' | 'json' = 'spec') =>
    pool.run('topology', uploaded(name, text, format))
  for (const name of ['first', 'second']) await run(name, 'moore:8x8:r=1')
  expect(started).toBe(1)
  const ranks = Array.from({ length: 1000 }, (_, rank) => rank)
  const edges = ranks.flatMap((source) =>
    ranks.slice(0, 600).map((step) => ({ source, target: (source + step + 1) % ranks.length })),
  )
  const nodes = ranks.map((key) => ({ key }))
  await run('large', JSON.stringify({ options: { type: 'directed' }, nodes, edges }), 'json')
  expect(started).toBe(1)
  await run('last', 'moore:8x8:r=1')
  expect(started).toBe(2)
})

it('tenants take turns, and one that has as many tasks as may wait leaves room for others', async () => {
  // No slice passes, however long a task takes on a busy machine.
  const pool = newPool({ clock: heldTimers().clock })
  const small = uploaded('turns', 'moore:8x8:r=1')
  const order: string[] = []
  const run = (tenant: string) => pool.run('topology', small, { tenant }).finally(() => order.push(tenant))
  const all = await Promise.allSettled(['a', 'a', 'a', 'a', 'b', 'b'].map(run))
  expect(all.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  // The first of a was refused at once; of those that waited b has its turn after one of a.
  expect(order).toEqual(['a', 'a', 'a', 'b', 'a', 'b'])
})

it('what the system refuses, such as a full disk, is no defect', async () => {
  const pool = newPool()
  const words = { strategy: 'direct', operation: 'neighbor-allgather' } as const
  const { read: request } = readRequest({ topology: idOf('t', 0), ...words })
  const into = join(folder(), 'nowhere', 'plan')
  const plan = pool.run('plan', { ...uploaded('refused', 'moore:8x8:r=1'), request, into })
  await expect(plan).rejects.toMatchObject({ code: 'ERR_STORE' })
  await expect(plan).rejects.not.toMatchObject({ message: expect.stringContaining('nowhere') as string })
})

it('a plan that is started again writes over what was written before', async () => {
  const pool = newPool()
  const words = { strategy: 'direct', operation: 'neighbor-allgather' } as const
  const { read: request } = readRequest({ topology: idOf('t', 0), ...words })
  const into = join(folder(), 'again')
  writeFileSync(into, 'longer than the schedule '.repeat(10_000))
  const { body } = await pool.run('plan', { ...uploaded('again-spec', 'moore:8x8:r=1'), request, into })
  expect(statSync(into).size).toBe(body.bytes)
})

it('a plan is aborted inside the solver of the engine exact, and the next task gets a thread', async () => {
  const pool = newPool()
  const words = {
    strategy: 'common-neighbor',
    engine: 'exact',
    k: 2,
    mode: 'agnostic',
    dedupe: true,
  } as const
  const more = { elide: true, operation: 'neighbor-allgather' } as const
  const { read: request } = readRequest({ topology: idOf('t', 0), ...words, ...more })
  const controller = new AbortController()
  const steps: string[] = []
  const plan = pool.run(
    'plan',
    { ...uploaded('exact', 'er:128:d=0.3:seed=1'), request, into: join(folder(), 'exact-plan') },
    {
      signal: controller.signal,
      onProgress: ({ step }) => {
        steps.push(step)
        if (step.startsWith('choosing among')) controller.abort()
      },
    },
  )
  await expect(plan).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
  expect(steps.at(-1)).toMatch(/^choosing among \d+ friend groups$/)
  expect(await pool.run('topology', uploaded('after', 'moore:8x8:r=1'))).toMatchObject({ ranks: 64 })
})

it('a task that is aborted ends at once, running or waiting, and the next one gets a thread', async () => {
  const pool = newPool()
  const large = uploaded('large', 'moore:1000x1000:r=1')
  const small = uploaded('small', 'moore:8x8:r=1')
  const [running, waiting] = [new AbortController(), new AbortController()]
  const tasks = Promise.allSettled([
    pool.run('topology', large, { signal: running.signal }),
    pool.run('topology', large, { signal: waiting.signal }),
    pool.run('topology', small),
  ])
  waiting.abort()
  running.abort()
  const [first, second, third] = await tasks
  for (const task of [first, second]) expect(task).toMatchObject({ reason: { code: 'ERR_CANCELLED' } })
  expect(third).toMatchObject({ value: { ranks: 64 } })
  const late = new AbortController()
  late.abort()
  await expect(pool.run('topology', small, { signal: late.signal })).rejects.toMatchObject({
    code: 'ERR_CANCELLED',
  })
})

it('a task that needs more heap than it may have fails with a code, and the next one gets a thread', async () => {
  const pool = newPool({ heapMb: 40 })
  const edges = Array.from({ length: 300_000 }, (_, index) => ({
    source: `${index % 9}`,
    target: `${index}`,
  }))
  const nodes = Array.from({ length: 150_000 }, (_, index) => ({ key: `${index}` }))
  const deep = uploaded('graph', JSON.stringify({ nodes, edges }), 'json')
  await expect(pool.run('topology', deep)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  expect(await pool.run('topology', uploaded('small', 'moore:8x8:r=1'))).toMatchObject({ ranks: 64 })
})

it('when it closes, what runs and what waits ends with a code, and nothing more is taken', async () => {
  const pool = newPool()
  const small = uploaded('small', 'moore:8x8:r=1')
  const tasks = Promise.allSettled([pool.run('topology', small), pool.run('topology', small)])
  await pool.close()
  for (const task of await tasks) expect(task).toMatchObject({ reason: { code: 'ERR_BUSY' } })
  await expect(pool.run('topology', small)).rejects.toMatchObject({ code: 'ERR_BUSY' })
})

it('a plan that needs more arrays than it may have fails with a code before they are there, by whatever strategy', async () => {
  const pool = newPool({ settings: { ...settings, arraysMb: 16 } })
  const machine = 'cluster:nodes=64,cores=64,profile=simgrid-fast'
  const large = uploaded('large-plan', 'moore:64x64:r=2')
  // Its edges pass the estimate, and the lists of some strategies do not.
  const spread = uploaded('spread', 'er:512:d=0.23:seed=1')
  const ends = []
  const strategies = ['direct', 'routed', 'allgather', 'common-neighbor']
  for (const strategy of strategies) {
    const words = { strategy, machine, operation: 'neighbor-allgather' } as const
    const { read: request } = readRequest({ topology: idOf('t', 0), ...words })
    const into = join(folder(), `plan-${strategy}`)
    await expect(pool.run('plan', { ...large, request, into }), strategy).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('jobArraysMb') as string,
    })
    ends.push(
      await pool.run('plan', { ...spread, request, into }).then(
        ({ statistics }) => statistics['verified'],
        (error: { code: string }) => error.code,
      ),
    )
  }
  expect(ends[0]).toBe(true)
  expect(ends).toContain('ERR_LIMIT')
  expect(
    ends.every((end) => end === true || end === 'ERR_LIMIT'),
    String(ends),
  ).toBe(true)
})

describe('tasks that take seconds each, on one thread', () => {
  const long = () => uploaded('long', 'rmat:1048576:d=16')
  const small = () => uploaded('small', 'moore:8x8:r=1')

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
