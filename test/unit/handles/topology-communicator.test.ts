import { mooreTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import type { BlocksOptions } from '../../../src/calls/collectives/options.js'
import { local } from '../../../src/fabric/local/local.js'
import type { Communicator } from '../../../src/handles/communicator.js'
import type { TopologyCommunicator } from '../../../src/handles/topology-communicator.js'
import { run } from '../../../src/launch/run.js'
import { cluster } from '../../../src/machine/machine.js'
import { strided } from '../../../src/messages/datatype/strided-view.js'
import type { Strategy } from '../../../src/neighborhood/strategies/strategies.js'
import { contextsOf, inWorlds } from '../../support/in-worlds.js'
import { coded, codeOf, onRanks } from '../../support/on-ranks.js'

/** The expected element of the block of `source`. */
const mark = (source: number, element: number) => source * 1_000 + element
const blockOf = (source: number, length: number) =>
  Float64Array.from({ length }, (_, element) => mark(source, element))

/** Every rank sends to the next two, to itself, and to the next one again. */
const listsOf = ({ rank, size }: Communicator) => ({
  sources: [rank, (rank + 2 * size - 2) % size, (rank + size - 1) % size, (rank + size - 1) % size],
  destinations: [(rank + 1) % size, rank, (rank + 1) % size, (rank + 2) % size],
})

it.each(['transferred', 'overwritten'])(
  'lists that are %s while a graph is made are taken as they were',
  async (how) => {
    const graphs = await onRanks({ ranks: 4, fabric: local({ processes: 2 }) }, async (world) => {
      const { rank, size } = world
      const [next, before] = [Int32Array.of((rank + 1) % size), Int32Array.of((rank + size - 1) % size)]
      const one = Int32Array.of(1)
      // Every rank sends to itself.
      const [index, edges] = [Int32Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 2, 3)]
      const periods = [true]
      const made = [
        world.createDistGraph({ sources: Int32Array.of(rank), degrees: one, destinations: next }),
        world.createDistGraphAdjacent({ sources: before, destinations: next }),
        world.createGraph(index, edges) as Promise<TopologyCommunicator>,
        world.createCart([4], { periods }) as Promise<TopologyCommunicator>,
      ]
      periods.fill(false)
      for (const list of [next, before, one, index, edges])
        if (how === 'overwritten') list.fill(2)
        else structuredClone(list, { transfer: [list.buffer] })
      const results = []
      for (const graph of await Promise.all(made))
        results.push([...(await graph.neighborAllgather(Int32Array.of(rank)))])
      return results
    })
    const expected = [0, 1, 2, 3].map((rank) => {
      const [before, next] = [(rank + 3) % 4, (rank + 1) % 4]
      return [[before], [before], [rank], [before, next]]
    })
    expect(graphs).toEqual(expected)
  },
)

describe('createDistGraphAdjacent', () => {
  it('returns the lists in their order, with their weights', () =>
    inWorlds(async (world) => {
      const lists = listsOf(world)
      const graph = await world.createDistGraphAdjacent({
        ...lists,
        sourceWeights: [1, 2, 3, world.rank],
        destinationWeights: Float32Array.of(world.rank, 0.5, -1, 0),
      })
      expect([graph.rank, graph.size]).toEqual([world.rank, world.size])
      expect([...graph.sources]).toEqual(lists.sources)
      expect([...graph.destinations]).toEqual(lists.destinations)
      expect([...graph.sourceWeights!]).toEqual([1, 2, 3, world.rank])
      expect([...graph.destinationWeights!]).toEqual([world.rank, 0.5, -1, 0])
      expect(graph.topology.ranks).toBe(world.size)
      const plain = await world.createDistGraphAdjacent(lists)
      expect([plain.sourceWeights, plain.destinationWeights]).toEqual([null, null])
    }))

  it('rejects, on every rank, lists that disagree, names the edge, and leaves the communicator usable', () =>
    inWorlds(async (world) => {
      const last = world.size - 1
      const wrong = world.createDistGraphAdjacent({
        sources: [],
        destinations: world.rank === 0 ? [last] : [],
      })
      await expect(wrong).rejects.toMatchObject({
        code: 'ERR_TOPOLOGY',
        details: { source: 0, destination: last },
      })
      await world.barrier()
      expect(contextsOf(world)).toBe(1)
    }))

  it('rejects bad arguments before anything is sent', () =>
    inWorlds(async (world) => {
      const refuse = (code: string, options: Parameters<typeof world.createDistGraphAdjacent>[0]) =>
        expect(world.createDistGraphAdjacent(options)).rejects.toMatchObject({ code })
      const none = { sources: [], destinations: [] }
      await refuse('ERR_RANK', { ...none, sources: [world.size] })
      await refuse('ERR_RANK', { ...none, destinations: [-1] })
      await refuse('ERR_ARGUMENT', { ...none, sourceWeights: [] })
      await refuse('ERR_COUNT', { ...none, sourceWeights: [1], destinationWeights: [] })
      await refuse('ERR_STRATEGY', { ...none, strategy: { kind: 'common-neighbor', k: 1, mode: 'agnostic' } })
      await refuse('ERR_STRATEGY', { ...none, strategy: { kind: 'best' } as unknown as Strategy })
      const machine = cluster({ nodes: 1, cores: 1 })
      if (world.size > 1) await refuse('ERR_MACHINE', { ...none, machine })
      expect((await world.createDistGraphAdjacent(none)).size).toBe(world.size)
    }))

  it('rejects malformed lists, options, strategies and machines, as all constructors do', async () => {
    const main = async (world: Communicator) => {
      const refuse = async (code: string, made: () => Promise<unknown>) =>
        expect(made()).rejects.toMatchObject({ code })
      for (const bad of [null, 5, 'x', Symbol('s'), [1n], { length: -1 }] as never[]) {
        await refuse('ERR_ARGUMENT', () => world.createCart(bad))
        await refuse('ERR_ARGUMENT', () => world.createGraph(bad, []))
        await refuse('ERR_ARGUMENT', () => world.createGraph([], bad))
        await refuse('ERR_ARGUMENT', () => world.createDistGraphAdjacent(bad))
        await refuse('ERR_ARGUMENT', () =>
          world.createDistGraph({ sources: [], degrees: bad, destinations: [] }),
        )
        await refuse('ERR_TOPOLOGY', () => world.createTopology(bad))
        await refuse('ERR_STRATEGY', () => world.createCart([1], { strategy: bad }))
        await refuse('ERR_MACHINE', () => world.createCart([1], { machine: bad }))
        await refuse('ERR_DIMS', () => world.createCart([1], { periods: [bad] }))
      }
      for (const options of [null, 5] as never[]) {
        await refuse('ERR_ARGUMENT', () => world.createCart([1], options))
      }
      const cart = (await world.createCart([1], { periods: [true] }))!
      const unknown = { planfrom: 'neighbors', sources: [], destinations: [], degrees: [] } as never
      for (const create of [
        () => world.createCart([1], unknown),
        () => world.createGraph([0], [], unknown),
        () => world.createTopology(cart.topology, unknown),
        () => world.createDistGraphAdjacent(unknown),
        () => world.createDistGraph(unknown),
      ]) {
        await refuse('ERR_ARGUMENT', create)
      }
      await refuse('ERR_ARGUMENT', () => cart.neighborAllgather(new Int8Array(1), null as never))
      await refuse('ERR_ARGUMENT', () => cart.neighborAllgatherv(new Int8Array(1), null as never))
      await refuse('ERR_DIMS', () => cart.sub(null as never))
      expect(() => cart.rankOf([1n] as never)).toThrow(coded('ERR_DIMS'))
    }
    await run(main, { ranks: 1 })
  })

  it.each([1, 2])(
    'names the strategies of ranks that pass different ones, on %i processes',
    async (processes) => {
      const main = async (world: Communicator) => {
        const strategy: Strategy =
          world.rank === 0 ? { kind: 'direct' } : { kind: 'common-neighbor', k: 2, mode: 'agnostic' }
        await world.createDistGraphAdjacent({ sources: [], destinations: [], strategy })
      }
      const message = await run(main, { ranks: 2, processes }).catch((e) => `${e.code} ${e.message}`)
      expect(message).toMatch(/^ERR_COLLECTIVE_MISMATCH .*createDistGraphAdjacent\((direct|common-\S+), #/s)
      // Another process is known by what its frames say, a hash.
      const other = processes === 1 ? 'common-neighbor:k=2,mode=agnostic' : 'strategy #'
      expect(message).toContain(`createDistGraphAdjacent(${other}`)
    },
  )
})

describe('createDistGraph', () => {
  it('gathers edges that any rank passes, by rank', () =>
    inWorlds(async (world) => {
      // Each rank passes the edges into rank 0 from itself and its successor, and one out of the last rank.
      const { rank, size } = world
      const graph = await world.createDistGraph({
        sources: [rank, size - 1, (rank + 1) % size],
        degrees: [1, 1, 1],
        destinations: [0, rank, 0],
        weights: [rank, 100 + rank, 200 + rank],
      })
      const all = Array.from({ length: size }, (_, r) => [
        [r, 0, r],
        [size - 1, r, 100 + r],
        [(r + 1) % size, 0, 200 + r],
      ]).flat()
      const into = all.filter(([, destination]) => destination === rank)
      const out = all.filter(([source]) => source === rank)
      expect([...graph.sources]).toEqual(into.map(([source]) => source))
      expect([...graph.sourceWeights!]).toEqual(into.map(([, , weight]) => weight))
      expect([...graph.destinations]).toEqual(out.map(([, destination]) => destination))
      expect([...graph.destinationWeights!]).toEqual(out.map(([, , weight]) => weight))
      const got = await graph.neighborAllgather(blockOf(rank, 2))
      expect([...got]).toEqual(into.flatMap(([source]) => [...blockOf(source, 2)]))
    }))

  it('accepts no edges, and edges from one rank only', () =>
    inWorlds(async (world) => {
      const empty = await world.createDistGraph({ sources: [], degrees: [], destinations: [] })
      expect((await empty.neighborAllgather(blockOf(world.rank, 3))).length).toBe(0)
      const everyone = [...Array(world.size).keys()]
      const star = await world.createDistGraph(
        world.rank === 0
          ? { sources: [0], degrees: [world.size], destinations: everyone }
          : { sources: [], degrees: [], destinations: [] },
      )
      expect([...star.sources]).toEqual([0])
      expect([...star.destinations]).toEqual(world.rank === 0 ? everyone : [])
    }))

  it('rejects counts that do not add up', () =>
    inWorlds(async (world) => {
      const refuse = (code: string, sources: number[], degrees: number[], destinations: number[]) =>
        expect(world.createDistGraph({ sources, degrees, destinations })).rejects.toMatchObject({ code })
      await refuse('ERR_COUNT', [0], [], [])
      await refuse('ERR_COUNT', [0], [2], [0])
      await refuse('ERR_COUNT', [0], [-1], [])
      await refuse('ERR_RANK', [world.size], [0], [])
      await refuse('ERR_RANK', [0], [1], [world.size])
      await world.barrier()
    }))
})

describe('createGraph', () => {
  it('makes a graph that every rank passes, null for ranks beyond it', () =>
    inWorlds(async (world) => {
      // A path over all ranks but the last, with a self loop at rank 0.
      const ranks = Math.max(1, world.size - 1)
      const lists = Array.from({ length: ranks }, (_, r) =>
        [...(r === 0 ? [0] : []), r - 1, r + 1].filter((n) => n >= 0 && n < ranks),
      )
      const index: number[] = []
      for (const list of lists) index.push((index.at(-1) ?? 0) + list.length)
      const graph = await world.createGraph(index, lists.flat())
      expect(graph === null).toBe(world.rank >= ranks)
      if (graph !== null) {
        expect([...graph.sources]).toEqual(lists[world.rank])
        expect([...graph.destinations]).toEqual(lists[world.rank])
        expect([...(await graph.neighborAllgather(Int32Array.of(graph.rank)))]).toEqual(lists[world.rank])
      }
      expect(await world.createGraph([], [])).toBeNull()
    }))

  it('rejects graphs that are not symmetric, or larger than the communicator', () =>
    inWorlds(async (world) => {
      const tooLong = Array<number>(world.size + 1).fill(0)
      await expect(world.createGraph(tooLong, [])).rejects.toMatchObject({ code: 'ERR_TOPOLOGY' })
      await expect(world.createGraph([1], [])).rejects.toMatchObject({ code: 'ERR_TOPOLOGY' })
      if (world.size < 2) return
      await expect(world.createGraph([1, 1], [1])).rejects.toMatchObject({ code: 'ERR_TOPOLOGY' })
      await world.barrier()
    }))
})

describe('createTopology', () => {
  it('makes a communicator of a topology and plans it by the strategy', async () => {
    const topology = mooreTopology({ dims: [4, 4], radius: 1 })
    for (const processes of [1, 2, 5, 16]) {
      await onRanks(
        {
          ranks: 16,
          fabric: local({ processes, nodes: Array.from({ length: processes }, (_, p) => `node${p}`) }),
        },
        async (world) => {
          const strategy: Strategy = { kind: 'common-neighbor', k: 2, mode: 'aware', theta: 2 }
          const graph = await world.createTopology(topology, { strategy })
          expect(graph.topology).toBe(topology)
          const { schedule, groups } = await graph.plan()
          expect(schedule.strategy).toBe('common-neighbor')
          // Friends share a node: none on nodes of one rank each.
          expect(groups!.count > 0).toBe(processes < 16)
          const onOneNode = await world.createTopology(topology, {
            strategy,
            machine: cluster({ nodes: 1, cores: 16 }),
          })
          expect((await onOneNode.plan()).groups!.count).toBeGreaterThan(0)
          for (const comm of [graph, onOneNode]) {
            const got = await comm.neighborAllgather(blockOf(world.rank, 2))
            expect([...got]).toEqual([...comm.sources].flatMap((source) => [...blockOf(source, 2)]))
          }
        },
      )
    }
  })

  it('rejects another number of ranks, and malformed topologies', () =>
    inWorlds(async (world) => {
      const other = topologyFromEdges(world.size + 1, { sources: [], destinations: [] })
      await expect(world.createTopology(other)).rejects.toMatchObject({ code: 'ERR_TOPOLOGY' })
      const good = topologyFromEdges(world.size, { sources: [0], destinations: [0] })
      const bad = { ...good, inRank: Int32Array.of(7_777) }
      await expect(world.createTopology(bad)).rejects.toMatchObject({ code: 'ERR_TOPOLOGY' })
    }))
})

it.each<[string, (world: Communicator) => Promise<unknown>]>([
  [
    'topologies',
    (world) => world.createTopology(topologyFromEdges(2, { sources: [world.rank], destinations: [0] })),
  ],
  [
    'counts of elements',
    async (world) => {
      const graph = await world.createDistGraphAdjacent({ sources: [0, 1], destinations: [0, 1] })
      await graph.neighborAllgather(new Float64Array(1 + world.rank))
    },
  ],
])('ranks that pass different %s fail', async (_, main) => {
  for (const processes of [1, 2])
    expect(await codeOf(run(main, { ranks: 2, processes }))).toBe('ERR_COLLECTIVE_MISMATCH')
})

/** In every world, on a graph of {@link listsOf}. */
const onLists = (main: (graph: TopologyCommunicator, world: Communicator) => Promise<void>) =>
  inWorlds(async (world) => main(await world.createDistGraphAdjacent(listsOf(world)), world))

describe('neighborAllgather', () => {
  it('sends the elements of every type of numbers', () =>
    onRanks({ ranks: 4, processes: 2 }, async (world) => {
      const graph = await world.createDistGraphAdjacent(listsOf(world))
      for (const Type of [
        Int8Array,
        Uint8Array,
        Uint8ClampedArray,
        Int16Array,
        Uint16Array,
        Int32Array,
        Uint32Array,
        Float32Array,
        Float64Array,
      ])
        for (const length of [1, 3, 100]) {
          const block = (source: number) =>
            new Type(Array.from({ length }, (_, i) => (source * 7 + i * 3) % 120))
          const got = await graph.neighborAllgather(block(world.rank))
          expect(got).toBeInstanceOf(Type)
          expect([...got]).toEqual([...graph.sources].flatMap((source) => [...block(source)]))
        }
    }))

  it('sends 64-bit integers, and every bit of a NaN', () =>
    onLists(async (graph, world) => {
      const big = await graph.neighborAllgather(BigInt64Array.of(-(2n ** 63n), BigInt(world.rank)))
      expect([...big]).toEqual([...graph.sources].flatMap((source) => [-(2n ** 63n), BigInt(source)]))
      const bits = Uint32Array.of(0xdeadbeef, 0x7ff4_0000 + world.rank)
      const nans = await graph.neighborAllgather(new Float64Array(bits.buffer))
      const expected = [...graph.sources].flatMap((source) => [0xdeadbeef, 0x7ff4_0000 + source])
      expect([...new Uint32Array(nans.buffer)]).toEqual(expected)
    }))

  it('sends zero elements, views with an offset, and strided views', () =>
    onLists(async (graph, world) => {
      expect((await graph.neighborAllgather(new Float32Array(0))).length).toBe(0)
      const matrix = Float64Array.from({ length: 12 }, (_, i) => mark(world.rank, i))
      const row = await graph.neighborAllgather(matrix.subarray(3, 6))
      expect([...row]).toEqual([...graph.sources].flatMap((s) => [mark(s, 3), mark(s, 4), mark(s, 5)]))
      const column = strided(matrix, { offset: 1, count: 4, blockLength: 1, stride: 3 })
      const got = await graph.neighborAllgather(column)
      expect([...got]).toEqual([...graph.sources].flatMap((s) => [1, 4, 7, 10].map((i) => mark(s, i))))
    }))

  it('fills `into` and nothing beyond it', () =>
    onLists(async (graph, world) => {
      const memory = new Float64Array(12).fill(-1)
      const into = memory.subarray(2, 11)
      expect(await graph.neighborAllgather(blockOf(world.rank, 2), { into })).toBe(into)
      const blocks = [...graph.sources].flatMap((source) => [...blockOf(source, 2)])
      expect([...memory]).toEqual([-1, -1, ...blocks, -1, -1])
    }))

  it('returns its own array to every rank', () =>
    onLists(async (graph, world) => {
      const mine = blockOf(world.rank, 2)
      const got = await graph.neighborAllgather(mine)
      mine.fill(-5)
      await graph.barrier()
      expect([...got]).toEqual([...graph.sources].flatMap((source) => [...blockOf(source, 2)]))
      got.fill(world.rank)
      await graph.barrier()
      expect(got.every((value) => value === world.rank)).toBe(true)
    }))

  it('rejects bad buffers before anything is sent', () =>
    onLists(async (graph) => {
      const refuse = (code: string, data: unknown, into?: unknown) =>
        expect(graph.neighborAllgather(data as Int8Array, { into: into as Int8Array })).rejects.toEqual(
          coded(code),
        )
      await refuse('ERR_TYPE', [1, 2])
      await refuse('ERR_TYPE', null)
      await refuse('ERR_TYPE', new Int8Array(1), [])
      await refuse('ERR_TYPE_MISMATCH', new Int8Array(1), new Uint8Array(4))
      await refuse('ERR_TRUNCATE', new Int8Array(2), new Int8Array(7))
      expect((await graph.neighborAllgather(new Int8Array(2))).length).toBe(8)
    }))

  it('works after dup, which has the same topology', () =>
    onLists(async (graph, world) => {
      const copy = await graph.dup()
      expect(await copy.compare(graph)).toBe('congruent')
      expect([...copy.sources]).toEqual([...graph.sources])
      await graph.free()
      expect([...(await copy.neighborAllgather(Int32Array.of(world.rank)))]).toEqual([...copy.sources])
    }))
})

describe('neighborAllgatherv', () => {
  const lengthOf = (rank: number) => (rank * 3) % 5

  it('writes blocks at `displs` into `into`', () =>
    onLists(async (graph, world) => {
      const lengths = [...graph.sources].map(lengthOf)
      const into = new Float64Array(20).fill(-1)
      const displs = [15, 10, 5, 0]
      const block = blockOf(world.rank, lengthOf(world.rank))
      const got = await graph.neighborAllgatherv(block, { into, displs, counts: lengths })
      expect(got.data).toBe(into)
      const expected = new Float64Array(20).fill(-1)
      for (const [i, source] of graph.sources.entries()) expected.set(blockOf(source, lengths[i]), displs[i])
      expect([...into]).toEqual([...expected])
      const fresh = await graph.neighborAllgatherv(block, { displs })
      expect(fresh.data.length).toBe(Math.max(...displs.map((displ, i) => displ + lengths[i])))
    }))

  it('rejects blocks that do not fit on that rank only, and leaves the communicator usable', () =>
    onLists(async (graph, world) => {
      const block = blockOf(world.rank, 2)
      const gather = (options: BlocksOptions<Float64Array>) =>
        graph.neighborAllgatherv(block, world.rank === 0 ? options : {})
      for (const [code, options] of [
        ['ERR_COUNT', { counts: [2, 2, 2, 3] }],
        ['ERR_TRUNCATE', { into: new Float64Array(7) }],
      ] as const) {
        if (world.rank === 0) await expect(gather(options)).rejects.toMatchObject({ code })
        else expect((await gather(options)).data.length).toBe(8)
      }
      const into = new Float32Array(8) as never
      expect(await codeOf(graph.neighborAllgatherv(block, { into }))).toBe('ERR_TYPE_MISMATCH')
      await graph.barrier()
    }))
})
