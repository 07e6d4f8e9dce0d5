import { mixedWord, sha256 } from '../base/hash.js'
import { type ProcessTopology, requireTopology } from './process-topology.js'

/**
 * Returns the fingerprint of a topology: SHA-256, as 64 lowercase hexadecimal digits, of a sequence of 32-bit
 * little-endian two's-complement integers. First the number of ranks. Then for each rank, 0 first: its number of
 * destinations, the destinations in list order, its number of sources, the sources in list order. Weights and the
 * Cartesian shape are not part of it.
 */
export function topologyHash(topology: ProcessTopology): string {
  requireTopology(topology)
  const { ranks, outStart, outRank, inStart, inRank } = topology
  const hash = sha256().update(littleEndian(Int32Array.of(ranks)))
  for (let rank = 0; rank < ranks; rank++) {
    const destinations = outRank.subarray(outStart[rank], outStart[rank + 1])
    const sources = inRank.subarray(inStart[rank], inStart[rank + 1])
    const words = new Int32Array(2 + destinations.length + sources.length)
    words[0] = destinations.length
    words.set(destinations, 1)
    words[1 + destinations.length] = sources.length
    words.set(sources, 2 + destinations.length)
    hash.update(littleEndian(words))
  }
  return hash.digest()
}

const hostIsLittleEndian = new Uint8Array(Int32Array.of(1).buffer)[0] === 1

/** Makes the words little-endian in place and returns their bytes. */
function littleEndian(words: Int32Array): Uint8Array {
  if (!hostIsLittleEndian) {
    const view = new DataView(words.buffer)
    for (const [i, word] of words.entries()) view.setInt32(4 * i, word, true)
  }
  return new Uint8Array(words.buffer)
}

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
      const mixedSource = mixedWord(source + seed)
      for (let e = outStart[source]; e < outStart[source + 1]; e++)
        sums[i] += mixedWord(mixedSource + outRank[e])
    }
  }
  return Array.from(sums, (sum) => sum.toString(16).padStart(8, '0')).join('')
}
