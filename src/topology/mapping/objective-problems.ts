import { inversePermutation } from '../../base/permutation.js'
import { permuteRows } from '../compressed-rows.js'
import { distinctIn, distinctOut, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { arrangedNodes } from './arranged-nodes.js'
import { byDualBisection } from './dual-bisection.js'
import { exchangedAmounts, integerAmounts } from './exchanged-amounts.js'
import { nearOrder } from './near-nodes.js'
import type { MappingObjective } from './objectives.js'
import { PlacedBusiest } from './placed-busiest.js'
import { type ExchangedAmounts, PlacedDistances, uniformDistance } from './placed-distances.js'
import { PlacedPairs } from './placed-pairs.js'
import type { PlacingFacts, Problem } from './problem.js'
import { byRecursiveBisection } from './recursive-bisection.js'
import { refined } from './refined.js'
import { exchangeGraph } from './weighted-graph.js'

/** The problem of a topology by every objective. */
export const objectiveProblems: Readonly<
  Record<MappingObjective, (topology: ProcessTopology, facts: PlacingFacts) => Problem>
> = {
  pairs: (topology, facts) => pairsProblem(setsOf(topology), facts),
  edges: (topology, facts) => {
    const { out, into } = setsOf(topology)
    return distancesProblem(exchangeGraph(out, into), { ...facts, distance: uniformDistance }, 0.6)
  },
  'hop-bytes': (topology, facts) => {
    const amounts = exchangedAmounts(topology)
    return {
      ...distancesProblem(amounts, facts, 0.6 * meanOf(amounts.weight)),
      arranged: (nodeOf, search) => arrangedNodes(amounts, nodeOf, { ...facts, ...search }),
      dual: (count, next) => {
        const order = nearOrder(facts, next)
        if (order === null) return []
        const graph = integerAmounts(amounts)
        return Array.from({ length: count }, () => byDualBisection(graph, { ...facts, order }, next))
      },
    }
  },
  'busiest-node': (topology, facts) => busiestProblem(setsOf(topology), facts),
}

interface BothSets {
  readonly out: NeighborSets
  readonly into: NeighborSets
}

function setsOf(topology: ProcessTopology): BothSets {
  return { out: distinctOut(topology), into: distinctIn(topology) }
}

function pairsProblem(sets: BothSets, facts: PlacingFacts): Problem {
  const { out, into } = sets
  return {
    ...{ neighbors: [out, into], temperature: 0.6 },
    place: (nodeOf) => new PlacedPairs(out, into, nodeOf),
    bisected: (next) => byRecursiveBisection(exchangeGraph(out, into), facts.capacities, next),
    renumbered: (order) => pairsProblem(renumberedSets(sets, order), facts),
  }
}

/** Makes the problem of the busiest node. Its search accepts no losses, because most swaps do not change that node. */
function busiestProblem(sets: BothSets, facts: PlacingFacts): Problem {
  const { out, into } = sets
  const { capacities, work } = facts
  const nodes = capacities.length
  return {
    ...{ neighbors: [out, into], temperature: 0 },
    place: (nodeOf) => new PlacedBusiest(out, into, nodes, nodeOf),
    bisected: (next) => {
      const pairs = pairsProblem(sets, facts)
      return refined(pairs, pairs.bisected(next), { nodes, work: work / 16, next }).nodeOf
    },
    renumbered: (order) => busiestProblem(renumberedSets(sets, order), facts),
  }
}

function distancesProblem(amounts: ExchangedAmounts, facts: PlacingFacts, temperature: number): Problem {
  const { capacities, distance } = facts
  const neighbors = [{ start: amounts.start, rank: amounts.to }]
  return {
    ...{ neighbors, temperature },
    place: (nodeOf) => new PlacedDistances(amounts, distance, nodeOf),
    bisected: (next) => byRecursiveBisection(integerAmounts(amounts), capacities, next),
    renumbered: (order) => distancesProblem(renumberedAmounts(amounts, order), facts, temperature),
  }
}

function renumberedSets({ out, into }: BothSets, order: Int32Array): BothSets {
  const numberOf = inversePermutation(order)
  const [newOut, newInto] = [out, into].map((sets) => renumbered(permuteRows(sets, order), numberOf))
  return { out: newOut, into: newInto }
}

/** Renumbers rows in place, which the caller must not use elsewhere. */
function renumbered(rows: NeighborSets, numberOf: Int32Array): NeighborSets {
  for (let e = 0; e < rows.rank.length; e++) rows.rank[e] = numberOf[rows.rank[e]]
  return rows
}

function renumberedAmounts({ start, to, weight }: ExchangedAmounts, order: Int32Array): ExchangedAmounts {
  const rows = renumbered(permuteRows({ start, rank: to }, order), inversePermutation(order))
  const newWeight = new Float64Array(weight.length)
  let entries = 0
  for (const v of order) for (let e = start[v]; e < start[v + 1]; e++) newWeight[entries++] = weight[e]
  return { start: rows.start, to: rows.rank, weight: newWeight }
}

/** Returns the mean of values; 1 without values. */
function meanOf(values: ArrayLike<number>): number {
  if (values.length === 0) return 1
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]
  return sum / values.length
}
