import { inversePermutation } from '../../base/order.js'
import { below } from '../../base/random.js'
import { meanOf } from '../../base/search.js'
import { entriesByRow, permuteRows, rowStarts } from '../compressed-rows.js'
import { distinctIn, distinctOut, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { byRecursiveBisection } from './bisection.js'
import { byDualBisection, nearOrder } from './dual-bisection.js'
import type { MappingObjective } from './objectives.js'
import {
  type ExchangedAmounts,
  PlacedBusiest,
  PlacedDistances,
  PlacedPairs,
  uniformDistance,
} from './placed-graph.js'
import { type PlacingFacts, type Problem, refined } from './problem.js'
import { exchangedAmounts, exchangeGraph, integerAmounts } from './weighted-graph.js'

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
    const meanAmount = amounts.weight.length === 0 ? 1 : meanOf(amounts.weight)
    return {
      ...distancesProblem(amounts, facts, 0.6 * meanAmount),
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

/** The input of an arrangement of nodes. */
interface ArrangedNodes {
  /** The number of slots of every node. */
  readonly capacities: Int32Array
  /** The distance of two nodes: symmetric, and 0 from a node to itself. */
  readonly distance: (nodeA: number, nodeB: number) => number
  /** The budget, in visits of neighboring nodes. */
  readonly work: number
  readonly next: () => number
}

/** The temperature falls by this factor from start to end. */
const cooling = 1000
/** The number of random swaps by which the size of a swap's change is estimated. */
const samples = 64

/**
 * Exchanges the whole contents of two nodes of equal capacity such that amounts times distances become less. It runs
 * simulated annealing (Kirkpatrick 1983) on the graph of nodes. Swaps of single vertices do not lead there, because the
 * first ones cost much.
 *
 * @returns the node of every vertex; never worse than before
 */
function arrangedNodes(
  amounts: ExchangedAmounts,
  nodeOf: Int32Array,
  { capacities, distance, work, next }: ArrangedNodes,
): Int32Array {
  const between = betweenNodes(amounts, nodeOf, capacities.length)
  const nodes = capacities.length
  /** The node that holds each node's contents: now, and at the least cost. */
  const place = Int32Array.from({ length: nodes }, (_, node) => node)
  let best = place.slice()
  const gainOf = (a: number, b: number) => gainAt(between, place, distance, a, b)
  const draw = () => [below(next, nodes), below(next, nodes)] as const
  const isChange = (a: number, b: number) => a !== b && capacities[a] === capacities[b]
  let [spent, changes, size] = [0, 0, 0]
  for (let i = 0; i < samples && nodes > 0; i++) {
    const [a, b] = draw()
    if (!isChange(a, b)) continue
    changes++
    size += Math.abs(gainOf(a, b))
  }
  if (size === 0) return nodeOf
  const hottest = size / changes
  let [total, least] = [0, 0]
  while (spent < work) {
    const temperature = hottest * cooling ** (-spent / work)
    const [a, b] = draw()
    spent += 1
    if (!isChange(a, b)) continue
    spent += between.start[a + 1] - between.start[a] + between.start[b + 1] - between.start[b]
    const gain = gainOf(a, b)
    if (gain < 0 && Math.exp(gain / temperature) * 2 ** 32 <= next()) continue
    const other = place[a]
    place[a] = place[b]
    place[b] = other
    total -= gain
    if (total >= least) continue
    least = total
    best = place.slice()
  }
  return nodeOf.map((node) => best[node])
}

/** Returns the amount by which the cost falls if the contents of two nodes change places. */
function gainAt(
  { start, to, weight }: ExchangedAmounts,
  place: Int32Array,
  distance: ArrangedNodes['distance'],
  a: number,
  b: number,
): number {
  const [atA, atB] = [place[a], place[b]]
  let gain = 0
  for (let e = start[a]; e < start[a + 1]; e++)
    if (to[e] !== b) gain += weight[e] * (distance(atA, place[to[e]]) - distance(atB, place[to[e]]))
  for (let e = start[b]; e < start[b + 1]; e++)
    if (to[e] !== a) gain += weight[e] * (distance(atB, place[to[e]]) - distance(atA, place[to[e]]))
  return gain
}

/** Sums what all vertices of a node exchange with those of each other node. */
function betweenNodes(amounts: ExchangedAmounts, nodeOf: Int32Array, nodes: number): ExchangedAmounts {
  const members = rowStarts(nodes, nodeOf)
  const byNode = entriesByRow(members, nodeOf)
  const start = new Int32Array(nodes + 1)
  const to: number[] = []
  const weight: number[] = []
  const entryOf = new Int32Array(nodes).fill(-1)
  for (let node = 0; node < nodes; node++) {
    const first = to.length
    for (const v of byNode.subarray(members[node], members[node + 1]))
      for (let e = amounts.start[v]; e < amounts.start[v + 1]; e++) {
        const other = nodeOf[amounts.to[e]]
        if (other === node) continue
        if (entryOf[other] < first) {
          entryOf[other] = to.push(other) - 1
          weight.push(0)
        }
        weight[entryOf[other]] += amounts.weight[e]
      }
    start[node + 1] = to.length
  }
  return { start, to: Int32Array.from(to), weight: Float64Array.from(weight) }
}
