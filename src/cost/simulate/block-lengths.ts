import { RankweaveError, shown } from '../../errors.js'
import { blockCount, type Specification } from '../../schedule/specification.js'

/** The longest block, such that all blocks together stay below 2^53 bytes. */
export const longestBlockBytes = 2 ** 40

/** The bytes of a block, or of partial results of part p if the term is `~p`. */
export type BytesOf = (term: number) => number

/**
 * Returns the lengths of blocks if every unit of data, which MPI's count describes, has equally many bytes. A unit is a
 * contribution of an allgather, one rank's data for another in an alltoall, or the vector of a reduction. In a neighbor
 * alltoall it is the data of an edge. The parts of a unit differ by one byte at most. The blocks of a barrier are
 * empty.
 *
 * @throws ERR_SIMULATION unless `bytes` is an integer from 0 to 2^40, and beyond 2^53 bytes in all
 */
export function lengthsOfUnits(specification: Specification, bytes: number): BytesOf {
  requireLength('bytes', bytes)
  const { collective, partStart, ranks } = specification
  const lengths = new Float64Array(partStart[ranks])
  if (collective === 'barrier') return lengthOfTerms(specification, lengths)
  let total = 0
  for (let rank = 0; rank < ranks; rank++) {
    const first = partStart[rank]
    const ofPart = cutLength(bytes, cutOf(specification, partStart[rank + 1] - first))
    for (let block = first; block < partStart[rank + 1]; block++) {
      lengths[block] = ofPart(block - first)
      total += lengths[block]
    }
    requireTotal(total)
  }
  return lengthOfTerms(specification, lengths)
}

/** Returns the length of part p if units of equally many bytes, each cut into so many parts, follow each other. */
export function cutLength(bytes: number, cut: number): (part: number) => number {
  const [whole, rest] = [Math.floor(bytes / cut), bytes % cut]
  return (block) => {
    const part = block % cut
    // Part p of `bytes` ends before byte floor((p + 1) bytes / cut); this form stays exact.
    return whole + Math.floor(((part + 1) * rest) / cut) - Math.floor((part * rest) / cut)
  }
}

/**
 * Returns given lengths of blocks after checking them.
 *
 * @param blockBytes bytes of every block; in a reduction equal for one part of all origins
 * @throws ERR_SIMULATION for another number of blocks, and for a length that is not an integer from 0 to 2^40
 */
export function lengthsOfBlocks(specification: Specification, blockBytes: ArrayLike<number>): BytesOf {
  const blocks = blockCount(specification)
  if (blockBytes.length !== blocks)
    failSimulation(`blockBytes: expected ${blocks} lengths, one per block, got ${blockBytes.length}`)
  let total = 0
  for (let block = 0; block < blocks; block++) {
    requireLength(`blockBytes[${block}]`, blockBytes[block])
    total += blockBytes[block]
  }
  requireTotal(total)
  const { partStart, ranks, reductions } = specification
  if (reductions.runStart.length > 1) {
    for (let rank = 1; rank < ranks; rank++) {
      for (let part = 0; part < partStart[rank + 1] - partStart[rank]; part++) {
        const [length, expected] = [blockBytes[partStart[rank] + part], blockBytes[part]]
        if (length !== expected)
          failSimulation(
            `blockBytes: expected ${expected} bytes for part ${part} of rank ${rank}, as of rank 0, got ${length}`,
          )
      }
    }
  }
  return lengthOfTerms(specification, blockBytes)
}

function lengthOfTerms({ partStart }: Specification, lengths: ArrayLike<number>): BytesOf {
  const first = partStart[0]
  return (term) => lengths[term < 0 ? first + ~term : term]
}

/** Returns the number of parts into which a contributing rank cuts every unit of its data. */
function cutOf({ collective, ranks }: Specification, parts: number): number {
  switch (collective) {
    case 'neighbor-alltoall':
      return 1
    case 'scatter':
    case 'alltoall':
    case 'reduce-scatter':
      return parts / ranks
    default:
      return parts
  }
}

/**
 * Returns the number of parts into which every unit of data is cut; 0 in a barrier, whose blocks are empty, and if no
 * rank has blocks.
 */
export function unitCut(specification: Specification): number {
  const { collective, partStart, ranks } = specification
  if (collective === 'barrier') return 0
  for (let rank = 0; rank < ranks; rank++) {
    const parts = partStart[rank + 1] - partStart[rank]
    if (parts > 0) return cutOf(specification, parts)
  }
  return 0
}

function requireLength(name: string, bytes: unknown): void {
  if (Number.isInteger(bytes) && (bytes as number) >= 0 && (bytes as number) <= longestBlockBytes) return
  failSimulation(`${name}: expected an integer from 0 to ${longestBlockBytes}, got ${shown(bytes)}`)
}

function requireTotal(bytes: number): void {
  if (bytes > Number.MAX_SAFE_INTEGER)
    failSimulation(`expected less than 2^53 bytes in all blocks, got ${bytes}`)
}

/** @throws ERR_SIMULATION */
export function failSimulation(message: string): never {
  throw new RankweaveError('ERR_SIMULATION', message)
}
