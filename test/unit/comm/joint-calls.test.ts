import { describe, expect, it } from 'vitest'
import { Communicator } from '../../../src/comm/communicator.js'
import { type RankweaveError, throwingRank } from '../../../src/errors.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import type { HostedMain } from '../../../src/world/user-program.js'

type Hosted<T> = HostedMain<T, undefined>

/** Process 1 hosts no rank, and process 3 one. */
const fabric = () => local({ ranksPerProcess: [3, 0, 2, 1], seed: 7 })
const ranks = 6

const never = (): never => {
  throw new Error('expected the hosted form to run')
}
const hosts = <T>(hosted: Hosted<T>) => run<T>(never, { ranks, fabric: fabric(), hosted })

const ranksOf = (comms: readonly Communicator[]) => comms.map(({ rank }) => rank)
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
      const sums = await Communicator.allreduceAll(worlds, ranksOf(worlds), 'sum')
      const scans = await Communicator.scanAll(
        backwards,
        backwards.map(({ rank }) => BigInt(rank)),
        'sum',
      )
      return worlds.map((_, i) => [sums[i], scans.at(-1 - i)])
    })
    expect(results).toEqual([0n, 1n, 3n, 6n, 10n, 15n].map((scan) => [15, scan]))
  })

  it('has one promise, of one value where all share it', async () => {
    const seen: unknown[] = []
    await hosts(async (worlds) => {
      seen.push(await Communicator.barrierAll(worlds))
      return undefined
    })
    expect(seen).toEqual([undefined, undefined, undefined])
  })

  it('mixes with calls of single ranks, in the same process and in others', async () => {
    const results = await run<number>(never, {
      ...{ ranks, fabric: fabric() },
      hosted: async (worlds) => {
        const first = worlds[0]!.rank === 3
        const jointly = await (first
          ? Promise.all(worlds.map((world) => world.allreduce(1, 'sum')))
          : Communicator.allreduceAll(worlds, new Uint8Array(worlds.length).fill(1), 'sum'))
        const each = await Promise.all(worlds.map((world, i) => world.allreduce(jointly[i]!, 'sum')))
        return Communicator.allreduceAll(worlds, each, 'max')
      },
    })
    expect(results).toEqual(new Array(6).fill(36))
  })

  it('joins the next call of each rank where some are ahead', async () => {
    const results = await hosts(async (worlds) => {
      const [first, ...rest] = worlds as [Communicator, ...Communicator[]]
      const ahead = first.allreduce(1, 'sum')
      const joint = Communicator.allreduceAll(worlds, new Array(worlds.length).fill(1), 'sum')
      const behind = rest.map((world) => world.allreduce(1, 'sum'))
      return [await ahead, ...(await joint), ...(await Promise.all(behind))].slice(0, worlds.length)
    })
    expect(results).toEqual(new Array(6).fill(6))
  })

  it('yields the bits of calls of single ranks, also where calls repeat', async () => {
    const differing = await run<number>(never, {
      ranks: 13,
      fabric: local({ ranksPerProcess: [5, 0, 3, 1, 4], seed: 3 }),
      hosted: async (worlds) => {
        let count = 0
        for (let round = 0; round < 4; round++) {
          const mine = worlds.map(({ rank }) => Math.sin(rank * 5 + round) * 10 ** (rank % 7))
          const jointly = await Communicator.allreduceAll(worlds, mine, 'sum')
          const each = await Promise.all(worlds.map((world, i) => world.allreduce(mine[i]!, 'sum')))
          const arrays = mine.map((number) => Float64Array.of(number, -number))
          const sums = await Communicator.allreduceAll(worlds, arrays, 'sum')
          for (const [i, own] of each.entries()) if (jointly[i] !== own || sums[i]![0] !== own) count++
        }
        return worlds.map(() => count)
      },
    })
    expect(differing).toEqual(new Array(13).fill(0))
  })

  it('repeats an allreduce of numbers with other numbers, another operation or another type', async () => {
    const results = await hosts(async (worlds) => {
      const ones = worlds.map(() => 1)
      const seen: unknown[] = []
      for (const op of ['sum', 'sum', 'max', 'max', 'sum'] as const)
        seen.push((await Communicator.allreduceAll(worlds, ones, op))[0])
      const arrays = worlds.map(() => Float64Array.of(2))
      seen.push((await Communicator.allreduceAll(worlds, arrays, 'sum'))[0]![0])
      seen.push((await Communicator.allreduceAll(worlds, new Float64Array(worlds.length).fill(3), 'sum'))[0])
      return worlds.map(() => seen)
    })
    expect(results).toEqual(new Array(6).fill([6, 6, 1, 1, 6, 12, 18]))
  })

  it('repeats an allreduce of arrays with other contents, buffers, operations and options', async () => {
    const results = await hosts(async (worlds) => {
      const arrays = worlds.map(({ rank }) => Float64Array.of(rank, 1))
      const into = () => worlds.map(() => ({ into: new Float64Array(3).fill(-1) }))
      const first = into()
      const other = into()
      const seen: unknown[] = []
      const call = async (op: 'sum' | 'max', options?: unknown) => {
        const got = await Communicator.allreduceAll(worlds, arrays, op, options as never)
        seen.push(worlds.map((_, n) => Array.from(got[n])))
      }
      await call('sum', first)
      for (const array of arrays) array[1] = 2
      await call('sum', first)
      await call('max', first)
      await call('max', other)
      await call('max')
      await call('sum', { algorithm: 'allreduce-linear' })
      seen.push((await outcome(call('sum', { algorithn: 'allreduce-linear' }))).code)
      await call('sum', other)
      await call('sum', other)
      return worlds.map((_, n) => seen.map((one) => (Array.isArray(one) ? one[n] : one)))
    })
    const [sum, max] = [
      [15, 12],
      [5, 2],
    ]
    const kept = [
      [15, 6, -1],
      [...sum!, -1],
      [...max!, -1],
      [...max!, -1],
      max,
      sum,
      'ERR_ARGUMENT',
      [...sum!, -1],
      [...sum!, -1],
    ]
    expect(results).toEqual(new Array(6).fill(kept))
  })

  it('takes no list of options for other ranks than it is for', async () => {
    const results = await hosts(async (worlds) => {
      const arrays = worlds.map(() => Float64Array.of(1))
      for (let i = 0; i < 2; i++) await Communicator.allreduceAll(worlds, arrays, 'sum')
      const options = worlds.length === 1 ? [{}, {}] : [{}]
      const { code } = await outcome(Communicator.allreduceAll(worlds, arrays, 'sum', options))
      return worlds.map(() => code)
    })
    expect(results).toEqual(new Array(6).fill('ERR_COUNT'))
  })

  it('refuses buffers that were detached since the last call, before any rank joins', async () => {
    const results = await hosts(async (worlds) => {
      const arrays = worlds.map(() => Float64Array.of(1))
      const options = worlds.map(() => ({ into: new Float64Array(1) }))
      for (let i = 0; i < 2; i++) await Communicator.allreduceAll(worlds, arrays, 'sum', options)
      const codes: unknown[] = []
      if (worlds[0]!.rank === 0) {
        structuredClone(options[1]!.into, { transfer: [options[1]!.into.buffer] })
        codes.push(await outcome(Communicator.allreduceAll(worlds, arrays, 'sum', options)))
        options[1] = { into: new Float64Array(1) }
      }
      const sums: number[] = []
      for (let step = 1; step <= 3; step++) {
        for (const array of arrays) array[0] = step
        await Communicator.allreduceAll(worlds, arrays, 'sum', options)
        sums.push(...options.map(({ into }) => into[0]!))
      }
      return worlds.map((_, n) => ({ codes, sums: sums.filter((_, k) => k % worlds.length === n) }))
    })
    for (const { sums } of results) expect(sums).toEqual([6, 12, 18])
    expect(results[0]!.codes).toMatchObject([{ code: 'ERR_TYPE', rank: 1 }])
  })

  it('reads its lists before any rank joins: what they call comes first', async () => {
    for (const warm of [false, true]) {
      const results = await hosts(async (worlds) => {
        const ones = worlds.map(() => 1)
        if (warm) await Communicator.allreduceAll(worlds, ones, 'sum')
        let inner: Promise<number[]> | undefined
        const list = Object.assign([...ones], {})
        Object.defineProperty(list, 0, {
          get: () => {
            inner ??= Promise.all(worlds.map((world) => world.allreduce(10, 'sum')))
            return 1
          },
        })
        const outer = await Communicator.allreduceAll(worlds, list, 'sum')
        const found = await inner!
        return worlds.map((_, n) => [found[n], outer[n]])
      })
      expect(results).toEqual(new Array(6).fill([60, 6]))
    }
  })

  it('rejects numbers of one kind on some ranks and of another on others', async () => {
    const results = await hosts(async (worlds) => {
      const mixed = worlds.map(({ rank }) => (rank === 0 ? 1n : 1)) as number[]
      const { code } = await outcome(Communicator.allreduceAll(worlds, mixed, 'sum'))
      return worlds.map(() => code)
    })
    expect(results).toEqual(new Array(6).fill('ERR_COLLECTIVE_MISMATCH'))
  })

  it('may be started before an earlier one completes', async () => {
    const results = await hosts(async (worlds) => {
      const calls = [1, 2, 3, 4].map((n) =>
        Communicator.allreduceAll(
          worlds,
          worlds.map(() => n),
          'sum',
        ),
      )
      const all = await Promise.all(calls)
      return worlds.map((_, i) => all.map((each) => each[i]))
    })
    expect(results).toEqual(new Array(6).fill([6, 12, 18, 24]))
  })

  it('of a split gives each rank its communicator, whose ranks here call together again', async () => {
    const results = await hosts(async (worlds) => {
      const colors = worlds.map(({ rank }) => (rank === 2 ? null : rank % 2))
      const keys = worlds.map(({ rank }) => -rank)
      const parts = await Communicator.splitAll(worlds, colors, keys)
      const sums = new Map<number, number[]>()
      for (const color of [0, 1]) {
        const members = parts.filter((part, i): part is Communicator => part !== null && colors[i] === color)
        if (members.length === 0) continue
        sums.set(color, await Communicator.allreduceAll(members, ranksOf(members), 'sum'))
      }
      const plain = await Communicator.splitAll(
        worlds,
        worlds.map(() => 0),
      )
      return parts.map((part, i) => [
        part?.rank ?? null,
        sums.get(colors[i] ?? -1)?.[0] ?? null,
        plain[i]!.rank,
      ])
    })
    expect(results).toEqual([
      [1, 1, 0],
      [2, 3, 1],
      [null, null, 2],
      [1, 3, 3],
      [0, 1, 4],
      [0, 3, 5],
    ])
  })

  it('takes options for all, or a list with those of each rank', async () => {
    const results = await hosts(async (worlds) => {
      const into = worlds.map(() => new Int32Array(1))
      const data = worlds.map(({ rank }) => Int32Array.of(rank))
      const got = await Communicator.allreduceAll(
        worlds,
        data,
        'max',
        into.map((buffer) => ({ into: buffer, algorithm: 'allreduce-tree' })),
      )
      const again = await Communicator.allreduceAll(worlds, data, 'min', { algorithm: 'allreduce-tree' })
      return got.map((buffer, i) => [buffer === into[i], into[i]![0], again[i]![0]])
    })
    expect(results).toEqual(new Array(6).fill([true, 5, 0]))
  })
})

describe('a call of all ranks of a process is refused before anything is sent', () => {
  type Case = readonly [string, (worlds: readonly Communicator[]) => Promise<unknown>, string, string]
  it.each<Case>([
    ['for a part of the handles', (w) => Communicator.barrierAll(w.slice(1)), 'ERR_ARGUMENT', 'got 2 of 3'],
    ['for no handle', () => Communicator.barrierAll([]), 'ERR_ARGUMENT', 'of all ranks of one communicator'],
    ['for what is no list', () => Communicator.barrierAll(7 as never), 'ERR_ARGUMENT', 'got 7'],
    ['for what is no handle', () => Communicator.barrierAll([{}] as never), 'ERR_ARGUMENT', 'at place 0'],
    [
      'for one twice',
      (w) => Communicator.barrierAll([w[0]!, w[1]!, w[1]!]),
      'ERR_ARGUMENT',
      'more than once',
    ],
    [
      'for handles on two communicators',
      async (w) => Communicator.barrierAll([w[0]!, w[1]!, (await Communicator.splitAll(w, [0, 0, 0]))[2]!]),
      'ERR_ARGUMENT',
      'one of another communicator at place 2',
    ],
    [
      'for lists of another length',
      (w) => Communicator.allreduceAll(w, [1, 2], 'sum'),
      'ERR_COUNT',
      'each of 3 handles, got 2',
    ],
    [
      'for what is no list of data',
      (w) => Communicator.allreduceAll(w, 7 as never, 'sum'),
      'ERR_ARGUMENT',
      'got 7',
    ],
    [
      'for lists of options of another length',
      (w) => Communicator.barrierAll(w, [{}] as never),
      'ERR_COUNT',
      'each of 3 handles, got 1',
    ],
    [
      'for a buffer that several ranks would fill',
      (w) =>
        Communicator.allreduceAll(
          w,
          w.map(() => Int32Array.of(1)),
          'sum',
          { into: new Int32Array(1) },
        ),
      'ERR_ARGUMENT',
      'a buffer for each rank',
    ],
    [
      'for unknown options',
      (w) => Communicator.barrierAll(w, { algoritm: 'x' } as never),
      'ERR_ARGUMENT',
      "barrierAll: expected options among signal, algorithm, segments, got 'algoritm'",
    ],
    [
      'for an operation that is none',
      (w) => Communicator.allreduceAll(w, [1, 2, 3], 'sun' as never),
      'ERR_OP',
      'sun',
    ],
    [
      'for a signal that is none',
      (w) => Communicator.barrierAll(w, { signal: 7 } as never),
      'ERR_ARGUMENT',
      'AbortSignal',
    ],
  ])('%s', async (_, call, code, text) => {
    const worlds = await run<unknown>(never, {
      ranks: 3,
      hosted: async (handles) => {
        const refused = await outcome(call(handles))
        // The communicator is unharmed.
        await Communicator.barrierAll(handles)
        return handles.map(() => refused)
      },
    })
    expect(worlds[0]).toMatchObject({ code, message: expect.stringContaining(text) })
  })

  it('and names the rank whose argument is wrong', async () => {
    const results = await hosts(async (worlds) => {
      const data = worlds.map(({ rank }) => ([1, 4, 5].includes(rank) ? 'one' : 1))
      const refused = await outcome(Communicator.allreduceAll(worlds, data as never, 'sum'))
      const sums = await Communicator.allreduceAll(
        worlds,
        worlds.map(() => 1),
        'sum',
      )
      return sums.map((sum) => [sum, refused.code, refused.rank])
    })
    expect(results).toEqual([1, 1, 1, 4, 4, 5].map((rank) => [6, 'ERR_OP', rank]))
  })
})

describe('a call of all ranks of a process that fails', () => {
  it('rejects with a mismatch between ranks of the process, on all processes', async () => {
    const results = await hosts(async (worlds) => {
      const data = worlds.map(({ rank }) => new Int32Array(rank === 1 ? 5 : 4))
      const mismatch = await outcome(Communicator.allreduceAll(worlds, data, 'sum'))
      const later = await outcome(Communicator.barrierAll(worlds))
      return worlds.map(() => [mismatch, later.code])
    })
    for (const [mismatch, later] of results as [{ code: string; message: string }, string][]) {
      expect(mismatch.code).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(mismatch.message).toContain('rank 1 called allreduce(')
      expect(later).toMatch(/ERR_COLLECTIVE_MISMATCH|ERR_REVOKED/)
    }
  })

  it('rejects with a mismatch with the call of another process', async () => {
    const results = await hosts(async (worlds) => {
      const isLast = worlds[0]!.rank === 5
      const call = isLast
        ? Communicator.barrierAll(worlds)
        : Communicator.allreduceAll(
            worlds,
            worlds.map(() => 1),
            'sum',
          )
      const first = await outcome(call)
      const second = await outcome(Communicator.barrierAll(worlds))
      return worlds.map(() => [first, second].find(({ code }) => code !== undefined))
    })
    for (const failed of results) expect(failed!.code).toBe('ERR_COLLECTIVE_MISMATCH')
  })

  it('rejects with the error of the first rank that fails alone', async () => {
    const results = await hosts(async (worlds) => {
      // Blocks arrive that do not fit the counts of rank 1.
      const options = worlds.map(({ rank }) => (rank === 1 ? { counts: new Array(ranks).fill(2) } : {}))
      const data = worlds.map(({ rank }) => Int32Array.of(rank))
      const failed = await outcome(Communicator.allgathervAll(worlds, data, options))
      await Communicator.barrierAll(worlds)
      return worlds.map(() => [failed.code, failed.rank])
    })
    expect(results).toEqual([
      ['ERR_COUNT', 1],
      ['ERR_COUNT', 1],
      ['ERR_COUNT', 1],
      ...new Array(3).fill([undefined, undefined]),
    ])
  })

  it('rejects when its signal is aborted, before or during the call, and revokes the communicator', async () => {
    const codes = await hosts(async (worlds) => {
      const duplicates = await Promise.all(worlds.map((world) => world.dup()))
      const others = await Promise.all(worlds.map((world) => world.dup()))
      await Communicator.barrierAll(worlds)
      const controller = new AbortController()
      const { signal } = controller
      const isFirst = worlds[0]!.rank === 0
      const pending = isFirst
        ? outcome(Communicator.barrierAll(duplicates, { signal }))
        : outcome(duplicates[0]!.recv(0))
      if (isFirst) controller.abort()
      const { code } = await pending
      const before = await outcome(Communicator.barrierAll(others, { signal }))
      return worlds.map(() => [code, before.code])
    })
    expect(codes[0]).toEqual(['ERR_ABORTED', 'ERR_ABORTED'])
    expect(codes[5]).toEqual(['ERR_REVOKED', 'ERR_REVOKED'])
  })

  it('rejects once a handle is freed', async () => {
    const results = await hosts(async (worlds) => {
      const parts = await Communicator.splitAll(
        worlds,
        worlds.map(() => 0),
      )
      await Promise.all(parts.map((part) => part.free()))
      return Promise.all(worlds.map(async () => (await outcome(Communicator.barrierAll(parts))).code))
    })
    expect(results).toEqual(new Array(6).fill('ERR_COMM_FREED'))
  })

  it('is reported when it waits for ever, with the ranks that wait', async () => {
    const world = hosts(async (worlds) => {
      if (worlds[0]!.rank < 5) await Communicator.barrierAll(worlds)
      else await worlds[0]!.recv(0)
      return undefined
    })
    const { code, message } = await outcome(world)
    expect(code).toBe('ERR_DEADLOCK')
    expect(message).toContain('6 ranks are blocked')
    expect(message).toContain('ranks 0-2 wait in barrier() #0')
  })
})

describe('ranks of one process in which mains run per rank', () => {
  it('may be called for together, and all of them wait then', async () => {
    const worlds: Communicator[] = []
    const sums = await run(
      async (world) => {
        worlds.push(world)
        await world.barrier()
        if (world.rank > 0) return null
        return Communicator.allreduceAll(worlds, ranksOf(worlds), 'sum')
      },
      { ranks: 4 },
    )
    expect(sums).toEqual([[6, 6, 6, 6], null, null, null])
  })
})

describe('startAll', () => {
  const setup = (worlds: readonly Communicator[]) => {
    const send = worlds.map(({ rank }) => Int32Array.of(rank))
    const recv = worlds.map(() => new Int32Array(1))
    const requests = worlds.map((world, i) => world.allreduceInit(send[i]!, recv[i]!, 'sum'))
    return { send, recv, requests }
  }

  it('starts none where one is active, or of another init', async () => {
    for (const warm of [false, true]) {
      const results = await hosts(async (worlds) => {
        const send = worlds.map(() => Float64Array.of(1))
        const bound = () =>
          worlds.map((world, n) => world.allreduceInit(send[n]!, new Float64Array(1), 'sum'))
        const [some, others] = [bound(), bound()]
        if (warm) await Promise.all([Communicator.startAll(some), Communicator.startAll(others)])
        const mixed = worlds.length === 1 ? undefined : [...some.slice(0, -1), others.at(-1)!]
        const refused = mixed && (await outcome(Communicator.startAll(mixed))).code
        const first = some.at(-1)!.start()
        const active = (await outcome(Communicator.startAll(some))).code
        await Promise.all([first, ...some.slice(0, -1).map((request) => request.start())])
        await Communicator.startAll(some)
        return worlds.map(() => [refused, active])
      })
      const several = ['ERR_ARGUMENT', 'ERR_REQUEST']
      expect(results).toEqual([...new Array(5).fill(several), [undefined, 'ERR_REQUEST']])
    }
  })

  it('starts the requests of all ranks, before and after their init is complete', async () => {
    const results = await hosts(async (worlds) => {
      const { send, recv, requests } = setup(worlds)
      const seen: number[][] = []
      for (let round = 0; round < 4; round++) {
        for (const data of send) data[0]! += round
        await Communicator.startAll(requests)
        seen.push(recv.map(([sum]) => sum!))
      }
      for (const request of requests) request.free()
      return worlds.map((_, i) => seen.map((sums) => sums[i]))
    })
    expect(results).toEqual(new Array(6).fill([15, 21, 33, 51]))
  })

  it('mixes with starts of single ranks', async () => {
    const results = await hosts(async (worlds) => {
      const { recv, requests } = setup(worlds)
      const isFirst = worlds[0]!.rank === 0
      for (let round = 0; round < 4; round++) {
        if (isFirst === (round % 2 === 0)) await Communicator.startAll(requests.toReversed())
        else await Promise.all(requests.map((request) => request.start()))
      }
      return recv.map(([sum]) => sum)
    })
    expect(results).toEqual(new Array(6).fill(15))
  })

  it('refuses a start while one is active, and requests of a part of the ranks', async () => {
    const results = await hosts(async (worlds) => {
      const { requests } = setup(worlds)
      await Communicator.startAll(requests)
      const started = Communicator.startAll(requests)
      const again = await outcome(Communicator.startAll(requests))
      const alone = await outcome(requests[0]!.start())
      await started
      const part = await outcome(Communicator.startAll(requests.slice(1)))
      for (const request of requests) request.free()
      const freed = await outcome(Communicator.startAll(requests))
      return worlds.map(() => [again.code, alone.code, part.code, freed.code])
    })
    expect(results[0]).toEqual(['ERR_REQUEST', 'ERR_REQUEST', 'ERR_ARGUMENT', 'ERR_REQUEST'])
  })

  it('starts several requests of each rank by one call for each', async () => {
    const results = await hosts(async (worlds) => {
      const first = setup(worlds)
      const second = setup(worlds)
      for (let round = 0; round < 3; round++)
        await Promise.all([Communicator.startAll(second.requests), Communicator.startAll(first.requests)])
      return worlds.map((_, i) => [first.recv[i]![0], second.recv[i]![0]])
    })
    expect(results).toEqual(new Array(6).fill([15, 15]))
  })
})
