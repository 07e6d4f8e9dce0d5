import { bisect } from './bisection.js'
import type { PlacingFacts } from './problem.js'
import { inducedGraph, type WeightedGraph } from './weighted-graph.js'

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
