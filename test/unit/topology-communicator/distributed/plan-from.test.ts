import { type Communicator, local, type RankweaveError } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { planningLimits, reorderLimit } from '../../../../src/topology-communicator/arguments.js'
import { onRanks } from '../../../support/on-ranks.js'

const combining = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 } as const

/** Whether ranks planned from the graph or from their neighbors. */
async function plannedFrom(graph: Awaited<ReturnType<Communicator['createDistGraphAdjacent']>>) {
  return (await graph.plan()).ranks === undefined ? 'graph' : 'neighbors'
}

describe('createDistGraphAdjacent plans from the graph up to the limit, from neighbors beyond', () => {
  it.each(['direct', 'common-neighbor', 'routed'] as const)('strategy %s', async (kind) => {
    const strategy: Strategy = kind === 'common-neighbor' ? { ...combining, theta: 2 } : { kind }
    const found = await onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world) => {
      // Rank 0 sends to itself, which is an edge like any other.
      const made = []
      for (const edges of [planningLimits[kind], planningLimits[kind] + 1]) {
        const loops = new Int32Array(world.rank === 0 ? edges : 0)
        const graph = await world.createDistGraphAdjacent({ sources: loops, destinations: loops, strategy })
        made.push(await plannedFrom(graph))
        await graph.free()
      }
      return made
    })
    expect(found).toEqual(new Array(2).fill(['graph', 'neighbors']))
  })

  it('where ranks are renumbered, graphs of up to 2^20 edges are gathered for any strategy', async () => {
    const found = await onRanks(
      { ranks: 2, fabric: local({ processes: 2, nodes: ['a', 'b'] }) },
      async (world) => {
        const made = []
        for (const edges of [reorderLimit, reorderLimit + 1]) {
          const loops = new Int32Array(world.rank === 0 ? edges : 0)
          const lists = { sources: loops, destinations: loops }
          const graph = await world.createDistGraphAdjacent({ ...lists, reorder: true })
          made.push(await plannedFrom(graph))
          await graph.free()
        }
        return made
      },
    )
    expect(found).toEqual(new Array(2).fill(['graph', 'neighbors']))
  })

  it('one process, which has the whole graph anyway, plans from it', async () => {
    const found = await onRanks({ ranks: 1 }, async (world) => {
      const loops = new Int32Array(planningLimits.direct + 1)
      return plannedFrom(await world.createDistGraphAdjacent({ sources: loops, destinations: loops }))
    })
    expect(found).toEqual(['graph'])
  })

  it('planFrom and engines decide it, and what contradicts itself is refused before anything is sent', async () => {
    const found = await onRanks({ ranks: 3, fabric: local({ processes: 2 }) }, async (world) => {
      const lists = { sources: [], destinations: [] }
      const of = async (strategy: Strategy, planFrom?: 'graph' | 'neighbors') =>
        world
          .createDistGraphAdjacent({ ...lists, strategy, ...(planFrom === undefined ? {} : { planFrom }) })
          .then(plannedFrom, ({ code }: RankweaveError) => code)
      return [
        await of({ kind: 'direct' }, 'neighbors'),
        await of(combining, 'neighbors'),
        await of(combining, 'graph'),
        await of({ kind: 'routed' }, 'neighbors'),
        await of({ kind: 'routed' }),
        await of({ kind: 'cumulative', k: 2, mode: 'agnostic' }, 'neighbors'),
        await of({ ...combining, engine: 'greedy' }),
        await of({ ...combining, engine: 'improved' }),
        await of({ ...combining, engine: 'distributed' }),
        await of({ ...combining, engine: 'distributed' }, 'graph'),
        await of({ ...combining, engine: 'improved' }, 'neighbors'),
        await of(combining, 'lists' as 'graph'),
      ]
    })
    const needsGraph = 'ERR_STRATEGY'
    const expected = [
      'neighbors',
      'neighbors',
      'graph',
      'neighbors',
      'graph',
      needsGraph,
      'graph',
      'graph',
      'neighbors',
    ]
    expect(found).toEqual(new Array(3).fill([...expected, 'ERR_STRATEGY', 'ERR_STRATEGY', 'ERR_ARGUMENT']))
  })
})

it('calls that give every process the whole topology refuse the engine distributed, with the reason', async () => {
  const strategy = { ...combining, engine: 'distributed' } as const
  const [found] = await onRanks({ ranks: 1 }, async (world) => {
    const topology = topologyFromEdges(1, { sources: [0], destinations: [0] })
    const made = [
      world.createCart([1], { strategy }),
      world.createGraph([0], [], { strategy }),
      world.createTopology(topology, { strategy }),
      world.createDistGraph({ sources: [], degrees: [], destinations: [], strategy }),
    ]
    return Promise.all(made.map((call) => call.catch(({ code, message }) => `${code}: ${message}`)))
  })
  const calls = ['createCart', 'createGraph', 'createTopology', 'createDistGraph']
  for (const [i, call] of calls.entries()) {
    expect(found[i]).toMatch(new RegExp(`^ERR_STRATEGY: ${call}: engine distributed .* use greedy`))
  }
})

it('rejects weights that are not numbers on every rank', async () => {
  const found = await onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world) => {
    const other = 1 - world.rank
    const weights = [world.rank === 0 ? Number.NaN : 1]
    return world
      .createDistGraphAdjacent({
        sources: [other],
        destinations: [other],
        sourceWeights: weights,
        destinationWeights: [1],
        planFrom: 'neighbors',
      })
      .catch(({ code }) => code)
  })
  expect(found).toEqual(['ERR_TOPOLOGY', 'ERR_TOPOLOGY'])
})
