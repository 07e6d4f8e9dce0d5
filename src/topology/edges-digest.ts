import type { ProcessTopology } from './process-topology.js'

/**
 * Returns 32 hexadecimal digits that identify the edges of a topology, in any order of its lists. An MPI program
 * computes them without gathering the edges: each process adds those that it knows.
 *
 * Four numbers of 32 bits, each a sum over all edges modulo 2^32, parallel edges included: number i of
 * `mixed(mixed(source + (i + 1) * 0x9e3779b9) + destination)`, where `mixed` is the finalizer of MurmurHash3 (Appleby
 * 2011). Ranks without edges do not count. The preloaded library computes the same sums in `reorder-edges.c`.
 */
export function edgesDigest({ ranks, outStart, outRank }: ProcessTopology): string {
  const sums = new Uint32Array(4)
  for (let i = 0; i < sums.length; i++) {
    const seed = Math.imul(i + 1, 0x9e3779b9)
    for (let source = 0; source < ranks; source++) {
      const mixedSource = mixed(source + seed)
      for (let e = outStart[source]; e < outStart[source + 1]; e++) sums[i] += mixed(mixedSource + outRank[e])
    }
  }
  return Array.from(sums, (sum) => sum.toString(16).padStart(8, '0')).join('')
}

function mixed(word: number): number {
  let x = word ^ (word >>> 16)
  x = Math.imul(x, 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}
