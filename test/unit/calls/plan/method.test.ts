import { type Communicator, createOperation, isRankweaveError, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'

/**
 * What every rank of three processes gets from a call: its error's code, or 'done'; and that the world still
 * works.
 */
async function codesOf(call: (world: Communicator) => Promise<unknown>): Promise<unknown[]> {
  const main = async (world: Communicator) => {
    let code = 'done'
    try {
      await call(world)
    } catch (error) {
      code = isRankweaveError(error) ? error.code : String(error)
    }
    if (code !== 'ERR_COLLECTIVE_MISMATCH') expect(await world.allreduce(1, 'sum')).toBe(3)
    return code
  }
  return run(main, { ranks: 3, fabric: local({ processes: 3 }) })
}

const all = (code: string) => [code, code, code]
const floats = new Float64Array(6)

describe('the method of a collective', () => {
  it.each([
    { algorithm: 'allreduce-best' },
    { algorithm: 'bcast-binomial' },
    { algorithm: 3 as unknown as string },
    { algorithm: 'allreduce-ring:' },
    { algorithm: 'allreduce-ring:fanout=2' },
    { algorithm: 'allreduce-ring:segments=2,segments=2' },
    { algorithm: 'allreduce-ring:segments=2,segment=1KiB' },
    { algorithm: 'allreduce-ring:segment=0' },
    { algorithm: 'allreduce-ring:segments=2', segments: 2 },
    { algorithm: 'allreduce-ring:segment=1KiB', segments: 2 },
    { algorithm: 'bcast-chain:fanout=2' },
    { segments: 0 },
    { segments: 1.5 },
    { segments: 5000 },
    { order: 'rank' as 'any' },
  ])('that does not exist is refused before anything is sent: %j', async (options) => {
    expect(await codesOf((world) => world.allreduce(floats, 'sum', options))).toEqual(all('ERR_ARGUMENT'))
  })

  it('is refused with null as options', async () => {
    const none = null as unknown as undefined
    expect(await codesOf((world) => world.barrier(none))).toEqual(all('ERR_ARGUMENT'))
    expect(await codesOf((world) => world.allreduce(floats, 'sum', none))).toEqual(all('ERR_ARGUMENT'))
  })

  it('that would change the bits of floating-point numbers is refused unless any order is permitted', async () => {
    const algorithm = 'allreduce-ring'
    expect(await codesOf((world) => world.allreduce(floats, 'sum', { algorithm }))).toEqual(
      all('ERR_ALGORITHM'),
    )
    const inAnyOrder = { algorithm, order: 'any' as const }
    expect(await codesOf((world) => world.allreduce(floats, 'sum', inAnyOrder))).toEqual(all('done'))
    expect(await codesOf((world) => world.allreduce(floats, 'min', { algorithm }))).toEqual(all('done'))
    expect(await codesOf((world) => world.allreduce(new Int8Array(6), 'sum', { algorithm }))).toEqual(
      all('done'),
    )
  })

  it('that does not combine in rank order is refused for an operation that does not commute', async () => {
    const add = (a: Int32Array, b: Int32Array) => a.map((value, i) => value + b[i])
    const apart = createOperation<Int32Array>(add)
    const together = createOperation<Int32Array>(add, { commutative: true })
    const algorithm = 'allreduce-ring'
    for (const operation of [apart, together]) {
      const call = (world: Communicator) => world.allreduce(new Int32Array(6), operation, { algorithm })
      expect(await codesOf(call)).toEqual(all('ERR_ALGORITHM'))
    }
    const doubling = { algorithm: 'allreduce-recursive-doubling' }
    const call = (world: Communicator) => world.allreduce(new Int32Array(6), apart, doubling)
    expect(await codesOf(call)).toEqual(all('done'))
  })

  it('that is not the same on all ranks is reported, by its name where it is an algorithm', async () => {
    const call = (world: Communicator) =>
      world.allreduce(new Int32Array(6), 'sum', world.rank === 1 ? { algorithm: 'allreduce-ring' } : {})
    const codes = await codesOf(call)
    expect(new Set(codes)).toEqual(new Set(['ERR_COLLECTIVE_MISMATCH']))
  })

  it('with parameters is the same in any order, and however it says its segments', async () => {
    const texts = ['bcast-chain:fanout=2,segments=3', 'bcast-chain:segments=3,fanout=2']
    const options = [
      { algorithm: texts[0]! },
      { algorithm: texts[1]! },
      { algorithm: 'bcast-chain:fanout=2', segments: 3 },
    ]
    expect(await codesOf((world) => world.bcast(floats, 0, options[world.rank]))).toEqual(all('done'))
    const sizes = ['1KiB', '1024'].map((bytes) => ({ algorithm: `allreduce-tree:segment=${bytes}` }))
    const call = (world: Communicator) => world.allreduce(floats, 'sum', sizes[world.rank % 2])
    expect(await codesOf(call)).toEqual(all('done'))
  })

  it.each([
    ['bcast-chain:fanout=2', 'bcast-chain:fanout=3'],
    ['bcast-chain', 'bcast-chain:fanout=2'],
    ['bcast-chain:segments=2', 'bcast-chain:segment=24'],
    ['bcast-chain:segment=1KiB', 'bcast-chain:segment=2KiB'],
  ])('%s on one rank and %s on another is reported', async (one, other) => {
    const call = async (world: Communicator) => {
      await world.bcast(floats, 0, { algorithm: world.rank === 1 ? one : other })
      // A root waits for no rank.
      await world.barrier()
    }
    expect(new Set(await codesOf(call))).toEqual(new Set(['ERR_COLLECTIVE_MISMATCH']))
  })

  it('that an algorithm with parameters refuses for these ranks is refused', async () => {
    const algorithm = 'allgather-recursive-doubling:segment=1KiB'
    expect(await codesOf((world) => world.allgather(floats, { algorithm }))).toEqual(all('ERR_ALGORITHM'))
  })

  it('with bytes of a segment is for calls where the lengths are known', async () => {
    const values = [1, 2]
    const calls: Readonly<Record<string, (world: Communicator, cut: string) => Promise<unknown>>> = {
      scatter: (world, cut) =>
        world.scatter(world.rank === 0 ? floats : null, 0, { algorithm: `scatter-linear:${cut}` }),
      gatherv: (world, cut) => world.gatherv(floats, 0, { algorithm: `gather-linear:${cut}` }),
      allgatherv: (world, cut) => world.allgatherv(floats, { algorithm: `allgather-ring:${cut}` }),
      alltoallv: (world, cut) =>
        world.alltoallv(floats, [2, 2, 2], { algorithm: `alltoall-pairwise:${cut}` }),
      allgather: (world, cut) => world.allgather(values, { algorithm: `allgather-ring:${cut}` }),
    }
    for (const [name, call] of Object.entries(calls)) {
      expect([name, await codesOf((world) => call(world, 'segment=8'))]).toEqual([name, all('ERR_ALGORITHM')])
      expect([name, await codesOf((world) => call(world, 'segments=2'))]).toEqual([name, all('done')])
    }
    const known = await codesOf((world) => world.allgather(floats, { algorithm: 'allgather-ring:segment=8' }))
    expect(known).toEqual(all('done'))
  })
})

it('segments without an algorithm are refused for an operation that takes whole arrays', async () => {
  const most = createOperation<Int32Array>((a, b) => a.map((value, i) => Math.max(value, b[i])), {
    name: 'most',
  })
  const data = new Int32Array(6)
  const into = new Int32Array(6)
  const segments = 2
  const calls: ((world: Communicator) => Promise<unknown>)[] = [
    (world) => world.reduce(data, most, 1, { segments }),
    (world) => world.allreduce(data, most, { segments }),
    (world) => world.scan(data, most, { segments }),
    async (world) => world.allreduceInit(data, into, most, { segments }),
  ]
  for (const call of calls) expect(await codesOf(call)).toEqual(all('ERR_ALGORITHM'))
  expect(await codesOf((world) => world.reduceScatter(data, most, { segments }))).toEqual(all('done'))
})

describe('what runs by a method', () => {
  /** Algorithms and segments of the collectives of the first of four processes, after these calls. */
  async function usesOf(calls: (world: Communicator) => Promise<unknown>) {
    const main = async (world: Communicator) => {
      await calls(world)
      return world
        .describe()
        .collectives.map(({ algorithm, segments, calls: count }) => [algorithm, segments, count])
    }
    const [uses] = await run(main, { ranks: 4, processes: 4 })
    return uses!.sort()
  }

  it('has one plan for equal methods, by the id with its parameters', async () => {
    const data = new Int32Array(100)
    const texts = [
      'bcast-chain:segments=2,fanout=2',
      'bcast-chain:fanout=2,segments=2',
      'bcast-chain:segments=2',
    ]
    const uses = await usesOf(async (world) => {
      for (const algorithm of [...texts, ...texts]) await world.bcast(data, 0, { algorithm })
    })
    expect(uses).toEqual([
      ['bcast-chain', 2, 2],
      ['bcast-chain:fanout=2', 2, 4],
    ])
  })

  it('cuts units into segments of at most the bytes of the text', async () => {
    // 1,000 elements of 8 bytes.
    const data = new Float64Array(1000)
    const uses = await usesOf(async (world) => {
      await world.bcast(data, 1, { algorithm: 'bcast-knomial:radix=3,segment=1000' })
      await world.bcast(data, 1, { algorithm: 'bcast-split-binary:segment=1000' })
      await world.allreduce(data, 'sum', { algorithm: 'allreduce-tree:segment=1KiB' })
      await world.allreduce(data, 'max', { algorithm: 'allreduce-ring-segmented:segment=1KiB' })
      await world.reduceScatter(data, 'max', { algorithm: 'reduce-scatter-ring:segment=500' })
      await world.allgather(data, { algorithm: 'allgather-ring:segment=1MiB' })
      await world.alltoall(data, { algorithm: 'alltoall-pairwise:segment=1000' })
      await world.scan(new Int32Array(100), 'sum', { algorithm: 'scan-chain:segment=100' })
      await world.barrier({ algorithm: 'barrier-linear:segment=1KiB' })
    })
    expect(uses).toEqual([
      ['allgather-ring', 1, 1],
      ['allreduce-ring-segmented', 2, 1],
      ['allreduce-tree', 8, 1],
      ['alltoall-pairwise', 2, 1],
      ['barrier-linear', 1, 1],
      ['bcast-knomial:radix=3', 8, 1],
      ['bcast-split-binary', 4, 1],
      ['reduce-scatter-ring', 4, 1],
      ['scan-chain', 4, 1],
    ])
  })

  it('is bound by persistent requests', async () => {
    const main = async (world: Communicator) => {
      const data = Float64Array.from({ length: 100 }, (_, i) => (world.rank === 1 ? i : -1))
      const bcast = world.bcastInit(data, 1, { algorithm: 'bcast-chain:fanout=2,segment=64' })
      const total = new Float64Array(100)
      const sum = world.allreduceInit(data, total, 'max', { algorithm: 'allreduce-ring:segments=2' })
      await bcast.start()
      await sum.start()
      return [data[99], total[99]]
    }
    expect(await run(main, { ranks: 4, processes: 4 })).toEqual(Array(4).fill([99, 99]))
  })

  it('is that of started calls, which see other texts of the same method as equal', async () => {
    const main = async (world: Communicator) => {
      const request = world.ibcast(Int32Array.of(world.rank), 2, {
        algorithm: ['bcast-knomial:segments=2,radix=2', 'bcast-knomial:radix=2,segments=2'][world.rank % 2]!,
      })
      return request.wait()
    }
    expect(await run(main, { ranks: 4, processes: 2 })).toEqual(Array(4).fill(Int32Array.of(2)))
  })
})
