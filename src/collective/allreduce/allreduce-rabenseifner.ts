import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { foldsLikeTree } from '../patterns/rank-tree.js'
import {
  coreIndex,
  coreRank,
  foldedRanks,
  halvingPhases,
  partsFor,
  reduceByHalving,
  reversed,
} from '../patterns/reduce-by-halving.js'

/**
 * An allreduce of long data by halving and doubling. The data is cut into C pieces, C the largest power of two that is
 * at most P; they are reduced by recursive halving and gathered by the same exchanges backwards. It takes 2 lg C phases
 * of C messages per segment; every rank sends and receives the data twice, less 2 / C. If P is not a power of two, 2
 * more phases, of all the data, fold the ranks beyond it. It combines in rank order; for 2^a - 2^b ranks the result has
 * the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.10 (Rabenseifner); Rabenseifner 2004, Optimization of Collective Reduction
 *   Operations
 */
export const allreduceRabenseifner: Algorithm = {
  id: 'allreduce-rabenseifner',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.10 (Rabenseifner); Rabenseifner 2004',
    phases: '2 lg C',
    messages: '2 C lg C',
    sent: '2(C - 1)/C',
    serves: 'long data',
  },
  parts: ({ ranks, segments = 1 }) => foldedRanks(ranks).core * segments,
  order: (shape) => (foldsLikeTree(shape) ? 'tree' : 'ranks'),
  emit({ ranks, segments = 1 }, rank, operations) {
    const folded = foldedRanks(ranks)
    const { core, pairs } = folded
    const index = coreIndex(folded, rank)
    const steps = Math.log2(core)
    for (let segment = 0; segment < segments; segment++) {
      const totalOf = (part: number): number => operations.slot(rank, part)
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, totalOf(segment))
      // A rank sends a run of pieces, because a piece's number is that of its rank with the bits reversed.
      const partsOf = (member: number): number[] => [segment * core + reversed(member, steps)]
      const add = (parts: readonly number[]): void => {
        for (const part of parts) operations.add(partialResult(part), totalOf(part))
      }
      reduceByHalving(operations, ranks, rank, { phase: segment, partsOf, placeOf: totalOf })
      let phase = segment + halvingPhases(ranks)
      for (let size = core / 2; index >= 0 && size >= 1; size /= 2, phase++) {
        const peer = index ^ size
        operations.send(rank, phase, coreRank(folded, peer))
        add(partsFor(core, partsOf, index, 2 * size))
        operations.receive(rank, phase, coreRank(folded, peer))
        add(partsFor(core, partsOf, peer, 2 * size))
      }
      if (index >= pairs) continue
      const last = segment + halvingPhases(ranks) + steps
      if (index < 0) operations.receive(rank, last, rank + 1)
      else operations.send(rank, last, rank - 1)
      add(partsFor(core, partsOf, 0, 1))
    }
  },
}
