/**
 * Puts the vertices of a grid on nodes by halving the longest side, again and again: into boxes of a node's capacity if
 * the sides divide evenly, else into boxes with a step.
 *
 * @param dims extents; vertices are row-major, the last dimension fastest
 * @param capacities of every node; their sum is the number of vertices
 * @returns the node of every vertex
 */
export function byHalvedBoxes(dims: readonly number[], capacities: Int32Array): Int32Array {
  const vertices = dims.reduce((product, extent) => product * extent, 1)
  const nodeOf = new Int32Array(vertices)
  const coordinates = dims.map((_, d) => coordinateOf(dims, d))
  const before = new Int32Array(capacities.length + 1)
  for (let node = 0; node < capacities.length; node++) before[node + 1] = before[node] + capacities[node]
  const divide = (part: Int32Array, first: number, end: number) => {
    if (end - first === 1) {
      for (const v of part) nodeOf[v] = first
      return
    }
    const side = longestSide(part, coordinates)
    const along = coordinates[side]
    // Ties are broken by the other coordinates, which the number of a vertex orders.
    const ordered = part.toSorted((a, b) => along(a) - along(b) || a - b)
    const middle = (first + end) >> 1
    const size = before[middle] - before[first]
    divide(ordered.subarray(0, size), first, middle)
    divide(ordered.subarray(size), middle, end)
  }
  divide(Int32Array.from(nodeOf.keys()), 0, capacities.length)
  return nodeOf
}

/**
 * Divides a grid into equal boxes of the given sides, row-major.
 *
 * @returns the box of every vertex
 */
export function byEqualBoxes(dims: readonly number[], sides: readonly number[]): Int32Array {
  const coordinates = dims.map((_, d) => coordinateOf(dims, d))
  const vertices = dims.reduce((product, extent) => product * extent, 1)
  return Int32Array.from({ length: vertices }, (_, v) =>
    dims.reduce((box, extent, d) => box * (extent / sides[d]) + Math.floor(coordinates[d](v) / sides[d]), 0),
  )
}

/** Lists the ways to divide a grid into equal boxes of so many vertices: the sides of a box, at most 1,000 ways. */
export function boxesOf(dims: readonly number[], vertices: number): number[][] {
  const [extent, ...others] = dims
  if (extent === undefined) return vertices === 1 ? [[]] : []
  const ways: number[][] = []
  for (let side = 1; side <= Math.min(extent, vertices) && ways.length < mostWays; side++) {
    if (extent % side !== 0 || vertices % side !== 0) continue
    for (const rest of boxesOf(others, vertices / side)) ways.push([side, ...rest])
  }
  return ways.slice(0, mostWays)
}

const mostWays = 1000

function coordinateOf(dims: readonly number[], d: number): (vertex: number) => number {
  const step = dims.slice(d + 1).reduce((product, extent) => product * extent, 1)
  return (vertex) => Math.floor(vertex / step) % dims[d]
}

function longestSide(part: Int32Array, coordinates: readonly ((vertex: number) => number)[]): number {
  let [longest, side] = [-1, 0]
  for (const [d, at] of coordinates.entries()) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const v of part) {
      low = Math.min(low, at(v))
      high = Math.max(high, at(v))
    }
    if (high - low > longest) {
      longest = high - low
      side = d
    }
  }
  return side
}
