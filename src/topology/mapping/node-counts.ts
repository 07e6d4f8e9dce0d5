/**
 * Counts for every vertex how many of its destinations are on each node. Each vertex has a small hash table for at most
 * as many nodes as it has destinations. Nodes without a destination take no place.
 *
 * Memory: 16 to 32 bytes a destination; tables are at most half full.
 */
export class NodeCounts {
  /** The first place of every vertex's table. Length: vertices + 1; sizes are powers of two. */
  readonly #start: Int32Array
  /** The node plus 1; 0 marks a free place. */
  readonly #node: Int32Array
  readonly #count: Int32Array
  /** The number of places in use of every vertex. */
  readonly #nodes: Int32Array

  /** @param start of the destinations of every vertex, as in compressed rows */
  constructor(start: Int32Array) {
    const vertices = start.length - 1
    this.#start = new Int32Array(vertices + 1)
    for (let v = 0; v < vertices; v++) this.#start[v + 1] = this.#start[v] + places(start[v + 1] - start[v])
    this.#node = new Int32Array(this.#start[vertices])
    this.#count = new Int32Array(this.#start[vertices])
    this.#nodes = new Int32Array(vertices)
  }

  /** Returns the number of nodes on which a vertex has destinations. */
  nodes(v: number): number {
    return this.#nodes[v]
  }

  /** Returns the number of destinations that a vertex has on a node. */
  count(v: number, node: number): number {
    const at = this.#find(v, node)
    return this.#node[at] === 0 ? 0 : this.#count[at]
  }

  add(v: number, node: number): void {
    const at = this.#find(v, node)
    if (this.#node[at] === 0) {
      this.#node[at] = node + 1
      this.#count[at] = 0
      this.#nodes[v]++
    }
    this.#count[at]++
  }

  /** Removes one destination, which must exist. */
  remove(v: number, node: number): void {
    const at = this.#find(v, node)
    if (--this.#count[at] === 0) {
      this.#nodes[v]--
      this.#free(v, at)
    }
  }

  /** Returns the place of a node, or the free one where it would be. */
  #find(v: number, node: number): number {
    const first = this.#start[v]
    const mask = this.#start[v + 1] - first - 1
    let at = hash(node) & mask
    while (this.#node[first + at] !== node + 1 && this.#node[first + at] !== 0) at = (at + 1) & mask
    return first + at
  }

  /** Frees a place, and moves back those that were displaced by it. */
  #free(v: number, place: number): void {
    const first = this.#start[v]
    const mask = this.#start[v + 1] - first - 1
    let hole = place - first
    for (let at = (hole + 1) & mask; this.#node[first + at] !== 0; at = (at + 1) & mask) {
      const home = hash(this.#node[first + at] - 1) & mask
      // The entry stays if its home lies behind the hole.
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      this.#node[first + hole] = this.#node[first + at]
      this.#count[first + hole] = this.#count[first + at]
      hole = at
    }
    this.#node[first + hole] = 0
  }
}

function hash(node: number): number {
  const mixed = Math.imul(node, 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}

/** Returns at least twice as many places as destinations, so that a probe ends at a free place. */
function places(destinations: number): number {
  return destinations === 0 ? 1 : 2 << (31 - Math.clz32(2 * destinations - 1))
}
