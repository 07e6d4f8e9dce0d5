import { indexIn } from '../../base/search.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import type { Route } from './strategy-kind.js'

/**
 * Returns a route that is given edge by edge: `ways[h][e]` holds the block after hop h on its way along edge e. After
 * the last hop the destination holds it.
 *
 * @param out the distinct destinations of every rank
 */
export function routeByEdges(out: NeighborSets, ways: readonly Int32Array[]): Route {
  return {
    hops: ways.length + 1,
    hop(h, source, destination) {
      if (h >= ways.length) return destination
      return ways[h][edgeOf(out, source, destination)]
    },
  }
}

/** Returns the position of a destination of a rank. */
export function edgeOf({ start, rank }: NeighborSets, source: number, destination: number): number {
  const first = start[source]
  return first + indexIn(rank.subarray(first, start[source + 1]), destination)
}

/** Visits every edge that a group serves, in the order of the groups, with the friend that serves it. */
export function serveEdges(
  { k, count, members, step, commonStart, common, holder }: FriendGroups,
  out: NeighborSets,
  serve: (edge: number, holder: number, step: number) => void,
): void {
  for (let group = 0; group < count; group++) {
    for (let c = commonStart[group]; c < commonStart[group + 1]; c++) {
      const serving = members[group * k + holder[c]]
      for (let i = 0; i < k; i++) serve(edgeOf(out, members[group * k + i], common[c]), serving, step[group])
    }
  }
}

/** For every rank its positions in a list, ascending, as compressed rows. */
export interface Occurrences {
  /** Length `ranks + 1`. */
  readonly start: Int32Array
  readonly position: Int32Array
}

export function occurrencesOf(list: Int32Array, ranks: number): Occurrences {
  const start = rowStarts(ranks, list)
  return { start, position: entriesByRow(start, list) }
}

/** Returns the row of every entry of compressed rows. */
export function rowOfEntries(start: Int32Array): Int32Array {
  const row = new Int32Array(start[start.length - 1])
  for (let r = 0; r + 1 < start.length; r++) row.fill(r, start[r], start[r + 1])
  return row
}
