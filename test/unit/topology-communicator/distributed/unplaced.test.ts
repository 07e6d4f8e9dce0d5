import { type Communicator, local } from 'rankweave'
import { formatSchedule, plan, type Strategy } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { topologyFromLists } from '../../../../src/topology/topology-builders.js'
import { codeOf, onRanks } from '../../../support/on-ranks.js'

const processes = 32
const ranks = 2 * processes
const reach = 2

/** An order without closed form, so that neighbors live on processes anywhere. */
const shuffled = (rank: number) => (rank * 7919) % 1009

const splitWith = (world: Communicator, table: 'distributed' | 'replicated') =>
  world.split(shuffled(world.rank) % 2, shuffled(world.rank), {
    table,
    algorithm: 'parallel-sort',
    selfHostRows: 0,
  }) as Promise<Communicator>

/** A ring in which every rank exchanges with those at most `reach` away; friends are up to twice as far. */
function neighborsOf({ rank, size }: Pick<Communicator, 'rank' | 'size'>): number[] {
  const found: number[] = []
  for (let d = 1; d <= reach; d++) found.push((rank + d) % size, (rank - d + size) % size)
  return found
}

/** The lines of the plan that a process makes that has the whole graph. */
function linesOfWhole(size: number): string[] {
  const neighbors = Array.from({ length: size }, (_, rank) => neighborsOf({ rank, size }))
  const start = Array.from({ length: size + 1 }, (_, rank) => 2 * reach * rank)
  const topology = topologyFromLists({
    ranks: size,
    inStart: start,
    inRank: neighbors.flat(),
    outStart: start,
    outRank: neighbors.flat(),
  })
  return [...formatSchedule(plan(topology, { ...combining, mode: 'agnostic' }).schedule)]
}

const combining = { kind: 'common-neighbor', k: 2, theta: 0 } as const
const strategies: [string, Strategy, number][] = [
  ['direct', { kind: 'direct' }, 2 * reach],
  ['common-neighbor', { ...combining, mode: 'aware' }, 4 * reach],
  // A way to a destination passes one other rank.
  ['routed', { kind: 'routed', radices: [6, 6] }, 4 * reach],
]

describe('a graph planned from neighbors on a distributed table, with 32 processes', () => {
  it.each(strategies)(
    '%s: looks up neighbors, friends and the ranks on ways only',
    async (_, strategy, partners) => {
      await onRanks({ ranks, fabric: local({ processes, seed: 3 }) }, async (world) => {
        const found: unknown[] = []
        const retained: number[] = []
        for (const table of ['distributed', 'replicated'] as const) {
          const part = await splitWith(world, table)
          const neighbors = neighborsOf(part)
          const lists = { sources: neighbors, destinations: neighbors }
          const graph = await part.createDistGraphAdjacent({ ...lists, strategy, planFrom: 'neighbors' })
          for (let call = 0; call < 2; call++) {
            const blocks = await graph.neighborAllgather(Int32Array.of(graph.rank, call))
            expect([...blocks]).toEqual(neighbors.flatMap((neighbor) => [neighbor, call]))
          }
          const varying = await graph.neighborAllgatherv(new Uint8Array(graph.rank % 3).fill(graph.rank))
          expect([...varying.counts]).toEqual(neighbors.map((neighbor) => neighbor % 3))
          const into = new Float64Array(neighbors.length)
          const request = graph.neighborAllgatherInit(Float64Array.of(graph.rank / 3), into)
          for (let start = 0; start < 2; start++) {
            await request.start()
            expect([...into]).toEqual(neighbors.map((neighbor) => neighbor / 3))
            into.fill(-1)
          }
          request.free()
          const { opPeer, entryBlock } = (await graph.plan()).schedule
          found.push({ opPeer, entryBlock })

          const described = graph.describe()
          retained.push(described.retained.total)
          expect(part.describe().table.kind).toBe(table)
          expect(described.table.kind).toBe(table)
          if (table === 'distributed') {
            // Of both communicators of the split: a process hosts 2 of their ranks.
            expect(described.table.lookups!.asked).toBeLessThanOrEqual(2 * partners)
            expect(described.table.lookups!.cached).toBe(0)
            expect(described.retained.table).toBe(4 * described.ranksHere)
          }
        }
        expect(found[0]).toEqual(found[1])
        expect(retained[0]).toBeLessThan(retained[1])
      })
    },
  )

  it('its plan is that of the whole graph, also where some processes have fetched the table, and a copy uses it', async () => {
    const strategy = { ...combining, mode: 'agnostic', engine: 'distributed' } as const
    const lines = await onRanks({ ranks, fabric: local({ processes, seed: 4 }) }, async (world) => {
      const part = await splitWith(world, 'distributed')
      if (world.rank % 3 === 0) await part.group()
      const neighbors = neighborsOf(part)
      const made = await part.createDistGraphAdjacent({
        sources: neighbors,
        destinations: neighbors,
        strategy,
      })
      const graph = await made.dup()
      await made.free()
      await part.free()
      expect([...(await graph.neighborAllgather(Int32Array.of(graph.rank)))]).toEqual(neighbors)
      return graph.planLines(1)
    })
    const found = lines.filter((each) => each !== null)
    expect(found).toHaveLength(2)
    for (const each of found) expect(each).toEqual(linesOfWhole(each.length - 1))
  })

  it('an edge that only one end lists is named on all processes, and the table is not fetched', async () => {
    const codes = await onRanks({ ranks, fabric: local({ processes, seed: 5 }) }, async (world) => {
      const part = await splitWith(world, 'distributed')
      const neighbors = neighborsOf(part)
      const destinations = part.rank === 5 ? neighbors.slice(1) : neighbors
      const made = part.createDistGraphAdjacent({ sources: neighbors, destinations, planFrom: 'neighbors' })
      const code = await codeOf(made)
      expect(part.describe().table.kind).toBe('distributed')
      return code
    })
    expect(new Set(codes)).toEqual(new Set(['ERR_TOPOLOGY']))
  })
})

it('planned from the graph, it fetches the table', async () => {
  await onRanks({ ranks: 24, fabric: local({ processes: 6, seed: 6 }) }, async (world) => {
    const part = await splitWith(world, 'distributed')
    const neighbors = neighborsOf(part)
    const lists = { sources: neighbors, destinations: neighbors }
    const graph = await part.createDistGraphAdjacent({ ...lists, planFrom: 'graph' })
    expect([...(await graph.neighborAllgather(Int32Array.of(graph.rank)))]).toEqual(neighbors)
    expect(graph.describe().table.kind).toBe('replicated')
  })
})
