import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { blockBounds, transposeRows } from '../compressed-rows.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { requirePattern } from './require-matrix.js'
import type { SparsePattern } from './sparse-matrix.js'

const knownOptions = uncheckedOptions('ranks')

/**
 * Returns the topology of C = A x B: which rank needs rows of B from which other rank. The rows of A and C, and those
 * of B, are distributed over the ranks in consecutive blocks ({@link blockBounds}). An edge leads from j to i iff A has
 * an entry in rows of i and columns that are j's rows of B. Receivers follow from A's rows, senders from A's columns,
 * independently. A rank's own block is local: no self loops. Every stored entry counts, even one whose value is zero.
 * With more ranks than rows or columns the last ranks are isolated, or only send or only receive. Sources and
 * destinations ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.3
 */
export function topologyFromMatrix(
  matrix: SparsePattern,
  options: { readonly ranks: number },
): ProcessTopology {
  requirePattern('topologyFromMatrix', matrix)
  requireKnownOptions('topologyFromMatrix', options, knownOptions)
  const { ranks } = options
  checkTopologySize('topology of a matrix', ranks, 0)
  const rowBounds = blockBounds(matrix.rows, ranks)
  const columnOwner = ownerOf(blockBounds(matrix.cols, ranks))
  const inStart = new Int32Array(ranks + 1)
  const inRank = new GrowingInt32Array()
  const seenBy = new Int32Array(ranks).fill(-1)
  for (let i = 0; i < ranks; i++) {
    const sources: number[] = []
    const to = matrix.rowStart[rowBounds[i + 1]]
    for (let e = matrix.rowStart[rowBounds[i]]; e < to; e++) {
      const j = columnOwner[matrix.colIndex[e]]
      if (j === i || seenBy[j] === i) continue
      seenBy[j] = i
      sources.push(j)
    }
    for (const j of sources.sort((a, b) => a - b)) inRank.push(j)
    checkTopologySize('topology of a matrix', ranks, inRank.length)
    inStart[i + 1] = inRank.length
  }
  const into = { start: inStart, rank: inRank.toArray() }
  return unweightedTopology(transposeRows(ranks, into), into)
}

function ownerOf(bounds: Int32Array): Int32Array {
  const owner = new Int32Array(bounds[bounds.length - 1])
  for (let part = 0; part + 1 < bounds.length; part++) owner.fill(part, bounds[part], bounds[part + 1])
  return owner
}
