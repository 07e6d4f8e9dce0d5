import { indexIn } from '../../base/search.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import type { Route } from './route.js'

/**
 * A route that is given edge by edge: where the block is after hop h on its way along edge e, `ways[h][e]`;
 * after the last hop it is at its destination.
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

/** The position of a destination of a rank. */
export function edgeOf({ start, rank }: NeighborSets, source: number, destination: number): number {
  const first = start[source]
  return first + indexIn(rank.subarray(first, start[source + 1]), destination)
}
