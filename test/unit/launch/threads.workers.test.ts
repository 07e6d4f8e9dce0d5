import { cachedDataVersionTag } from 'node:v8'
import { isRankweaveError, type RankweaveError, run, threads } from 'rankweave'
import { afterEach, describe, expect, it } from 'vitest'
import { allowedProcessors, processorsIn } from '../../../src/base/allowed-processors.js'
import { coreOfEachProcess } from '../../../src/fabric/threads/core-binding.js'
import { compiledUrl } from '../../support/compiled.js'
import type { Part } from '../../support/threads-program.js'

const program = compiledUrl('threads-program.ts')

/** Ranks 0 and 1 on process 0, rank 2 on process 1. */
const ranksPerProcess = [2, 1]

const start = (part: Part, options: Partial<Parameters<typeof run>[1]> = {}) =>
  run<unknown, Part>(program, {
    ranks: 3,
    fabric: threads({ ranksPerProcess }),
    args: part,
    ...options,
  } as never)

async function failure(promise: Promise<unknown>): Promise<RankweaveError & { cause?: unknown }> {
  const error = await promise.then(
    (value) => new Error(`expected an error, got ${String(value)}`),
    (reason: unknown) => reason,
  )
  if (!isRankweaveError(error)) throw error
  return error
}

const waitOn = (channel: string): Part => ({ kind: 'wait for the signal', channel })

/** Workers show among the active resources of their parent. */
const workers = () => process.getActiveResourcesInfo().filter((type) => /worker|messageport/i.test(type))

afterEach(() => {
  expect(workers()).toEqual([])
})

describe('results', () => {
  it('are structured clones, in rank order', async () => {
    const results = await start({ kind: 'values' })
    expect(results).toEqual(
      [0, 1, 2].map((rank) => ({
        rank,
        map: new Map([[1, Float64Array.of(rank)]]),
        none: undefined,
        big: 2n ** 70n,
      })),
    )
  })

  it('every process is its own thread', async () => {
    const [a, b, c] = await start({ kind: 'thread' })
    expect(a).toBe(b)
    expect(new Set([0, a, c]).size).toBe(3)
  })

  it('every process runs on the core that it is bound to', async () => {
    const anywhere = processorsIn(allowedProcessors())
    const bound = { ranks: 1, fabric: threads({ processes: 1, bindTo: 'core' }) }
    const [processors] = await start({ kind: 'processors' }, bound)
    expect(processorsIn(processors as string)).toEqual(coreOfEachProcess(1)[0])
    // Nothing else is bound.
    expect(processorsIn(allowedProcessors())).toEqual(anywhere)
    expect(await start({ kind: 'processors' })).toEqual([0, 1, 2].map(() => allowedProcessors()))
  })

  it('that cannot be cloned are rejected with the rank', async () => {
    const error = await failure(start({ kind: 'function result' }))
    expect(error.code).toBe('ERR_CLONE')
    expect(error.message).toContain('rank 2')
  })

  it('leave no flag of V8 that a collection sets', async () => {
    const before = cachedDataVersionTag()
    await start({ kind: 'flag of V8' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(cachedDataVersionTag()).toBe(before)
  })

  it('are returned although a program leaves timers behind', async () => {
    expect(await start({ kind: 'linger' })).toEqual([0, 1, 2])
  })
})

describe('errors', () => {
  it.each([0, 2])('of rank %i end the world, rebuilt with class, code and details', async (rank) => {
    const error = await failure(start({ kind: 'throw', rank }))
    expect(error.code).toBe('ERR_TOPOLOGY')
    expect(error.message).toBe('on purpose')
    expect(error.details).toEqual({ rank })
  })

  it('abort', async () => {
    const error = await failure(start({ kind: 'abort', rank: 2 }))
    expect(error.code).toBe('ERR_WORLD_ABORTED')
    expect(error.details).toEqual({ rank: 2 })
  })

  it('a deadlock across threads is reported with who waits for what', async () => {
    const error = await failure(start({ kind: 'deadlock' }))
    expect(error.code).toBe('ERR_DEADLOCK')
    expect(error.details).toEqual({ blocked: 3, ended: 0 })
    expect(error.message).toContain('ranks 0-1 wait in recv(source rank + 1, tag 5)')
    expect(error.message).toContain('rank 2 waits in recv(source 0, tag 5)')
  })
})

describe('arguments', () => {
  const options = { ranks: 2, processes: 2, fabric: 'threads' } as const

  it('a function as main', async () => {
    // @ts-expect-error the types refuse it, too
    const error = await failure(run(() => 1, options))
    expect(error.code).toBe('ERR_ARGUMENT')
    expect(error.message).toContain('URL')
  })

  it('args that cannot be cloned', async () => {
    const error = await failure(run(program, { ...options, args: (() => {}) as never }))
    expect(error.code).toBe('ERR_CLONE')
  })

  it.each([0, 65, 1.5])('%d processes', async (processes) => {
    expect((await failure(run(program, { ...options, processes }))).code).toBe('ERR_WORLD')
  })

  it('numbers that do not agree', () => {
    for (const wrong of [
      { processes: 2, ranksPerProcess: [1] },
      { processes: 2, nodes: ['a'] },
      { ringBytes: 5000 },
      { ringBytes: 2048 },
    ]) {
      expect(() => threads(wrong)).toThrow(expect.objectContaining({ code: 'ERR_WORLD' }))
    }
  })

  it('sessions live in workers only', async () => {
    expect((await failure(threads({ processes: 2 }).open())).code).toBe('ERR_FABRIC')
  })

  it('a program that is missing, or has no default export', async () => {
    const missing = new URL('./no-such-program.ts', import.meta.url)
    expect((await failure(run(missing, options))).code).toBe('ERR_PROGRAM')
    const noMain = new URL('../../support/soak.ts', import.meta.url)
    expect((await failure(run(noMain, options))).code).toBe('ERR_PROGRAM')
  })
})

describe('a signal', () => {
  it('that is aborted already starts nothing', async () => {
    const reason = new Error('never mind')
    const error = await failure(start({ kind: 'values' }, { signal: AbortSignal.abort(reason) }))
    expect(error.code).toBe('ERR_ABORTED')
    expect(error.cause).toBe(reason)
  })

  it('ends the world while workers load the program', async () => {
    const reason = new Error('enough')
    const abort = new AbortController()
    const world = start(waitOn('unused'), { signal: abort.signal })
    setImmediate(() => abort.abort(reason))
    const error = await failure(world)
    expect(error.code).toBe('ERR_ABORTED')
    expect(error.cause).toBe(reason)
  })

  it('ends a world that runs', async () => {
    const reason = new Error('enough')
    const abort = new AbortController()
    const channel = new BroadcastChannel('rankweave-test-signal')
    channel.onmessage = () => abort.abort(reason)
    const error = await failure(start(waitOn(channel.name), { signal: abort.signal, detectDeadlock: false }))
    channel.close()
    expect(error.code).toBe('ERR_ABORTED')
    expect(error.cause).toBe(reason)
  })
})
