import { firstNotBelow } from '../base/search.js'
import type { CompressedRows } from '../topology/compressed-rows.js'

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

export const mostNeighbors = 1000
export const mostAmong = 5000

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
