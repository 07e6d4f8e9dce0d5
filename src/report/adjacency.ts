import type { CompressedRows } from '../topology/compressed-rows.js'

/**
 * The destinations of all ranks, ascending, each once. A row lists its first destination, then differences, which are
 * short in decimal.
 */
export interface AdjacencyView {
  readonly degree: readonly number[]
  readonly step: readonly number[]
}

/** The most edges that {@link adjacencyView} lists. As JSON they take 0.5 MB for most topologies and 2 MB at most. */
export const mostEdges = 350_000

/** Lists the destinations of all ranks; null beyond {@link mostEdges}. */
export function adjacencyView({ start, rank }: CompressedRows): AdjacencyView | null {
  if (rank.length > mostEdges || start.length > mostEdges) return null
  const ranks = start.length - 1
  const degree = Array.from({ length: ranks }, (_, p) => start[p + 1] - start[p])
  const step = Array.from(rank)
  for (let p = 0; p < ranks; p++) for (let e = start[p + 1] - 1; e > start[p]; e--) step[e] -= step[e - 1]
  return { degree, step }
}

/** Returns the rows that an adjacency view encodes. */
export function rowsOf({ degree, step }: AdjacencyView): CompressedRows {
  const start = new Int32Array(degree.length + 1)
  const rank = Int32Array.from(step)
  for (let p = 0; p < degree.length; p++) {
    start[p + 1] = start[p] + degree[p]
    for (let e = start[p] + 1; e < start[p + 1]; e++) rank[e] += rank[e - 1]
  }
  return { start, rank }
}
