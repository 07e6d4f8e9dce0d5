import { drawnPermutation } from '../../base/random.js'
import { breadthFirst, coarsened, inducedGraph, type WeightedGraph } from './weighted-graph.js'

/** A graph of at most so many vertices is divided directly. */
const coarsest = 80
/** The number of divisions of the coarsest graph that are tried. */
const attempts = 8
/** The most passes of refinement on each level; they end as soon as one gains nothing. */
const mostPasses = 6

/**
 * Divides a graph in two parts of given sizes with few edges between them: it coarsens the graph, divides the coarsest
 * one, and refines the division on each finer graph (Karypis and Kumar 1998; Fiduccia and Mattheyses 1982).
 *
 * The pull on vertices counts in addition to the edges between the parts.
 *
 * @param wanted size of part 0; part 1 has the others. Exact if all vertices have size 1
 * @param next draws of mulberry32
 * @returns the part of every vertex, 0 or 1
 */
export function bisect(graph: WeightedGraph, wanted: number, next: () => number): Uint8Array {
  const vertices = graph.size.length
  const total = graph.size.reduce((sum, size) => sum + size, 0)
  if (vertices > coarsest) {
    const largest = Math.max(1, Math.ceil(total / coarsest) * 2)
    const coarser = coarsened(graph, nearlyInOrder(vertices, next), largest)
    if (coarser.graph.size.length < vertices * 0.95) {
      const above = bisect(coarser.graph, wanted, next)
      const part = new Uint8Array(vertices)
      for (let v = 0; v < vertices; v++) part[v] = above[coarser.coarseOf[v]]
      new Refinement(graph, part, wanted).run(mostPasses)
      return part
    }
  }
  let best: Refinement | undefined
  for (let attempt = 0; attempt < attempts; attempt++) {
    const isPulled = graph.pull !== null && attempt % 2 === 1
    const refined = new Refinement(graph, grown(graph, wanted, next, isPulled), wanted)
    refined.run(mostPasses)
    if (best === undefined || refined.badness < best.badness) best = refined
  }
  return best!.part
}

/** Returns a division in the same two sizes that costs less, or as much, by moves of single vertices. */
export function refinedBisection(graph: WeightedGraph, part: Uint8Array, wanted: number): Uint8Array {
  const refined = new Refinement(graph, part.slice(), wanted)
  refined.run(mostPasses)
  return refined.part
}

/** Orders vertices at random, but not far from their places: neighboring numbers are near in memory. */
function nearlyInOrder(vertices: number, next: () => number): Int32Array {
  const order = new Int32Array(vertices)
  for (let first = 0; first < vertices; first += orderWindow) {
    const drawn = drawnPermutation(next, Math.min(orderWindow, vertices - first))
    for (let i = 0; i < drawn.length; i++) order[first + i] = first + drawn[i]
  }
  return order
}

const orderWindow = 1024

/**
 * Grows part 0 from a vertex by those nearest to it, breadth first. The first vertex is any, or the one that is pulled
 * most.
 */
function grown(graph: WeightedGraph, wanted: number, next: () => number, isPulled: boolean): Uint8Array {
  const { start, to, size } = graph
  const part = new Uint8Array(size.length).fill(1)
  const drawn = drawnPermutation(next, size.length)
  const order = isPulled ? byPull(graph, drawn) : drawn
  const queue: number[] = []
  let [taken, head, fresh] = [0, 0, 0]
  while (taken < wanted) {
    if (head === queue.length) {
      while (fresh < order.length && part[order[fresh]] === 0) fresh++
      if (fresh === order.length) break
      part[order[fresh]] = 0
      queue.push(order[fresh])
    }
    const v = queue[head++]
    taken += size[v]
    if (taken >= wanted) break
    for (let e = start[v]; e < start[v + 1]; e++) {
      if (part[to[e]] === 0) continue
      part[to[e]] = 0
      queue.push(to[e])
    }
  }
  for (; head < queue.length; head++) part[queue[head]] = 1
  return part
}

/** Orders vertices by the pull of part 0, the strongest first; equal ones stay as they were drawn. */
function byPull({ pull }: WeightedGraph, drawn: Int32Array): Int32Array {
  return pull === null ? drawn : Int32Array.from([...drawn].sort((a, b) => pull[b] - pull[a]))
}

/** Moves single vertices between two parts, best gain first, and returns to the best division it met. */
class Refinement {
  readonly part: Uint8Array
  readonly #graph: WeightedGraph
  readonly #wanted: number
  /** The most by which the size of part 0 may differ from the wanted one. */
  readonly #tolerance: number
  readonly #gain: Int32Array
  /** Entry 1 marks a vertex that this pass has moved; a pass moves each once. */
  readonly #moved: Uint8Array
  /**
   * The vertices of each part by gain. Only those at the boundary are queued, unless the graph is small or sizes are
   * not right yet.
   */
  readonly #queues: readonly GainQueue[]
  #size0 = 0
  #cut = 0

  constructor(graph: WeightedGraph, part: Uint8Array, wanted: number) {
    this.#graph = graph
    this.part = part
    this.#wanted = wanted
    const largest = graph.size.reduce((most, size) => Math.max(most, size), 1)
    this.#tolerance = largest === 1 ? 0 : largest
    this.#gain = new Int32Array(part.length)
    this.#moved = new Uint8Array(part.length)
    this.#queues = [new GainQueue(part.length), new GainQueue(part.length)]
  }

  /**
   * The cost of the division: edges between the parts and the pull on vertices of part 1. Missing sizes weigh more than
   * all of those.
   */
  get badness(): number {
    const excess = Math.max(0, Math.abs(this.#size0 - this.#wanted) - this.#tolerance)
    return this.#cut + excess * 2 ** 31
  }

  run(passes: number): void {
    this.#count()
    for (let pass = 0; pass < passes; pass++) {
      const before = this.badness
      this.#pass()
      if (this.badness >= before) break
    }
  }

  #count(): void {
    const { start, to, weight, size, pull } = this.#graph
    const { part } = this
    let [double, pulled] = [0, 0]
    this.#size0 = 0
    for (let v = 0; v < size.length; v++) {
      const side = part[v]
      let [inside, outside] = [0, 0]
      for (let e = start[v]; e < start[v + 1]; e++)
        if (part[to[e]] === side) inside += weight[e]
        else outside += weight[e]
      const pullOut = pull === null ? 0 : side === 0 ? -pull[v] : pull[v]
      this.#gain[v] = outside - inside + pullOut
      double += outside
      if (side === 1) pulled += pullOut
      if (side === 0) this.#size0 += size[v]
    }
    this.#cut = double / 2 + pulled
  }

  #pass(): void {
    const { size } = this.#graph
    const slack = Math.max(1, this.#tolerance)
    const isBalanced = Math.abs(this.#size0 - this.#wanted) < slack
    for (let v = 0; v < size.length; v++)
      if (!isBalanced || size.length <= coarsest || this.#isAtBoundary(v)) this.#queue(v)
    const moved: number[] = []
    let [best, bestAt] = [this.badness, 0]
    const patience = 50 + Math.floor(size.length / 50)
    while (moved.length - bestAt < patience) {
      const v = this.#next()
      if (v < 0) break
      this.#moved[v] = 1
      this.#flip(v, true)
      moved.push(v)
      if (this.badness < best) {
        best = this.badness
        bestAt = moved.length
      }
    }
    for (const queue of this.#queues) queue.clear()
    for (const v of moved) this.#moved[v] = 0
    while (moved.length > bestAt) this.#flip(moved.pop()!, false)
  }

  #isAtBoundary(v: number): boolean {
    const { start, to } = this.#graph
    const side = this.part[v]
    for (let e = start[v]; e < start[v + 1]; e++) if (this.part[to[e]] !== side) return true
    return this.#gain[v] > 0
  }

  #queue(v: number): void {
    this.#queues[this.part[v]].set(v, this.#gain[v])
  }

  /**
   * Returns the vertex to move next: from the part that is too large, else the one of most gain. Returns -1 if none is
   * left.
   */
  #next(): number {
    const over = this.#size0 - this.#wanted
    const [from0, from1] = this.#queues
    const slack = Math.max(1, this.#tolerance)
    if (over >= slack) return from0.pop()
    if (over <= -slack) return from1.pop()
    const [a, b] = [from0.bestGain, from1.bestGain]
    return a === b ? (over >= 0 ? from0 : from1).pop() : (a > b ? from0 : from1).pop()
  }

  /** @param queued whether its neighbors, which are then at the boundary, are queued for a move in turn */
  #flip(v: number, queued: boolean): void {
    const { start, to, weight, size } = this.#graph
    const side = this.part[v]
    this.#cut -= this.#gain[v]
    this.#size0 += side === 0 ? -size[v] : size[v]
    this.part[v] = 1 - side
    this.#gain[v] = -this.#gain[v]
    for (let e = start[v]; e < start[v + 1]; e++) {
      const u = to[e]
      this.#gain[u] += this.part[u] === side ? 2 * weight[e] : -2 * weight[e]
      if (queued && this.#moved[u] === 0) this.#queue(u)
    }
  }
}

/** A heap of vertices by gain, largest first; of equal ones the one with the smallest number. */
class GainQueue {
  readonly #heap: Int32Array
  /** The place of every vertex in the heap; -1 for one that is not in it. */
  readonly #at: Int32Array
  readonly #key: Int32Array
  #length = 0

  constructor(vertices: number) {
    this.#heap = new Int32Array(vertices)
    this.#at = new Int32Array(vertices).fill(-1)
    this.#key = new Int32Array(vertices)
  }

  /** The largest gain; minus infinity of an empty queue. */
  get bestGain(): number {
    return this.#length === 0 ? Number.NEGATIVE_INFINITY : this.#key[this.#heap[0]]
  }

  /** Queues a vertex, or changes its gain. */
  set(v: number, gain: number): void {
    let at = this.#at[v]
    if (at < 0) {
      at = this.#length++
      this.#key[v] = gain
      this.#heap[at] = v
      this.#up(at)
      return
    }
    const rises = gain > this.#key[v]
    this.#key[v] = gain
    if (rises) this.#up(at)
    else this.#down(at)
  }

  /** Removes and returns the vertex of largest gain; -1 of an empty queue. */
  pop(): number {
    if (this.#length === 0) return -1
    const top = this.#heap[0]
    this.#at[top] = -1
    const last = this.#heap[--this.#length]
    if (this.#length > 0) {
      this.#heap[0] = last
      this.#at[last] = 0
      this.#down(0)
    }
    return top
  }

  clear(): void {
    for (let i = 0; i < this.#length; i++) this.#at[this.#heap[i]] = -1
    this.#length = 0
  }

  #isBefore(a: number, b: number): boolean {
    return this.#key[a] > this.#key[b] || (this.#key[a] === this.#key[b] && a < b)
  }

  #up(from: number): void {
    const v = this.#heap[from]
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(v, this.#heap[parent])) break
      this.#heap[at] = this.#heap[parent]
      this.#at[this.#heap[at]] = at
      at = parent
    }
    this.#heap[at] = v
    this.#at[v] = at
  }

  #down(from: number): void {
    const v = this.#heap[from]
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#length) break
      if (child + 1 < this.#length && this.#isBefore(this.#heap[child + 1], this.#heap[child])) child++
      if (!this.#isBefore(this.#heap[child], v)) break
      this.#heap[at] = this.#heap[child]
      this.#at[this.#heap[at]] = at
      at = child
    }
    this.#heap[at] = v
    this.#at[v] = at
  }
}

/**
 * Divides vertices among nodes by halving: the nodes in two runs, the vertices in two parts of their capacities, and so
 * on in each half. Neighboring nodes get parts that were one part, so nodes that are near in number are near in the
 * graph.
 *
 * @param capacities of every node; their sum is the number of vertices
 * @returns the node of every vertex
 */
export function byRecursiveBisection(
  graph: WeightedGraph,
  capacities: Int32Array,
  next: () => number,
): Int32Array {
  const nodeOf = new Int32Array(graph.size.length)
  const scratch = new Int32Array(graph.size.length).fill(-1)
  const before = new Int32Array(capacities.length + 1)
  for (let node = 0; node < capacities.length; node++) before[node + 1] = before[node] + capacities[node]
  const divide = (vertices: Int32Array, first: number, end: number) => {
    if (vertices.length === 0) return
    if (end - first === 1) {
      for (const v of vertices) nodeOf[v] = first
      return
    }
    const middle = (first + end) >> 1
    const part = bisect(inducedGraph(graph, vertices, scratch), before[middle] - before[first], next)
    divide(
      vertices.filter((_, i) => part[i] === 0),
      first,
      middle,
    )
    divide(
      vertices.filter((_, i) => part[i] === 1),
      middle,
      end,
    )
  }
  divide(breadthFirst(graph), 0, capacities.length)
  return nodeOf
}
