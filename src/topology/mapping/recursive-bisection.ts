import { bisect } from './bisection.js'
import { breadthFirst, inducedGraph, type WeightedGraph } from './weighted-graph.js'

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
