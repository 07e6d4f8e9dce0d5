import { mulberry32 } from '../../base/random.js'
import { wrongValue } from '../../errors.js'
import { requireTopology } from '../check-topology.js'
import { findTranslations } from '../generate/translations.js'
import { distinctIn, distinctOut, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { PlacedPairs } from './placed-pairs.js'
import { byRecursiveBisection } from './recursive-bisection.js'
import { improveBySwaps } from './swaps.js'
import { boxesOf, byEqualBoxes, byHalvedBoxes } from './tiles.js'
import { exchangeGraph } from './weighted-graph.js'

export interface MapOptions {
  /** Slots of every node, in order; their sum is the number of ranks. */
  readonly capacities: ArrayLike<number>
  /** Default 1. Equal seeds give equal mappings. */
  readonly seed?: number
}

/** Where the vertices of a topology are best. */
export interface Mapping {
  /** The node of every vertex. */
  readonly nodeOf: Int32Array
  /** Distinct (source vertex, node of a destination) on different nodes: now, and with vertex v on slot v. */
  readonly pairs: number
  readonly identityPairs: number
  /** What was refined to it. */
  readonly start: string
}

/**
 * Places the vertices of a topology on nodes, so that few (source, destination node) pairs are on different nodes.
 * Several starts are refined, and the best of all is kept: never more pairs than with vertex v on slot v. Deterministic.
 */
export function mapTopology(topology: ProcessTopology, options: MapOptions): Mapping {
  requireTopology(topology)
  const capacities = Int32Array.from(options.capacities)
  const slots = capacities.reduce((sum, capacity) => sum + capacity, 0)
  if (slots !== topology.ranks)
    throw wrongValue('ERR_MACHINE', `expected capacities of ${topology.ranks} slots in all`, slots)
  const [out, into] = [distinctOut(topology), distinctIn(topology)]
  const next = mulberry32(options.seed ?? 1)
  const starts = startsOf(topology, out, into, capacities, next)
  const placed = starts.map(({ start, nodeOf }) => ({ start, graph: new PlacedPairs(out, into, nodeOf) }))
  const identityPairs = placed[0].graph.cost
  placed.sort((a, b) => a.graph.cost - b.graph.cost)
  const kept = placed.slice(0, 2)
  const work = workOf(topology)
  for (const { graph } of kept)
    improveBySwaps(graph, capacities.length, {
      ...{ neighbors: [out, into], work, temperature: 0.6, next },
    })
  const [best] = kept.toSorted((a, b) => a.graph.cost - b.graph.cost)
  return { nodeOf: best.graph.nodeOf, pairs: best.graph.cost, identityPairs, start: best.start }
}

/** Enough to go over every edge thousands of times where there are few, bounded where there are many. */
function workOf({ ranks, outRank }: ProcessTopology): number {
  return Math.min(400_000_000, 10_000 * (ranks + outRank.length))
}

interface Start {
  readonly start: string
  readonly nodeOf: Int32Array
}

function startsOf(
  topology: ProcessTopology,
  out: NeighborSets,
  into: NeighborSets,
  capacities: Int32Array,
  next: () => number,
): Start[] {
  const identity = new Int32Array(topology.ranks)
  let first = 0
  for (const [node, capacity] of capacities.entries()) {
    identity.fill(node, first, first + capacity)
    first += capacity
  }
  return [
    { start: 'identity', nodeOf: identity },
    ...tileStarts(topology, capacities),
    { start: 'bisection', nodeOf: byRecursiveBisection(exchangeGraph(out, into), capacities, next) },
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
