import { below } from '../../base/random.js'
import { inversePermutation, meanOf } from '../../base/search.js'
import { entriesByRow, permuteRows, rowStarts } from '../compressed-rows.js'
import { distinctIn, distinctOut, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { bisect, byRecursiveBisection, refinedBisection } from './bisection.js'
import {
  type ExchangedAmounts,
  PlacedBusiest,
  PlacedDistances,
  PlacedPairs,
  uniformDistance,
} from './placed-graph.js'
import type { MappingObjective } from './problem.js'
import { type PlacingFacts, type Problem, refined } from './problem.js'
import {
  breadthFirst,
  exchangedAmounts,
  exchangeGraph,
  inducedGraph,
  integerAmounts,
  type WeightedGraph,
} from './weighted-graph.js'

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

/** Nodes in an order in which halves of runs are near each other, see {@link nearOrder}. */
interface NearNodes extends Pick<PlacingFacts, 'capacities' | 'distance'> {
  readonly order: Int32Array
}

/** Places of nodes in their order. */
interface Run {
  readonly first: number
  readonly end: number
}

/** Vertices that are to be on a run of nodes. */
interface Placed extends Run {
  /** The number of this run among all that are made. */
  readonly id: number
  readonly vertices: Int32Array
}

/** The contents of one run, divided between its halves. */
interface Halved {
  readonly graph: WeightedGraph
  readonly vertices: Int32Array
  readonly part: Uint8Array
  readonly halves: readonly [Placed, Placed]
}

/** Nodes of a run by which its distance to another one is measured. */
const distanceSamples = 8
/** Weights are multiplied by this unless they are large: the pull of a vertex is a whole number. */
const finest = 16
const mostWeight = 2 ** 27
/** An edge to another run pulls a vertex at most so many times as much as an edge of its own run. */
const strongest = 16

/**
 * Divides vertices among nodes by halving both: the run of nodes, and the vertices on it in two parts of their
 * capacities. All runs of one length are halved before those of half that length. A vertex is pulled towards the half
 * that is nearer to its neighbors on other runs. When all runs of a length are halved, each division is refined again
 * with the places of all others known.
 *
 * @returns the node of every vertex
 * @see Pellegrini and Roman 1996, Scotch: dual recursive bipartitioning; Dunlop and Kernighan 1985, terminal
 *   propagation
 */
export function byDualBisection(
  graph: WeightedGraph,
  { capacities, distance, order }: NearNodes,
  next: () => number,
): Int32Array {
  const before = new Int32Array(order.length + 1)
  for (const [place, node] of order.entries()) before[place + 1] = before[place] + capacities[node]
  const scale = scaleOf(graph)
  const scratch = new Int32Array(graph.size.length).fill(-1)
  const runs: Run[] = []
  const runOf = new Int32Array(graph.size.length)
  const placed = (vertices: Int32Array, { first, end }: Run): Placed => {
    const id = runs.push({ first, end }) - 1
    for (const v of vertices) runOf[v] = id
    return { id, first, end, vertices }
  }
  const terminals = new Terminals(graph, { runs, runOf, scale, farBetween: meanDistances(order, distance) })
  const halve = (whole: Placed): Halved => {
    const { vertices, first, end, id } = whole
    const middle = (first + end) >> 1
    const [low, high] = [
      { first, end: middle },
      { first: middle, end },
    ]
    const own = scaled(inducedGraph(graph, vertices, scratch), scale)
    const pull = terminals.pulls(vertices, [id, id], [low, high])
    const part = bisect({ ...own, pull }, before[middle] - before[first], next)
    const members = (side: number) => vertices.filter((_, i) => part[i] === side)
    return { graph: own, vertices, part, halves: [placed(members(0), low), placed(members(1), high)] }
  }
  const refine = ({ graph: own, vertices, part, halves }: Halved): readonly Placed[] => {
    const [low, high] = halves
    const pull = terminals.pulls(vertices, [low.id, high.id], halves)
    const better = refinedBisection({ ...own, pull }, part, low.vertices.length)
    for (const [i, v] of vertices.entries()) runOf[v] = halves[better[i]].id
    return halves.map((half, side) => ({ ...half, vertices: vertices.filter((_, i) => better[i] === side) }))
  }
  let level = [placed(breadthFirst(graph), { first: 0, end: order.length })]
  while (level.length > 0) {
    const halved = level.filter(({ first, end }) => end - first > 1).map(halve)
    level = halved.flatMap(refine)
  }
  return runOf.map((id) => order[runs[id].first])
}

/** Returns the factor by which all weights are multiplied. */
function scaleOf({ weight }: WeightedGraph): number {
  let together = 0
  for (const each of weight) together += each
  return Math.max(1, Math.min(finest, Math.floor(mostWeight / (1 + together))))
}

function scaled(graph: WeightedGraph, scale: number): WeightedGraph {
  return { ...graph, weight: graph.weight.map((each) => scale * each) }
}

interface Surroundings {
  /** The run of every id. */
  readonly runs: readonly Run[]
  /** The id of the run that every vertex is on so far. */
  readonly runOf: Int32Array
  readonly scale: number
  readonly farBetween: (a: Run, b: Run) => number
}

/** Computes how edges that leave a run pull the vertices on it to either half. */
class Terminals {
  readonly #graph: WeightedGraph
  readonly #around: Surroundings
  /**
   * By the id of another run, the difference of its distances to the two halves. `#askedFor` has the question for which
   * it was computed.
   */
  readonly #nearer: number[] = []
  readonly #askedFor: number[] = []
  #question = 0

  constructor(graph: WeightedGraph, around: Surroundings) {
    this.#graph = graph
    this.#around = around
  }

  /**
   * Computes how much more each vertex costs on the second half, not counting edges between the halves.
   *
   * @param ids where the vertices are now: edges between them do not count
   */
  pulls(vertices: Int32Array, ids: readonly [number, number], halves: readonly [Run, Run]): Int32Array {
    const { start, to, weight } = this.#graph
    const { runOf, scale } = this.#around
    const nearerTo = this.#nearerHalf(halves)
    const [low, high] = ids
    return vertices.map((v) => {
      let pull = 0
      for (let e = start[v]; e < start[v + 1]; e++) {
        const id = runOf[to[e]]
        if (id !== low && id !== high) pull += weight[e] * nearerTo(id)
      }
      return Math.round(scale * pull)
    })
  }

  /**
   * Computes by how much another run is nearer to the first half than to the second. The unit is the cost of an edge
   * between both halves.
   */
  #nearerHalf([low, high]: readonly [Run, Run]): (id: number) => number {
    const { runs, farBetween } = this.#around
    const question = ++this.#question
    const apart = farBetween(low, high)
    const within = (farBetween(low, low) + farBetween(high, high)) / 2
    const unit = Math.max(apart - within, apart / 4)
    return (id) => {
      if (this.#askedFor[id] === question) return this.#nearer[id]
      this.#askedFor[id] = question
      const nearer = unit > 0 ? (farBetween(high, runs[id]) - farBetween(low, runs[id])) / unit : 0
      this.#nearer[id] = Math.max(-strongest, Math.min(strongest, nearer))
      return this.#nearer[id]
    }
  }
}

/** Returns a function that estimates the mean distance between nodes of two runs by samples of each. */
function meanDistances(order: Int32Array, distance: PlacingFacts['distance']): (a: Run, b: Run) => number {
  return (a, b) => {
    const [lengthA, lengthB] = [a.end - a.first, b.end - b.first]
    const [countA, countB] = [Math.min(distanceSamples, lengthA), Math.min(distanceSamples, lengthB)]
    let sum = 0
    // The second run is sampled at other nodes, since it may be the same run.
    for (let i = 0; i < countA; i++) {
      const node = order[a.first + Math.floor(((i + 0.25) * lengthA) / countA)]
      for (let j = 0; j < countB; j++)
        sum += distance(node, order[b.first + Math.floor(((j + 0.75) * lengthB) / countB)])
    }
    return sum / (countA * countB)
  }
}

/** Larger runs of nodes are halved by their numbers, because links take the distance of every pair. */
const mostLinked = 1024
/**
 * The weight of a link between nearest nodes. Each further step divides it by eight, so that the third step has no
 * link.
 */
const heaviest = 64
const decay = 8

/**
 * Orders nodes with slots such that each half of a run, and each half of that, has nodes that are near each other. All
 * runs of one length are bisected such that few near nodes are parted, then those of half that length.
 *
 * Time: at most 1,024 distances for every node.
 *
 * @returns null if all nodes are equally far from each other
 */
export function nearOrder(
  { capacities, distance }: Pick<PlacingFacts, 'capacities' | 'distance'>,
  next: () => number,
): Int32Array | null {
  const order = Int32Array.from(capacities.keys()).filter((node) => capacities[node] > 0)
  if (areEquallyFar(order, distance)) return null
  const divide = (first: number, end: number) => {
    const run = order.slice(first, end)
    if (run.length <= mostLinked) {
      order.set(
        halvedOrder(linksOf(run, distance), next).map((i) => run[i]),
        first,
      )
      return
    }
    const middle = (first + end) >> 1
    divide(first, middle)
    divide(middle, end)
  }
  divide(0, order.length)
  return order
}

/** Compares the distances of the first node and of the last one to all others. */
function areEquallyFar(nodes: Int32Array, distance: PlacingFacts['distance']): boolean {
  if (nodes.length < 3) return true
  const [first, last] = [nodes[0], nodes[nodes.length - 1]]
  const far = distance(first, last)
  return nodes.every(
    (node) =>
      (node === first || distance(first, node) === far) && (node === last || distance(node, last) === far),
  )
}

/**
 * Orders vertices by halving. A link to the first half of another run pulls a vertex to the first half, so that cuts
 * meet.
 */
function halvedOrder(links: WeightedGraph, next: () => number): Int32Array {
  const count = links.size.length
  const scratch = new Int32Array(count).fill(-1)
  /** The half of its run that each vertex is in: 1 for the first, -1 for the second, 0 while the run is whole. */
  let halfOf = new Int8Array(count)
  const halved = (run: Int32Array): readonly Int32Array[] => {
    if (run.length === 1) return [run]
    const pull = pullsOf(links, run, halfOf)
    const part = bisect({ ...inducedGraph(links, run, scratch), pull }, run.length >> 1, next)
    for (const [i, v] of run.entries()) halfOf[v] = part[i] === 0 ? 1 : -1
    return [0, 1].map((side) => run.filter((_, i) => part[i] === side))
  }
  let runs: readonly Int32Array[] = [Int32Array.from({ length: count }, (_, i) => i)]
  while (runs.length < count) {
    runs = runs.flatMap(halved)
    halfOf = new Int8Array(count)
  }
  return Int32Array.from(runs, ([v]) => v)
}

/**
 * Sums the links of vertices to other runs. Vertices of a run that is still whole have no half yet, and pull nothing.
 */
function pullsOf({ start, to, weight }: WeightedGraph, run: Int32Array, halfOf: Int8Array): Int32Array {
  return run.map((v) => {
    let pull = 0
    for (let e = start[v]; e < start[v + 1]; e++) pull += weight[e] * halfOf[to[e]]
    return pull
  })
}

/** Links nodes by how near they are. Vertex i is `nodes[i]`. */
function linksOf(nodes: Int32Array, distance: PlacingFacts['distance']): WeightedGraph {
  const count = nodes.length
  const far = new Float64Array(count * count)
  for (let a = 0; a < count; a++)
    for (let b = 0; b < a; b++) far[a * count + b] = far[b * count + a] = distance(nodes[a], nodes[b])
  const weightOf = linkWeights(far)
  const start = new Int32Array(count + 1)
  const to: number[] = []
  const weight: number[] = []
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) {
      const link = a === b ? undefined : weightOf.get(far[a * count + b])
      if (link === undefined) continue
      to.push(b)
      weight.push(link)
    }
    start[a + 1] = to.length
  }
  return {
    ...{ start, to: Int32Array.from(to), weight: Int32Array.from(weight) },
    ...{ size: new Int32Array(count).fill(1), pull: null },
  }
}

/**
 * Returns the weight of a link by its length. A length that is absent has no link. A step is the least distance above
 * 0, or from a length to the next longer one where that is less: lengths of 1, 3 and 5 are as 1, 2 and 3, and lengths
 * of 1.0 and 1.1 are nearly equal.
 */
function linkWeights(far: Float64Array): ReadonlyMap<number, number> {
  const lengths = [...new Set(far)].filter((length) => length > 0).sort((a, b) => a - b)
  const weights = lengths.map((length, longer) => {
    const steps = Math.min(longer, length / lengths[0] - 1)
    return [length, Math.round(heaviest * decay ** -steps)] as const
  })
  return new Map([[0, heaviest * decay], ...weights.filter(([, weight]) => weight > 0)])
}
