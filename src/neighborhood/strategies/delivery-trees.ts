import { GrowingInt32Array } from '../../base/growing-array.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import { remainder, sortNumbers } from './moves-by-message.js'
import type { Route } from './strategy-kind.js'

/**
 * Moves of blocks between ranks. The moves of a block form a tree from its source: a rank gets a block at most once, in
 * the first hop in which it is on a way. It does so only if it is a destination or passes the block on. Moves are
 * ordered by block, then as the block moves. Columns of equal length.
 */
export interface Moves {
  readonly block: Int32Array
  readonly hop: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
  /** The move that brought the block to `from`; -1 if that is the source. */
  readonly before: Int32Array
}

/**
 * Computes the moves of all blocks to the destinations of their sources, by a route. Time: destinations times hops;
 * memory: 20 bytes per move.
 *
 * @param destinations distinct, without the source itself
 */
export function deliveryTrees(route: Route, destinations: NeighborSets, ranks: number): Moves {
  const { hops } = route
  const [blocks, hopOf, froms, tos, befores] = columns(5)
  /**
   * For the entered source, the hop in which a rank gets its block and the sender, valid if `seenBy` names the source.
   */
  const seenBy = new Int32Array(ranks).fill(-1)
  const arrival = new Int32Array(ranks)
  const parent = new Int32Array(ranks)
  const isNeededBy = new Int32Array(ranks).fill(-1)
  /** The ranks that need the block, as `arrival * ranks + rank`, sorted by the order in which it reaches them. */
  let needed = new Float64Array(64)
  let at = new Int32Array(64)
  const moveTo = new Int32Array(ranks)

  for (let source = 0; source < ranks; source++) {
    const [from, to] = [destinations.start[source], destinations.start[source + 1]]
    if (from === to) continue
    if (at.length < to - from) at = new Int32Array(2 * (to - from))
    at.fill(source, 0, to - from)
    seenBy[source] = source
    for (let h = 0; h < hops; h++) {
      for (let d = from; d < to; d++) {
        const next = route.hop(h, source, destinations.rank[d])
        if (seenBy[next] !== source) {
          seenBy[next] = source
          arrival[next] = h
          parent[next] = at[d - from]
        }
        at[d - from] = next
      }
    }
    let count = 0
    isNeededBy[source] = source
    for (let d = from; d < to; d++) {
      for (let rank = destinations.rank[d]; isNeededBy[rank] !== source; rank = parent[rank]) {
        isNeededBy[rank] = source
        if (count === needed.length) {
          const grown = new Float64Array(2 * count)
          grown.set(needed)
          needed = grown
        }
        needed[count++] = arrival[rank] * ranks + rank
      }
    }
    sortNumbers(needed, count)
    moveTo[source] = -1
    for (let i = 0; i < count; i++) {
      const rank = remainder(needed[i], ranks)
      moveTo[rank] = blocks.length
      blocks.push(source)
      hopOf.push(arrival[rank])
      froms.push(parent[rank])
      tos.push(rank)
      befores.push(moveTo[parent[rank]])
    }
  }
  return {
    block: blocks.view(),
    hop: hopOf.view(),
    from: froms.view(),
    to: tos.view(),
    before: befores.view(),
  }
}

function columns(count: number): GrowingInt32Array[] {
  return Array.from({ length: count }, () => new GrowingInt32Array(1024))
}
