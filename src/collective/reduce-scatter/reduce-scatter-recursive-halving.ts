import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { foldsLikeTree } from '../patterns/rank-tree.js'
import { coreIndex, foldedRanks, halvingPhases, reduceByHalving } from '../patterns/reduce-by-halving.js'

/**
 * A reduce-scatter by recursive halving. It takes lg P phases of P messages per segment, the k-th of P / 2^k blocks; if
 * P is not a power of two, 2 more phases fold the ranks beyond it, the first of them with all blocks. Neighbors combine
 * first, and thus in rank order, so they do not exchange runs of blocks. For 2^a - 2^b ranks the result has the bits of
 * `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.9 (recursive halving); its distant ranks combine first
 */
export const reduceScatterRecursiveHalving: Algorithm = {
  id: 'reduce-scatter-recursive-halving',
  collective: 'reduce-scatter',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.9 (recursive halving)',
    phases: 'lg C',
    messages: 'C lg C',
    sent: 'P - 1',
    serves: 'short blocks',
  },
  order: (shape) => (foldsLikeTree(shape) ? 'tree' : 'ranks'),
  emit({ ranks, segments = 1 }, rank, operations) {
    const folded = foldedRanks(ranks)
    const { pairs } = folded
    const index = coreIndex(folded, rank)
    for (let segment = 0; segment < segments; segment++) {
      const partOf = (other: number): number => other * segments + segment
      const slot = operations.slot(rank, segment)
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, slot)
      const totals = reduceByHalving(operations, ranks, rank, {
        phase: segment,
        partsOf: (member) =>
          member < pairs ? [partOf(2 * member), partOf(2 * member + 1)] : [partOf(member + pairs)],
        placeOf: (part) => (part === partOf(rank) ? slot : undefined),
      })
      const last = segment + halvingPhases(ranks)
      if (index < 0) operations.receive(rank, last, rank + 1).add(partialResult(partOf(rank)), slot)
      else if (index < pairs) {
        const part = partOf(rank - 1)
        operations.send(rank, last, rank - 1).add(partialResult(part), totals.get(part) as number)
      }
    }
  },
}
