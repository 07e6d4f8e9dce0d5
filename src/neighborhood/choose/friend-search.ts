import type { NeighborSets } from '../../topology/neighbors.js'

/**
 * Pairs of ranks that a search for friends goes through at least, counted once for each destination that they
 * share: how much work a grouping is, whatever the computer. Time: edges.
 *
 * @param destinations distinct
 * @param nodeOf friends share a node; null: any ranks may be friends
 */
export function friendPairs({ start, rank }: NeighborSets, nodeOf: Int32Array | null): number {
  const ranks = start.length - 1
  const sources = Int32Array.from({ length: ranks }, (_, source) => source)
  if (nodeOf !== null) sources.sort((a, b) => nodeOf[a] - nodeOf[b] || a - b)
  /** Sources so far on the node that `seenOn` names, by destination. */
  const seen = new Int32Array(ranks)
  const seenOn = new Int32Array(ranks).fill(-1)
  let pairs = 0
  for (const source of sources) {
    const node = nodeOf === null ? 0 : nodeOf[source]
    for (let e = start[source]; e < start[source + 1]; e++) {
      const destination = rank[e]
      if (seenOn[destination] !== node) seen[destination] = 0
      seenOn[destination] = node
      pairs += seen[destination]++
    }
  }
  return pairs
}
