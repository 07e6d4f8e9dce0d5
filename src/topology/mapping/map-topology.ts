import { mulberry32 } from '../../base/random.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { requireTopology } from '../check-topology.js'
import { findTranslations } from '../generate/translations.js'
import { distinctIn, distinctOut, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { exchangedAmounts, integerAmounts } from './exchanged-amounts.js'
import { PlacedBusiest } from './placed-busiest.js'
import { PlacedDistances } from './placed-distances.js'
import type { PlacedGraph } from './placed-graph.js'
import { PlacedPairs } from './placed-pairs.js'
import { byRecursiveBisection } from './recursive-bisection.js'
import { improveBySwaps } from './swaps.js'
import { boxesOf, byEqualBoxes, byHalvedBoxes } from './tiles.js'
import { exchangeGraph } from './weighted-graph.js'

/**
 * What a mapping makes small:
 * - `pairs`: distinct (source rank, destination node) on different nodes: messages between nodes where what goes to one
 *   node is sent once;
 * - `edges`: distinct edges between nodes: messages of direct sends;
 * - `hop-bytes`: the weights of edges times the distance of the nodes of both ends (Hoefler and Snir 2011, dilation);
 * - `busiest-node`: pairs that leave or enter the node that has most.
 */
export const mappingObjectives = ['pairs', 'edges', 'hop-bytes', 'busiest-node'] as const
export type MappingObjective = (typeof mappingObjectives)[number]

export interface MapOptions {
  /** Slots of every node: node 0 has the first ones, and so on. At least as many in all as ranks; the last stay free. */
  readonly capacities: ArrayLike<number>
  /** Default `pairs`. */
  readonly objective?: MappingObjective
  /** Of two nodes, for `hop-bytes`; symmetric, 0 of a node and itself. Default 1 between all nodes. */
  readonly distance?: (nodeA: number, nodeB: number) => number
  /** Equal seeds give equal mappings. Default 1. */
  readonly seed?: number
  /**
   * What refinement may spend, in visits of a neighbor, some 10 ns each. Default 10^4 for every rank and every edge, at
   * most 4 * 10^8.
   */
  readonly work?: number
}

/** Where the vertices of a topology are best. */
export interface Mapping {
  /** The slot of every vertex: a permutation of 0 to ranks - 1. Vertices of a node are in ascending order. */
  readonly slotOf: Int32Array
  /** The node of every vertex. */
  readonly nodeOf: Int32Array
  /** By the objective. */
  readonly cost: number
  /** The same with vertex v on slot v. Never less than `cost`. */
  readonly identityCost: number
  /** From what it was refined: `identity`, `halved boxes`, `boxes of AxB`, `bisection`. */
  readonly start: string
}

/**
 * Places the vertices of a topology on nodes of given capacities. Several starts are refined by the objective, and the
 * best of all is kept: never worse than vertex v on slot v. Deterministic.
 *
 * Time: 10 s for 100,000 ranks with a million edges. Memory: some 100 bytes an edge.
 *
 * @throws ERR_TOPOLOGY, ERR_MACHINE where slots are fewer than ranks
 */
export function mapTopology(topology: ProcessTopology, options: MapOptions): Mapping {
  requireTopology(topology)
  const { objective = 'pairs', seed = 1, work = workOf(topology) } = options
  if (!mappingObjectives.includes(objective))
    throw wrongValue('ERR_ARGUMENT', `objective: expected one of ${mappingObjectives.join(', ')}`, objective)
  const capacities = usedSlots(options.capacities, topology.ranks)
  const problem = problemOf(topology, objective, capacities, options.distance)
  const next = mulberry32(seed)
  const starts = startsOf(topology, problem, next)
  const identityCost = problem.place(starts[0].nodeOf.slice()).cost
  const placed = starts
    .map(({ start, nodeOf }) => ({ start, graph: problem.place(nodeOf) }))
    .sort((a, b) => a.graph.cost - b.graph.cost)
    .slice(0, refinedStarts)
  for (const { graph } of placed) {
    const { neighbors, temperature } = problem
    const share = Math.floor(work / placed.length)
    improveBySwaps(graph, capacities.length, { neighbors, work: share, temperature, next })
  }
  const [best] = placed.toSorted((a, b) => a.graph.cost - b.graph.cost)
  const { nodeOf } = best.graph
  const slotOf = slotsOf(nodeOf, capacities)
  return { slotOf, nodeOf, cost: best.graph.cost, identityCost, start: best.start }
}

const refinedStarts = 2

/** Enough to visit every edge thousands of times where there are few, bounded where there are many. */
function workOf({ ranks, outRank }: ProcessTopology): number {
  return Math.min(400_000_000, 10_000 * (ranks + outRank.length))
}

/** The slots that vertices take: as many as there are ranks, in order. @throws ERR_MACHINE */
function usedSlots(given: ArrayLike<number>, ranks: number): Int32Array {
  const capacities = new Int32Array(given.length)
  let free = ranks
  for (let node = 0; node < given.length; node++) {
    const capacity = given[node]
    if (!Number.isInteger(capacity) || capacity < 0)
      throw wrongValue('ERR_MACHINE', `capacity of node ${node}: expected an integer from 0`, capacity)
    capacities[node] = Math.min(capacity, free)
    free -= capacities[node]
  }
  if (free === 0) return capacities
  const message = `expected capacities of at least ${ranks} slots in all, got ${ranks - free}`
  throw new RankweaveError('ERR_MACHINE', `${message} on ${shown(given.length)} nodes`)
}

/** A topology to be placed, as the objective sees it. */
interface Problem {
  readonly capacities: Int32Array
  /** Who may gain by being together. */
  readonly neighbors: readonly NeighborSets[]
  readonly temperature: number
  place(nodeOf: Int32Array): PlacedGraph
  bisected(next: () => number): Int32Array
}

function problemOf(
  topology: ProcessTopology,
  objective: MappingObjective,
  capacities: Int32Array,
  distance: MapOptions['distance'] = (a, b) => (a === b ? 0 : 1),
): Problem {
  const [out, into] = [distinctOut(topology), distinctIn(topology)]
  const neighbors = [out, into]
  const nodes = capacities.length
  switch (objective) {
    case 'pairs': {
      const graph = () => exchangeGraph(out, into)
      const bisected = (next: () => number) => byRecursiveBisection(graph(), capacities, next)
      return {
        ...{ capacities, neighbors, temperature: 0.6, bisected },
        place: (nodeOf) => new PlacedPairs(out, into, nodeOf),
      }
    }
    case 'busiest-node': {
      const bisected = (next: () => number) => {
        const nodeOf = byRecursiveBisection(exchangeGraph(out, into), capacities, next)
        const placed = new PlacedPairs(out, into, nodeOf)
        improveBySwaps(placed, nodes, { neighbors, work: workOf(topology) / 4, temperature: 0.6, next })
        return nodeOf
      }
      return {
        ...{ capacities, neighbors, temperature: 0, bisected },
        place: (nodeOf) => new PlacedBusiest(out, into, nodes, nodeOf),
      }
    }
    case 'edges': {
      const graph = exchangeGraph(out, into)
      return {
        ...{ capacities, neighbors, temperature: 0.6 },
        place: (nodeOf) => new PlacedDistances(graph, (a, b) => (a === b ? 0 : 1), nodes, nodeOf),
        bisected: (next) => byRecursiveBisection(graph, capacities, next),
      }
    }
    case 'hop-bytes': {
      const amounts = exchangedAmounts(topology)
      const mean = amounts.weight.length === 0 ? 1 : sumOf(amounts.weight) / amounts.weight.length
      return {
        ...{ capacities, neighbors, temperature: 0.6 * mean },
        place: (nodeOf) => new PlacedDistances(amounts, distance, nodes, nodeOf),
        bisected: (next) => byRecursiveBisection(integerAmounts(amounts), capacities, next),
      }
    }
  }
}

function sumOf(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]
  return sum
}

interface Start {
  readonly start: string
  readonly nodeOf: Int32Array
}

function startsOf(topology: ProcessTopology, problem: Problem, next: () => number): Start[] {
  const { capacities } = problem
  const identity = new Int32Array(topology.ranks)
  let first = 0
  for (const [node, capacity] of capacities.entries()) {
    identity.fill(node, first, first + capacity)
    first += capacity
  }
  return [
    { start: 'identity', nodeOf: identity },
    ...tileStarts(topology, capacities),
    { start: 'bisection', nodeOf: problem.bisected(next) },
  ]
}

/** Of a topology that looks the same from every rank of a grid. */
function tileStarts(topology: ProcessTopology, capacities: Int32Array): Start[] {
  const grid = findTranslations(topology, { workLimit: 1e7 })
  if (grid.kind !== 'invariant' || grid.dims.length < 2) return []
  const { dims } = grid
  const halved = { start: 'halved boxes', nodeOf: byHalvedBoxes(dims, capacities) }
  const isEven = capacities.every((capacity) => capacity === capacities[0])
  const ways = isEven ? boxesOf(dims, capacities[0]) : []
  return [
    halved,
    ...ways.map((sides) => ({ start: `boxes of ${sides.join('x')}`, nodeOf: byEqualBoxes(dims, sides) })),
  ]
}

/** The vertices of every node in ascending order, on its slots in order. */
function slotsOf(nodeOf: Int32Array, capacities: Int32Array): Int32Array {
  const next = new Int32Array(capacities.length)
  for (let node = 1; node < capacities.length; node++) next[node] = next[node - 1] + capacities[node - 1]
  return nodeOf.map((node) => next[node]++)
}
