import { type Communicator, local, type RunOptions, run, worldReport } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { isRankweaveError, RankweaveError, throwingRank } from '../../../src/errors.js'
import type { HostedMain } from '../../../src/world/user-program.js'

const never = (): never => {
  throw new Error('expected the hosted form to run')
}

/** Runs the hosted form of a function. */
const hosts = <T>(hosted: HostedMain<T, undefined>, options: Omit<RunOptions<undefined, T>, 'hosted'>) =>
  run<T>(never, { ...options, hosted })

async function failureOf(world: Promise<unknown>): Promise<RankweaveError> {
  const failure: unknown = await world.catch((error: unknown) => error)
  if (!(failure instanceof RankweaveError)) throw new Error(`expected a failure, got ${String(failure)}`)
  return failure
}

/** Process 1 hosts no rank. */
const uneven = () => local({ ranksPerProcess: [3, 0, 2], seed: 5 })

describe('a hosted program', () => {
  it('is called once per process that has ranks, with their handles by ascending rank, frozen', async () => {
    const calls: number[][] = []
    const results = await hosts(
      (worlds, args) => {
        expect(Object.isFrozen(worlds)).toBe(true)
        expect(args).toBeUndefined()
        calls.push(worlds.map(({ rank }) => rank))
        return worlds.map(({ rank, location }) => `${rank} on ${location.process}`)
      },
      { ranks: 5, fabric: uneven() },
    )
    expect(calls).toEqual([
      [0, 1, 2],
      [3, 4],
    ])
    expect(results).toEqual(['0 on 0', '1 on 0', '2 on 0', '3 on 2', '4 on 2'])
  })

  it('gets the args of the world, and may return nothing for all ranks', async () => {
    const seen: unknown[] = []
    const results = await run<undefined, string>(never, {
      ...{ ranks: 3, processes: 2, args: 'fast' },
      hosted: async (_, args) => void seen.push(args),
    })
    expect(seen).toEqual(['fast', 'fast'])
    expect(results).toEqual([undefined, undefined, undefined])
  })

  it.each([false, true])('does not run where there is none (hosted: %s)', async (hosted) => {
    expect(await run(({ rank }) => rank, { ranks: 3, hosted })).toEqual([0, 1, 2])
  })

  const module = new URL('file:///program.js')
  it.each([
    ['has to be a function', never, 'yes', 'true, false or a function (worlds, args) => ...'],
    ['of a module is its export', module, never, 'of a module, which exports it'],
  ])('%s', async (_, main, hosted, text) => {
    const failure = await failureOf(run(main, { ranks: 2, hosted } as never))
    expect(failure).toMatchObject({ code: 'ERR_ARGUMENT', message: expect.stringContaining(text) })
  })

  it.each([
    ['too few values', [1], 'ERR_COUNT', 'an array of 2 values'],
    ['too many values', [1, 2, 3], 'ERR_COUNT', 'got 3 values'],
    ['no array', 7, 'ERR_TYPE', 'got 7'],
    ['null', null, 'ERR_TYPE', 'got null'],
    ['promises', [1, Promise.resolve(2)], 'ERR_TYPE', 'values, got a promise at place 1'],
  ])('that returns %s fails', async (_, returned, code, text) => {
    const failure = await failureOf(hosts((() => returned) as never, { ranks: 4, processes: 2 }))
    expect(failure).toMatchObject({ code, message: expect.stringContaining(text) })
    expect(throwingRank(failure)).toBe(0)
  })

  it.each(['at once', 'later'])('that throws %s fails all its ranks, and names the first', async (when) => {
    const thrown = new RangeError('out of cheese')
    const others: unknown[] = []
    const world = hosts(
      (worlds) => {
        const [first] = worlds as [Communicator]
        if (first.rank === 0)
          return first.recv(2).then(never, (error: unknown) => {
            others.push(error)
            throw error
          })
        if (when === 'at once') throw thrown
        return Promise.reject(thrown)
      },
      { ranks: 4, processes: 2 },
    )
    await expect(world).rejects.toBe(thrown)
    expect(throwingRank(thrown)).toBe(2)
    expect(others).toHaveLength(1)
    expect(isRankweaveError(others[0], 'ERR_WORLD_ENDED')).toBe(true)
  })

  const throwing = (): never => {
    throw new RangeError('out of cheese')
  }
  it.each([
    ['an entry', (list: object) => Object.defineProperty(list, 1, { get: throwing })],
    [
      'the length',
      (list: object) =>
        new Proxy(list, { get: (own, key) => (key === 'length' ? throwing() : Reflect.get(own, key)) }),
    ],
  ])('that returns a list of which %s throws fails as if it had thrown', async (_what, of) => {
    const world = hosts((worlds) => (worlds[0].rank === 2 ? of([1, 2]) : [1, 2]) as number[], {
      ...{ ranks: 4, processes: 2 },
    })
    const failure: unknown = await world.catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'RangeError', message: 'out of cheese' })
    expect(throwingRank(failure)).toBe(2)
  })

  it('ends with the world by its signal', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const world = hosts(
      async (worlds) => {
        controller.abort(reason)
        await worlds[0].recv()
        return undefined
      },
      { ranks: 4, processes: 2, signal: controller.signal },
    )
    await expect(world).rejects.toMatchObject({ code: 'ERR_ABORTED', cause: reason })
  })
})

describe('a deadlock of hosted programs', () => {
  it.each([1, 2, 3])('is reported where one of their ranks waits (%i processes)', async (processes) => {
    const world = hosts(
      async (worlds) => {
        await worlds[0].recv(3, 7)
        return undefined
      },
      { ranks: 6, processes },
    )
    const failure = await failureOf(world)
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(failure.details).toEqual({ blocked: 6, ended: 0 })
    expect(failure.message).toContain('recv(source 3, tag 7)')
  })

  it('is reported where one rank has not called what another one waits for', async () => {
    const failure = await failureOf(
      hosts((worlds) => worlds[0].barrier().then(never), { ranks: 4, processes: 2 }),
    )
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(failure.message).toContain('rank 0 waits in barrier() #0; rank 1 has not called it')
  })

  it('counts a program that has returned as finished', async () => {
    const failure = await failureOf(
      hosts(
        async (worlds) => {
          if (worlds[0].rank > 0) await worlds[1].recv(0)
          return undefined
        },
        { ranks: 4, processes: 2 },
      ),
    )
    expect(failure.details).toEqual({ blocked: 2, ended: 2 })
  })

  it('is not reported while a program computes, awaits a timer, or a turn of the event loop', async () => {
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const results = await hosts(
      async (worlds) => {
        const [first, second] = worlds as [Communicator, Communicator]
        const waits = first.recv(second.rank, 1)
        const end = performance.now() + 30
        while (performance.now() < end);
        await pause(100)
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
        await second.send(Int32Array.of(second.rank), first.rank, 1)
        const { data } = await waits
        return [data, null]
      },
      { ranks: 4, processes: 2 },
    )
    expect(results).toEqual([Int32Array.of(1), null, Int32Array.of(3), null])
  })

  it('has a report in which all ranks of a program that waits are blocked', async () => {
    let report = ''
    const world = hosts(
      async (worlds) => {
        if (worlds[0].rank > 0) return undefined
        const waits = worlds[0].recv(3)
        await new Promise((resolve) => setImmediate(resolve))
        report = worldReport()
        await waits
        return undefined
      },
      { ranks: 4, processes: 2 },
    )
    expect((await failureOf(world)).code).toBe('ERR_DEADLOCK')
    expect(report).toContain('2 blocked, 0 running, 2 finished')
  })
})
