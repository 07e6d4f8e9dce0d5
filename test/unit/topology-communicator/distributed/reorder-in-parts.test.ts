import { type AdjacentOptions, type Communicator, type LocalOptions, local, run } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import {
  inNeighbors,
  mooreTopology,
  outNeighbors,
  type ProcessTopology,
  topologyFromEdges,
} from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { uniformDistance } from '../../../../src/topology/mapping/placed-graph.js'
import { placementCosts } from '../../../../src/topology/mapping/placement-costs.js'
import { type MappingObjective, mappingObjectives } from '../../../../src/topology/mapping/problem.js'

/** A graph with weights in which the neighbors of a Moore grid are far from each other in number. */
function shuffledGrid(dims: readonly number[], seed: number): ProcessTopology {
  const grid = mooreTopology({ dims, radius: 1 })
  const next = mulberry32(seed)
  const order = Array.from({ length: grid.ranks }, (_, rank) => [next(), rank])
  const nameOf = order.sort(([a], [b]) => a - b).map(([, rank]) => rank)
  const [sources, destinations]: [number[], number[]] = [[], []]
  for (let v = 0; v < grid.ranks; v++)
    for (const u of outNeighbors(grid, v)) {
      sources.push(nameOf[v])
      destinations.push(nameOf[u])
    }
  const weights = sources.map((source, e) => 1 + ((source + destinations[e]) % 7))
  return topologyFromEdges(grid.ranks, { sources, destinations, weights })
}

const rowOf = (list: Float64Array | null, start: Int32Array, v: number) =>
  Array.from(list!.subarray(start[v], start[v + 1]))

function listsOf(topology: ProcessTopology, v: number) {
  return {
    sources: inNeighbors(topology, v),
    destinations: outNeighbors(topology, v),
    sourceWeights: rowOf(topology.inWeight, topology.inStart, v),
    destinationWeights: rowOf(topology.outWeight, topology.outStart, v),
  }
}

/** Makes the graph renumbered, checks what each rank sees of it, and returns the places of its ranks. */
async function placesIn(
  world: Communicator,
  topology: ProcessTopology,
  options: Partial<AdjacentOptions>,
): Promise<number[]> {
  const graph = await world.createDistGraphAdjacent({
    ...listsOf(topology, world.rank),
    ...{ reorder: true, planFrom: 'neighbors' },
    ...options,
  })
  const { rank } = graph
  const { sources, destinations, sourceWeights, destinationWeights } = listsOf(topology, rank)
  expect([...graph.sources]).toEqual([...sources])
  expect([...graph.destinations]).toEqual([...destinations])
  expect([...graph.sourceWeights!]).toEqual(sourceWeights)
  expect([...graph.destinationWeights!]).toEqual(destinationWeights)
  expect([...(await graph.neighborAllgather(Int32Array.of(rank)))]).toEqual([...sources])
  const blocks = await graph.neighborAlltoall(Int32Array.from(destinations, (to) => 1000 * rank + to))
  expect([...blocks]).toEqual([...sources].map((from) => 1000 * from + rank))
  const places = [...(await graph.allgather(Int32Array.of(world.rank)))]
  await graph.free()
  return places
}

const costBy = {
  pairs: 'pairs',
  edges: 'edges',
  'hop-bytes': 'hopBytes',
  'busiest-node': 'busiestNode',
} as const

/** Cost of vertex v at `places[v]`. */
function costOf(
  topology: ProcessTopology,
  objective: MappingObjective,
  nodes: ArrayLike<number>,
  places: number[],
) {
  const costs = placementCosts(
    topology,
    places.map((place) => nodes[place]),
    uniformDistance,
  )
  return costs[costBy[objective]]
}

const nodes = ['a', 'a', 'b', 'b', 'c', 'c']
const topology = shuffledGrid([4, 6], 3)
const identity = Array.from({ length: topology.ranks }, (_, rank) => rank)
const nodeOfRank = identity.map((rank) => Math.floor(rank / 8))

const onNodes = <T>(main: (world: Communicator) => Promise<T>, faults?: LocalOptions['faults']) =>
  run(main, {
    ranks: topology.ranks,
    fabric: local({ processes: 6, nodes, ...(faults === undefined ? {} : { seed: 1, faults }) }),
  })

describe('reorder where ranks plan from their neighbors', () => {
  it.each(mappingObjectives)(
    'makes %s less; ranks have the neighbors of their new numbers',
    async (objective) => {
      const [places] = await onNodes((world) => placesIn(world, topology, { reorder: { objective } }))
      expect(places.toSorted((a, b) => a - b)).toEqual(identity)
      const cost = (of: number[]) => costOf(topology, objective, nodeOfRank, of)
      expect(cost(places)).toBeLessThan(cost(identity))
    },
  )

  const strategies: readonly Strategy[] = [
    { kind: 'common-neighbor', k: 2, mode: 'aware', theta: 0, engine: 'distributed' },
    { kind: 'routed', radices: [5, 5] },
    { kind: 'hierarchical' },
    { kind: 'lanes' },
  ]
  it.each(strategies)(
    '$kind: plans for the new places, on nodes of the world and of a machine',
    async (strategy) => {
      const uneven = cluster({ nodes: 5, cores: 5 })
      const places = await onNodes(async (world) => [
        await placesIn(world, topology, { strategy }),
        await placesIn(world, topology, { strategy, machine: uneven }),
      ])
      const [onWorld, onMachine] = places[0]
      const nodesOfMachine = nodeOf(uneven, topology.ranks)
      expect(costOf(topology, 'pairs', nodeOfRank, onWorld)).toBeLessThan(
        costOf(topology, 'pairs', nodeOfRank, identity),
      )
      expect(costOf(topology, 'pairs', nodesOfMachine, onMachine)).toBeLessThan(
        costOf(topology, 'pairs', nodesOfMachine, identity),
      )
    },
  )

  it('works on a communicator whose ranks are in another order, with a distributed table', async () => {
    const keys = identity.map((rank) => (rank * 29) % topology.ranks)
    const found = await onNodes(async (world) => {
      const comm = (await world.split(0, keys[world.rank], { table: 'distributed', selfHostRows: 0 }))!
      const where = [...(await comm.allgather(Int32Array.of(nodeOfRank[world.rank])))]
      return { where, places: await placesIn(comm, topology, {}) }
    })
    const { where, places } = found[0]
    expect(costOf(topology, 'pairs', where, places)).toBeLessThan(costOf(topology, 'pairs', where, identity))
  })

  it('leaves ranks where they are on one node, without edges, and where nothing is gained', async () => {
    const none = topologyFromEdges(topology.ranks, { sources: [], destinations: [], weights: [] })
    const within = topologyFromEdges(topology.ranks, {
      sources: identity,
      destinations: identity.map((rank) => rank ^ 1),
      weights: identity.map(() => 1),
    })
    const [places] = await onNodes(async (world) => [
      await placesIn(world, none, {}),
      await placesIn(world, within, {}),
      await placesIn(world, topology, { machine: cluster({ nodes: 1, cores: topology.ranks }) }),
    ])
    expect(places).toEqual([identity, identity, identity])
  })

  it('delayed frames change nothing, and a lost process ends the world with ERR_PEER_LOST', async () => {
    const outcome = (faults: LocalOptions['faults']) =>
      onNodes((world) => placesIn(world, topology, {}), faults).then(
        ([places]) => places.join(),
        (error: { code?: string }) => error.code,
      )
    const expected = await outcome({})
    expect(expected).toMatch(/^\d+(,\d+){23}$/)
    expect(await outcome({ delay: 7 })).toBe(expected)
    const outcomes = new Set<unknown>()
    for (let afterFrames = 0; afterFrames < 40; afterFrames += 10)
      outcomes.add(await outcome({ kill: [{ process: 2, afterFrames }] }))
    outcomes.delete(expected)
    expect([...outcomes]).toEqual(['ERR_PEER_LOST'])
  })
})
