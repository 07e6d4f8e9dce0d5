import { sha256 } from '../base/sha256.js'
import { requireTopology } from './check-topology.js'
import type { ProcessTopology } from './process-topology.js'

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
