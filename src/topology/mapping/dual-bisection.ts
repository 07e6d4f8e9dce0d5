import { bisect, refinedBisection } from './bisection.js'
import type { PlacingFacts } from './problem.js'
import { breadthFirst, inducedGraph, type WeightedGraph } from './weighted-graph.js'

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
const samples = 8
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
    const [countA, countB] = [Math.min(samples, lengthA), Math.min(samples, lengthB)]
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
