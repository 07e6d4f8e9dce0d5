import { GrowingInt32Array } from '../../base/growing-array.js'
import { indexIn } from '../../base/search.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AdjacentEdges } from './gather-lists.js'

/** The ranks of a process, ascending, and what they passed, in the same order. */
export interface OwnLists {
  readonly localRanks: Int32Array
  readonly hosted: readonly AdjacentEdges[]
}

/**
 * Lists the ranks of a process, their neighbors and some others, ascending. Their places in the list become their
 * numbers.
 */
export function namedRanks({ localRanks, hosted }: OwnLists, others: Iterable<Int32Array> = []): Int32Array {
  const named = new GrowingInt32Array()
  named.append(localRanks)
  for (const { sources, destinations } of hosted) {
    named.append(Int32Array.from(sources))
    named.append(Int32Array.from(destinations))
  }
  for (const ranks of others) named.append(ranks)
  return distinct(named.toArray())
}

/** Returns the distinct ranks of a list except one, ascending. */
export function distinctBut(rank: number, list: ArrayLike<number>): Int32Array {
  return distinct(Int32Array.from(list).filter((other) => other !== rank))
}

function distinct(ranks: Int32Array): Int32Array {
  ranks.sort()
  let kept = 0
  for (const rank of ranks) if (kept === 0 || rank !== ranks[kept - 1]) ranks[kept++] = rank
  return ranks.slice(0, kept)
}

/** Builds the topology with the lists of a process's ranks only, in numbers; the lists of other ranks are empty. */
export function numberedTopology(rankOf: Int32Array, { localRanks, hosted }: OwnLists): ProcessTopology {
  const isWeighted = hosted.some(({ sourceWeights }) => sourceWeights !== undefined)
  const own = localRanks.map((rank) => indexIn(rankOf, rank))
  const rows = (list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    const start = new Int32Array(rankOf.length + 1)
    for (const [i, number] of own.entries()) start[number + 1] = list(hosted[i]).length
    for (let r = 0; r < rankOf.length; r++) start[r + 1] += start[r]
    return start
  }
  const numbers = (start: Int32Array, list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    const into = new Int32Array(start[rankOf.length])
    for (const [i, number] of own.entries()) {
      const ranks = list(hosted[i])
      for (let e = 0; e < ranks.length; e++) into[start[number] + e] = indexIn(rankOf, ranks[e])
    }
    return into
  }
  const weights = (start: Int32Array, list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    if (!isWeighted) return null
    const into = new Float64Array(start[rankOf.length])
    for (const [i, number] of own.entries()) into.set(list(hosted[i]), start[number])
    return into
  }
  const outStart = rows(({ destinations }) => destinations)
  const inStart = rows(({ sources }) => sources)
  return {
    ranks: rankOf.length,
    outStart,
    outRank: numbers(outStart, ({ destinations }) => destinations),
    outWeight: weights(outStart, ({ destinationWeights }) => destinationWeights!),
    inStart,
    inRank: numbers(inStart, ({ sources }) => sources),
    inWeight: weights(inStart, ({ sourceWeights }) => sourceWeights!),
    pairing: 'occurrence',
    cart: null,
  }
}
