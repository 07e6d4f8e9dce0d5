import type { Worker } from 'node:worker_threads'
import { type RankweaveError, run, threads } from 'rankweave'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { followWorld, type StartedProcess } from '../../../src/launch/processes/started-world.js'
import { runThreads, startWorkers } from '../../../src/launch/threads-launcher.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { compiledUrl } from '../../support/compiled.js'
import { ManualClock } from '../../support/manual-clock.js'
import type { Hang } from '../../support/threads-hang.js'
import type { Loss, Moment } from '../../support/threads-loss.js'

// Before workers are counted: the compiler uses one.
const loss = compiledUrl('threads-loss.ts')
const hang = compiledUrl('threads-hang.ts')
const anything = compiledUrl('threads-program.ts')
const ownChannels = compiledUrl('own-channels-program.ts')

/** Workers of the running test, in the order of their processes. */
let workers: Worker[]
const onWorker = (worker: Worker) => void workers.push(worker)
beforeEach(() => {
  workers = []
  process.on('worker', onWorker)
})
afterEach(() => {
  process.off('worker', onWorker)
  // Nothing stays behind.
  expect(workers.map(({ threadId }) => threadId)).toEqual(workers.map(() => -1))
  expect(process.getActiveResourcesInfo().filter((type) => /worker|messageport/i.test(type))).toEqual([])
})

/** Of `run`, which is built, and of `runThreads`, which is source: each has its own error class. */
async function failure(promise: Promise<unknown>): Promise<RankweaveError> {
  const error = await promise.then(
    (value) => new Error(`expected an error, got ${String(value)}`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error && 'code' in error)) throw error
  return error as RankweaveError
}

const shared = (bytes: number) => new SharedArrayBuffer(bytes)

/** During other operations in test/faults. */
describe('a process lost during', () => {
  const lossy = async (moment: Moment) => {
    const args: Loss = { moment, seen: new Int32Array(shared(12)) }
    const error = await failure(run(loss, { ranks: 3, fabric: threads({ processes: 3 }), args }))
    expect(error).toMatchObject({ code: 'ERR_PEER_LOST', details: { process: 2 } })
    return { message: error.message, seen: [...args.seen] }
  }

  it.each<Moment>([
    'stream of messages',
    'alltoall',
    'start of a persistent neighbor allgather',
    'start that tries a strategy',
    'after its ranks have returned',
  ])('%s: what involves it fails, the rest continues, run names it', async (moment) => {
    const { message, seen } = await lossy(moment)
    expect(message).toContain('process 2 with rank 2 is lost: its worker ended with code 5')
    expect(seen).toEqual([3, 3, 0])
  })

  it('loading the program: no rank starts', async () => {
    expect((await lossy('load')).seen).toEqual([0, 0, 0])
  })
})

describe('a worker that is terminated from outside', () => {
  it.each([0, 1])('process %i is lost like any other', async (lost) => {
    const channel = new BroadcastChannel(`rankweave-test-terminate-${lost}`)
    const args: Hang = { last: 'channel', channel: channel.name }
    const world = failure(run(hang, { ranks: 4, processes: 2, fabric: 'threads', args }))
    await new Promise((resolve) => {
      channel.onmessage = resolve
    })
    await workers[lost].terminate()
    // The last rank continues, unless it is lost.
    channel.postMessage('go')
    channel.close()
    expect(await world).toMatchObject({ code: 'ERR_PEER_LOST', details: { process: lost } })
  })
})

describe('a worker in a loop without await when the world fails', () => {
  /** Rank 3, alone on process 1, has stopped its thread. */
  async function stuck(options: { readonly signal?: AbortSignal } = {}) {
    const clock = new ManualClock()
    const channel = new BroadcastChannel('rankweave-test-deaf')
    const there = new Promise((resolve) => {
      channel.onmessage = resolve
    })
    const args: Hang = { last: 'block', channel: channel.name, word: new Int32Array(shared(4)) }
    const fabric = threads({ ranksPerProcess: [3, 1] })
    const world = { ranks: 4, ranksPerProcess: [3, 1], args }
    let processes: readonly StartedProcess[] = []
    const start = () => {
      processes = startWorkers(hang, fabric, world)
      return { processes, noun: 'worker', release() {} }
    }
    const layout = worldLayout(4, fabric.options.nodes, world.ranksPerProcess)
    const ended = failure(followWorld(start, layout, { ...options, clock }))
    await there
    channel.close()
    return { world: ended, clock, processes }
  }

  it('is terminated after a grace period, and the error reports it', async () => {
    const abort = new AbortController()
    const { world, clock, processes } = await stuck({ signal: abort.signal })
    const aware = new Promise<void>((resolve) => {
      processes[0].on('message', ({ kind }) => kind === 'failing' && resolve())
    })
    const reason = new Error('enough')
    abort.abort(reason)
    await aware
    expect(clock.delays).toEqual([5000])
    clock.pass()
    const error = await world
    expect(error.code).toBe('ERR_ABORTED')
    expect(error.cause).toBe(reason)
    expect(error.message).toMatch(/terminated 5 s later .*: process 1 with rank 3$/)
  })

  it('is terminated after an error of another rank, with which run rejects', async () => {
    const clock = new ManualClock()
    const args = { kind: 'throw while another is stuck', word: new Int32Array(shared(4)) }
    const fabric = threads({ ranksPerProcess: [2, 1] })
    const world = failure(
      runThreads(anything, fabric, { ranks: 3, ranksPerProcess: [2, 1], args }, { clock }),
    )
    while (clock.delays.length === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.pass()
    const error = await world
    expect(error).toMatchObject({ code: 'ERR_TOPOLOGY', details: { rank: 0 } })
    expect(error.message).toMatch(/^on purpose; terminated .*: process 1 with rank 2$/)
  })

  it('may continue when another process is lost', async () => {
    const { world, clock } = await stuck()
    await workers[0].terminate()
    expect(clock.delays).toEqual([])
    await workers[1].terminate()
    expect(await world).toMatchObject({ code: 'ERR_PEER_LOST', details: { process: 0 } })
  })
})

describe('a program that closes the port of its worker, removes all listeners and posts messages', () => {
  const fabric = threads({ processes: 2 })

  it('returns its results', async () => {
    expect(await run(ownChannels, { ranks: 2, fabric })).toEqual([0, 1])
  })

  it('is ended by a signal', async () => {
    const channel = new BroadcastChannel('rankweave-test-channels')
    const abort = new AbortController()
    const args = channel.name
    const world = failure(run(ownChannels, { ranks: 2, fabric, args, signal: abort.signal }))
    await new Promise((resolve) => {
      channel.onmessage = resolve
    })
    channel.close()
    abort.abort(new Error('enough'))
    expect(await world).toMatchObject({ code: 'ERR_ABORTED', cause: { message: 'enough' } })
  })
})

describe('a program that can never continue', () => {
  it('because nothing can settle what it awaits', async () => {
    const fabric = threads({ ranksPerProcess: [2, 1] })
    const error = await failure(run(anything, { ranks: 3, fabric, args: { kind: 'never settles', rank: 2 } }))
    expect(error.code).toBe('ERR_DEADLOCK')
    expect(error.message).toContain('rank 2 cannot continue: nothing is left in this process to wake it')
  })
})

describe('a call whose promise a program does not await', () => {
  it.each([0, 1])('fails the world with the error of the call, on process %i', async (rank) => {
    const args = { kind: 'not awaited', rank }
    const error = await failure(runThreads(anything, threads({ processes: 2 }), { ranks: 2, args }))
    expect(error.code).toBe('ERR_REQUEST')
    expect(error.message).toMatch(/^start: expected the previous start .*: is an await missing\?$/)
    expect(error.stack).toContain('threads-program')
  })
})

describe('options', () => {
  it.each([
    { maxOldGenerationSizeMb: -1 },
    { maxOldGenerationSizeMb: Number.NaN },
    { maxOldGenerationSizeMb: '64' },
    { maxOldGenerationSize: 64 },
    64,
    null,
  ])('resourceLimits %j are refused', (resourceLimits) => {
    expect(() => threads({ resourceLimits } as never)).toThrow(expect.objectContaining({ code: 'ERR_WORLD' }))
  })
})
