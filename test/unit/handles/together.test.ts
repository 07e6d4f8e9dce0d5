import {
  Communicator,
  type HostedMain,
  type LocalOptions,
  local,
  type RankweaveError,
  run,
  together,
} from 'rankweave'
import { describe, expect, it } from 'vitest'
import { throwingRank } from '../../../src/errors.js'
import { onRanks } from '../../support/on-ranks.js'

type Worlds = readonly Communicator[]

const ranks = 6
/** Process 1 hosts no rank, and process 3 one. */
const uneven: LocalOptions = { ranksPerProcess: [3, 0, 2, 1], seed: 7 }
const never = (): never => {
  throw new Error('expected the hosted form to run')
}
const hosts = <T>(hosted: HostedMain<T, undefined>, options = { ranks, fabric: local(uneven) }) =>
  run<T>(never, { ...options, hosted })
/** What `main` returns in each process, once for each of its ranks. */
const inProcesses = <T>(main: (worlds: Worlds) => Promise<T>) =>
  hosts(async (worlds) => {
    const result = await main(worlds)
    return worlds.map(() => result)
  })
const six = <T>(value: T) => new Array<T>(ranks).fill(value)
const ranksOf = (comms: Worlds) => comms.map(({ rank }) => rank)
const ones = (comms: Worlds) => comms.map(() => 1)
const barrier = (worlds: unknown, options?: unknown) =>
  together(worlds as Worlds, (world) => world.barrier(options as never))
/** An allreduce of a list of what each rank passes, with options for all or a list of those of each. */
const reduced = <T>(worlds: Worlds, data: ArrayLike<T>, op: 'sum' | 'max' | 'min', options?: unknown) =>
  together(
    worlds,
    (world, k) =>
      world.allreduce(data[k] as never, op, Array.isArray(options) ? options[k] : options) as Promise<T>,
  )
const sum = <T>(worlds: Worlds, data: ArrayLike<T>, options?: unknown) =>
  reduced(worlds, data, 'sum', options)

const outcome = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const { code, message } = (error ?? {}) as Partial<RankweaveError>
  return { code, message, rank: throwingRank(error) }
}

describe('a call of all ranks of a process', () => {
  it('yields what each rank gets, in the order of the handles', async () => {
    const results = await hosts(async (worlds) => {
      const backwards = worlds.toReversed()
      const sums = await sum(worlds, ranksOf(worlds))
      const scans = await together(backwards, (world) => world.scan(BigInt(world.rank), 'sum'))
      return worlds.map((_, i) => [sums[i], scans.at(-1 - i)])
    })
    expect(results).toEqual([0n, 1n, 3n, 6n, 10n, 15n].map((scan) => [15, scan]))
  })

  it('mixes with calls of single ranks, in the same process and in others', async () => {
    const results = await hosts(async (worlds) => {
      const jointly = await (worlds[0]!.rank === 3
        ? Promise.all(worlds.map((world) => world.allreduce(1, 'sum')))
        : sum(worlds, new Uint8Array(worlds.length).fill(1)))
      const each = await Promise.all(worlds.map((world, i) => world.allreduce(jointly[i]!, 'sum')))
      return reduced(worlds, each, 'max')
    })
    expect(results).toEqual(six(36))
  })

  it('joins the next call of each rank where some are ahead', async () => {
    const results = await hosts(async (worlds) => {
      const [first, ...rest] = worlds as [Communicator, ...Communicator[]]
      const ahead = first.allreduce(1, 'sum')
      const joint = sum(worlds, ones(worlds))
      const behind = rest.map((world) => world.allreduce(1, 'sum'))
      return [await ahead, ...(await joint), ...(await Promise.all(behind))].slice(0, worlds.length)
    })
    expect(results).toEqual(six(6))
  })

  it('yields the bits of calls of single ranks, also where calls repeat', async () => {
    const fabric = local({ ranksPerProcess: [5, 0, 3, 1, 4], seed: 3 })
    await hosts(
      async (worlds) => {
        for (let round = 0; round < 4; round++) {
          const mine = worlds.map(({ rank }) => Math.sin(rank * 5 + round) * 10 ** (rank % 7))
          const each = await Promise.all(worlds.map((world, i) => world.allreduce(mine[i]!, 'sum')))
          expect(await sum(worlds, mine)).toEqual(each)
          const arrays = mine.map((number) => Float64Array.of(number, -number))
          const sums = await reduced(worlds, arrays, 'sum')
          expect(sums.map(([first]) => first)).toEqual(each)
        }
        return undefined
      },
      { ranks: 13, fabric },
    )
  })

  it('repeats an allreduce of numbers with other numbers, another operation or another type', async () => {
    const results = await inProcesses(async (worlds) => {
      const seen: unknown[] = []
      for (const op of ['sum', 'sum', 'max', 'max', 'sum'] as const)
        seen.push((await reduced(worlds, ones(worlds), op))[0])
      const arrays = worlds.map(() => Float64Array.of(2))
      seen.push((await reduced(worlds, arrays, 'sum'))[0]![0])
      seen.push((await sum(worlds, new Float64Array(worlds.length).fill(3)))[0])
      return seen
    })
    expect(results).toEqual(six([6, 6, 1, 1, 6, 12, 18]))
  })

  it('repeats an allreduce of arrays with other contents, buffers, operations and options', async () => {
    const results = await inProcesses(async (worlds) => {
      const arrays = worlds.map(({ rank }) => Float64Array.of(rank, 1))
      const into = () => worlds.map(() => ({ into: new Float64Array(3).fill(-1) }))
      const [first, other] = [into(), into()]
      const seen: string[] = []
      const call = async (op: 'sum' | 'max', options?: unknown) => {
        const got = await reduced(worlds, arrays, op, options as never)
        expect(new Set(got.map(String)).size).toBe(1)
        seen.push(String(got[0]))
      }
      await call('sum', first)
      for (const array of arrays) array[1] = 2
      await call('sum', first)
      await call('max', first)
      await call('max', other)
      await call('max')
      await call('sum', { algorithm: 'allreduce-linear' })
      seen.push(String((await outcome(call('sum', { algorithn: 'allreduce-linear' }))).code))
      await call('sum', other)
      await call('sum', other)
      return seen.join(' ')
    })
    expect(results).toEqual(six('15,6,-1 15,12,-1 5,2,-1 5,2,-1 5,2 15,12 ERR_ARGUMENT 15,12,-1 15,12,-1'))
  })

  it('takes the options of each rank', async () => {
    const results = await inProcesses(async (worlds) => {
      const into = worlds.map(() => new Int32Array(1))
      const data = worlds.map(({ rank }) => Int32Array.of(rank))
      const algorithm = 'allreduce-tree'
      const each = into.map((buffer) => ({ into: buffer, algorithm }))
      const most = await reduced(worlds, data, 'max', each)
      const least = await reduced(worlds, data, 'min', { algorithm })
      return [most.every((buffer, i) => buffer === into[i]), most[0]![0], least[0]![0]]
    })
    expect(results).toEqual(six([true, 5, 0]))
  })

  it('refuses buffers that were detached since the last call, before any rank joins', async () => {
    const results = await inProcesses(async (worlds) => {
      const arrays = worlds.map(() => Float64Array.of(1))
      const options = worlds.map(() => ({ into: new Float64Array(1) }))
      for (let i = 0; i < 2; i++) await sum(worlds, arrays, options)
      if (worlds[0]!.rank === 0) {
        structuredClone(options[1]!.into, { transfer: [options[1]!.into.buffer] })
        expect(await outcome(sum(worlds, arrays, options))).toMatchObject({ code: 'ERR_TYPE', rank: 1 })
        options[1] = { into: new Float64Array(1) }
      }
      const sums: number[][] = []
      for (let step = 1; step <= 3; step++) {
        for (const array of arrays) array[0] = step
        await sum(worlds, arrays, options)
        sums.push([...new Set(options.map(({ into }) => into[0]!))])
      }
      return sums
    })
    expect(results).toEqual(six([[6], [12], [18]]))
  })

  it('splits, duplicates and creates grids', async () => {
    const results = await hosts(async (worlds) => {
      const halves = await together(worlds, (world) => world.split(world.rank % 2, -world.rank))
      const same = await together(worlds, (world, k) =>
        k === 0 ? world.split(world.rank % 2, -world.rank) : world.split(world.rank % 2, -world.rank, {}),
      )
      expect(same.map(({ rank }) => rank)).toEqual(halves.map(({ rank }) => rank))
      const ahead = worlds[0]!.split(0, worlds[0]!.rank)
      const joint = together(worlds, (world) => world.split(0, world.rank))
      const behind = worlds.slice(1).map((world) => world.split(0, world.rank))
      for (const part of [await ahead, ...(await joint), ...(await Promise.all(behind))])
        expect(part.size).toBe(6)
      const copies = await together(worlds, (world) => world.dup())
      const grids = await together(worlds, (world) => world.createCart([2, 3]))
      const again = await together(grids as Communicator[], (grid) => grid.dup())
      return worlds.map((_, i) => [halves[i]!.rank, copies[i]!.rank, grids[i]!.coords(), again[i]!.rank])
    })
    expect(results).toEqual([0, 1, 2, 3, 4, 5].map((r) => [(5 - r) >> 1, r, [Math.floor(r / 3), r % 3], r]))
  })

  it('starts persistent requests, once their init is complete', async () => {
    const results = await inProcesses(async (worlds) => {
      const into = worlds.map(() => new Int32Array(1))
      const requests = worlds.map((world, k) =>
        world.allreduceInit(Int32Array.of(world.rank), into[k]!, 'sum'),
      )
      await Communicator.startAll(requests)
      for (const each of into) each[0] = -1
      await together(worlds, (_, k) => requests[k]!.start())
      return into[0]![0]
    })
    expect(results).toEqual(six(15))
  })

  it('may be started before an earlier one completes', async () => {
    const results = await inProcesses((worlds) =>
      Promise.all(
        [1, 2, 3, 4].map(async (n) => (await sum(worlds, new Float64Array(worlds.length).fill(n)))[0]),
      ),
    )
    expect(results).toEqual(six([6, 12, 18, 24]))
  })
})

describe('a call of all ranks of a process is refused before anything is sent', () => {
  type Case = readonly [string, (worlds: Worlds) => Promise<unknown>, code: string, text: string]
  it.each<Case>([
    ['for a part of the handles', (w) => barrier(w.slice(1)), 'ERR_ARGUMENT', 'got 2 of 3'],
    ['for no handle', () => barrier([]), 'ERR_ARGUMENT', 'of all ranks of one communicator'],
    ['for what is no list', () => barrier(7), 'ERR_ARGUMENT', 'got 7'],
    ['for what is no handle', () => barrier([{}]), 'ERR_ARGUMENT', 'at place 0'],
    ['for one twice', (w) => barrier([w[0], w[1], w[1]]), 'ERR_ARGUMENT', 'more than once'],
    [
      'for unknown options',
      (w) => barrier(w, { algoritm: 'x' }),
      'ERR_ARGUMENT',
      "algorithm, segments, got 'algoritm'",
    ],
    ['for a signal that is none', (w) => barrier(w, { signal: 7 }), 'ERR_ARGUMENT', 'AbortSignal'],
    [
      'for handles on two communicators',
      async (w) => barrier([w[0], w[1], (await together(w, (world) => world.split(0)))[2]]),
      'ERR_ARGUMENT',
      'one of another communicator at place 2',
    ],
    ['for no promise', (w) => together(w, () => 7 as never), 'ERR_ARGUMENT', 'got 7 at place 0'],
    ['for another promise', (w) => together(w, async () => {}), 'ERR_ARGUMENT', 'at place 0'],
    [
      'for the promise of an async function',
      (w) => together(w, async (world) => world.allreduce(1, 'sum')),
      'ERR_ARGUMENT',
      'expected the promise of one collective call',
    ],
    [
      'for calls that are started',
      (w) => together(w, (world) => world.ibarrier() as never),
      'ERR_ARGUMENT',
      'at place 0',
    ],
    [
      'for two calls',
      (w) => together(w, (world, k) => (k === 1 ? [world.barrier(), world.barrier()][1]! : world.barrier())),
      'ERR_ARGUMENT',
      'got more, or that of another handle, at place 1',
    ],
    [
      'for the call of another handle',
      (w) => together(w, () => w[1]!.barrier()),
      'ERR_ARGUMENT',
      'at place 0',
    ],
    [
      'for one within another',
      (w) => together(w, () => together(w, (world) => world.barrier()) as never),
      'ERR_ARGUMENT',
      'got another together',
    ],
    [
      'for a function that throws',
      (w) =>
        together(w, () => {
          throw new RangeError('none')
        }),
      undefined as never,
      'none',
    ],
    ['for an operation that is none', (w) => reduced(w, [1, 2, 3], 'sun' as never), 'ERR_OP', 'sun'],
  ])('%s', async (_, call, code, text) => {
    await hosts(
      async (worlds) => {
        const message = expect.stringContaining(text)
        expect(await outcome(call(worlds))).toMatchObject({ code, message })
        // The communicator is unharmed.
        return void (await barrier(worlds))
      },
      { ranks: 3, fabric: local({}) },
    )
  })

  it('and names the rank whose argument is wrong', async () => {
    const results = await inProcesses(async (worlds) => {
      const data = worlds.map(({ rank }) => ([1, 4, 5].includes(rank) ? 'one' : 1))
      const { code, rank } = await outcome(sum(worlds, data))
      return [(await sum(worlds, ones(worlds)))[0], code, rank]
    })
    expect(results).toEqual([1, 1, 1, 4, 4, 5].map((rank) => [6, 'ERR_OP', rank]))
  })
})

describe('a call of all ranks of a process that fails', () => {
  it('rejects with a mismatch between ranks of the process, on all processes', async () => {
    await hosts(async (worlds) => {
      const data = worlds.map(({ rank }) => new Int32Array(rank === 1 ? 5 : 4))
      expect(await outcome(sum(worlds, data))).toMatchObject({
        ...{ code: 'ERR_COLLECTIVE_MISMATCH', message: expect.stringContaining('rank 1 called allreduce(') },
      })
      expect((await outcome(barrier(worlds))).code).toMatch(/ERR_COLLECTIVE_MISMATCH|ERR_REVOKED/)
      return undefined
    })
  })

  it.each<readonly [string, (worlds: Worlds) => Promise<unknown>]>([
    ['with the call of another process', (w) => (w[0]!.rank === 5 ? barrier(w) : sum(w, ones(w)))],
    [
      'of numbers of two kinds',
      (w) =>
        sum(
          w,
          w.map(({ rank }) => (rank === 0 ? 1n : 1)),
        ),
    ],
  ])('rejects with a mismatch %s', async (_, call) => {
    const results = await inProcesses(async (worlds) => {
      const first = await outcome(call(worlds))
      const second = await outcome(barrier(worlds))
      return first.code ?? second.code
    })
    expect(results).toEqual(six('ERR_COLLECTIVE_MISMATCH'))
  })

  it('rejects with the error of the first rank that fails alone', async () => {
    const results = await inProcesses(async (worlds) => {
      // Blocks arrive that do not fit the counts of rank 1.
      const options = worlds.map(({ rank }) => (rank === 1 ? { counts: new Array(ranks).fill(2) } : {}))
      const data = worlds.map(({ rank }) => Int32Array.of(rank))
      const { code, rank } = await outcome(
        together(worlds, (world, k) => world.allgatherv(data[k]!, options[k])),
      )
      await barrier(worlds)
      return code === undefined ? 'right' : `${code} of ${rank}`
    })
    const failed = 'ERR_COUNT of 1'
    expect(results).toEqual([failed, failed, failed, 'right', 'right', 'right'])
  })

  it('rejects when its signal is aborted, before or during the call, and revokes the communicator', async () => {
    const codes = await inProcesses(async (worlds) => {
      const [duplicates, others] = await Promise.all(
        [0, 1].map(() => Promise.all(worlds.map((world) => world.dup()))),
      )
      await barrier(worlds)
      const controller = new AbortController()
      const { signal } = controller
      const isFirst = worlds[0]!.rank === 0
      const pending = outcome(isFirst ? barrier(duplicates, { signal }) : duplicates![0]!.recv(0))
      if (isFirst) controller.abort()
      return [(await pending).code, (await outcome(barrier(others, { signal }))).code]
    })
    expect(codes[0]).toEqual(['ERR_ABORTED', 'ERR_ABORTED'])
    expect(codes[5]).toEqual(['ERR_REVOKED', 'ERR_REVOKED'])
  })

  it('rejects once a handle is freed', async () => {
    const codes = await inProcesses(async (worlds) => {
      const parts = await Promise.all(worlds.map((world) => world.dup()))
      await Promise.all(parts.map((part) => part.free()))
      return (await outcome(barrier(parts))).code
    })
    expect(codes).toEqual(six('ERR_COMM_FREED'))
  })

  it('is reported when it waits for ever, with the ranks that wait', async () => {
    const world = hosts(async (worlds) => {
      if (worlds[0]!.rank < 5) await barrier(worlds)
      else await worlds[0]!.recv(0)
      return undefined
    })
    const { code, message } = await outcome(world)
    expect(code).toBe('ERR_DEADLOCK')
    expect(message).toContain('6 ranks are blocked')
    expect(message).toContain('ranks 0-2 wait in barrier() #0')
  })
})

it('ranks of one process in which mains run per rank may be called for together, and all of them wait then', async () => {
  const worlds: Communicator[] = []
  const sums = await onRanks({ ranks: 4 }, async (world) => {
    worlds.push(world)
    await world.barrier()
    return world.rank > 0 ? null : sum(worlds, ranksOf(worlds))
  })
  expect(sums).toEqual([[6, 6, 6, 6], null, null, null])
})

describe('startAll', () => {
  const setup = (worlds: Worlds) => {
    const recv = worlds.map(() => new Int32Array(1))
    const requests = worlds.map((world, i) => world.allreduceInit(Int32Array.of(world.rank), recv[i]!, 'sum'))
    return { requests, sums: () => recv.map(([sum]) => sum) }
  }

  it.each([false, true])(
    'starts none where one is active, or of another init (started before: %s)',
    async (warm) => {
      const results = await inProcesses(async (worlds) => {
        const [some, others] = [setup(worlds).requests, setup(worlds).requests]
        if (warm) await Promise.all([Communicator.startAll(some), Communicator.startAll(others)])
        const mixed = worlds.length === 1 ? undefined : [...some.slice(0, -1), others.at(-1)!]
        const refused = mixed && (await outcome(Communicator.startAll(mixed))).code
        const first = some.at(-1)!.start()
        const active = (await outcome(Communicator.startAll(some))).code
        await Promise.all([first, ...some.slice(0, -1).map((request) => request.start())])
        await Communicator.startAll(some)
        return [refused, active]
      })
      expect(results.slice(0, 5)).toEqual(new Array(5).fill(['ERR_ARGUMENT', 'ERR_REQUEST']))
      expect(results[5]).toEqual([undefined, 'ERR_REQUEST'])
    },
  )

  it('mixes with starts of single ranks', async () => {
    const results = await hosts(async (worlds) => {
      const { requests, sums } = setup(worlds)
      for (let round = 0; round < 4; round++) {
        if ((worlds[0]!.rank === 0) === (round % 2 === 0)) await Communicator.startAll(requests.toReversed())
        else await Promise.all(requests.map((request) => request.start()))
      }
      return sums()
    })
    expect(results).toEqual(six(15))
  })

  it('refuses a start while one is active, and requests of a part of the ranks', async () => {
    const results = await inProcesses(async (worlds) => {
      const { requests } = setup(worlds)
      await Communicator.startAll(requests)
      const started = Communicator.startAll(requests)
      const again = await outcome(Communicator.startAll(requests))
      const alone = await outcome(requests[0]!.start())
      await started
      const part = await outcome(Communicator.startAll(requests.slice(1)))
      for (const request of requests) request.free()
      const freed = await outcome(Communicator.startAll(requests))
      return [again, alone, part, freed].map(({ code }) => code)
    })
    expect(results[0]).toEqual(['ERR_REQUEST', 'ERR_REQUEST', 'ERR_ARGUMENT', 'ERR_REQUEST'])
  })

  it('starts several requests of each rank by one call for each', async () => {
    const results = await inProcesses(async (worlds) => {
      const [first, second] = [setup(worlds), setup(worlds)]
      for (let round = 0; round < 3; round++)
        await Promise.all([Communicator.startAll(second.requests), Communicator.startAll(first.requests)])
      return [first.sums()[0], second.sums()[0]]
    })
    expect(results).toEqual(six([15, 15]))
  })
})
