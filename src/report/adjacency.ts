import { firstNotBelow } from '../base/search.js'
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
const mostEdges = 350_000

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

/** A rank, its neighbors and the edges among them. */
export interface NeighborhoodView {
  readonly rank: number
  /** The ranks that `rank` sends to, ascending, each once. At most {@link mostNeighbors}. */
  readonly out: readonly number[]
  /** The ranks that send to `rank`, ascending, each once. At most {@link mostNeighbors}. */
  readonly in: readonly number[]
  /** The edges among the neighbors, as pairs; at most {@link mostAmong}. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Whether neighbors or edges among them were omitted. */
  readonly isCut: boolean
}

const mostNeighbors = 1000
const mostAmong = 5000

/**
 * @param rows the destinations of every rank, ascending, each once
 * @param rank below `rows.start.length - 1`
 */
export function neighborhoodView(rows: CompressedRows, rank: number): NeighborhoodView {
  const { start } = rows
  const ranks = start.length - 1
  const allOut = [...rows.rank.subarray(start[rank], start[rank + 1])]
  const allIn: number[] = []
  for (let p = 0; p < ranks; p++) if (hasEdge(rows, p, rank)) allIn.push(p)
  const out = allOut.slice(0, mostNeighbors)
  const into = allIn.slice(0, mostNeighbors)
  const near = new Set([...out, ...into])
  near.delete(rank)
  const from: number[] = []
  const to: number[] = []
  let isCut = out.length < allOut.length || into.length < allIn.length
  for (const p of near) {
    for (let e = start[p]; e < start[p + 1]; e++) {
      if (!near.has(rows.rank[e]) || rows.rank[e] === p) continue
      if (from.length === mostAmong) {
        isCut = true
        break
      }
      from.push(p)
      to.push(rows.rank[e])
    }
  }
  return { rank, out, in: into, from, to, isCut }
}

function hasEdge({ start, rank }: CompressedRows, from: number, to: number): boolean {
  const end = start[from + 1]
  const at = firstNotBelow(rank, to, start[from], end)
  return at < end && rank[at] === to
}
