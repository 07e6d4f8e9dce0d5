import type { PlacedGraph } from './placed-graph.js'
import type { Problem } from './problem.js'

/** A graph of several, and how often it is exchanged. */
interface TimedProblem {
  readonly problem: Problem
  readonly times: number
}

/**
 * Makes the problem of several graphs on the same ranks. Their costs add up, each multiplied by the number of times
 * that its graph is exchanged.
 *
 * @param joined of all their edges; it knows neighbors, and makes mappings to begin with
 */
export function summedProblem(parts: readonly TimedProblem[], joined: Problem): Problem {
  const heat = parts.reduce((sum, { problem, times }) => sum + times * problem.temperature, 0)
  return {
    ...joined,
    temperature: heat / parts.length,
    place: (nodeOf) =>
      new PlacedSum(parts.map(({ problem, times }) => ({ placed: problem.place(nodeOf.slice()), times }))),
    renumbered: (order) =>
      summedProblem(
        parts.map(({ problem, times }) => ({ problem: problem.renumbered(order), times })),
        joined.renumbered(order),
      ),
  }
}

interface TimedGraph {
  readonly placed: PlacedGraph
  readonly times: number
}

class PlacedSum implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly #parts: readonly TimedGraph[]

  /** @param parts one or more, all on the same nodes */
  constructor(parts: readonly TimedGraph[]) {
    this.#parts = parts
    this.nodeOf = parts[0].placed.nodeOf
  }

  get cost(): number {
    let cost = 0
    for (const { placed, times } of this.#parts) cost += times * placed.cost
    return cost
  }

  gain(vertex: number, node: number): number {
    let gain = 0
    for (const { placed, times } of this.#parts) gain += times * placed.gain(vertex, node)
    return gain
  }

  visits(vertex: number): number {
    let visits = 0
    for (const { placed } of this.#parts) visits += placed.visits(vertex)
    return visits
  }

  move(vertex: number, node: number): void {
    for (const { placed } of this.#parts) placed.move(vertex, node)
  }
}
