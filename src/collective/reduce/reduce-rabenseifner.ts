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
 * A reduction of long data by halving and gathering. The data is cut into C pieces, C the largest power of two that is
 * at most P; they are reduced by recursive halving and gathered at the root by the same exchanges backwards. It takes 2
 * lg C phases and C lg C + C - 1 messages per segment; no rank sends or receives the data more than twice. If P is not
 * a power of two, one more phase, of all the data, folds the ranks beyond it. Another one follows if the root is among
 * them. It combines in rank order; for 2^a - 2^b ranks the result has the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.8 (Rabenseifner); Rabenseifner 2004, Optimization of Collective Reduction
 *   Operations
 */
export const reduceRabenseifner: Algorithm = {
  id: 'reduce-rabenseifner',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.8 (Rabenseifner); Rabenseifner 2004',
    phases: '2 lg C',
    messages: 'about C lg C + P',
    sent: 'at most 3/2',
    serves: 'long data',
  },
  parts: ({ ranks, segments = 1 }) => foldedRanks(ranks).core * segments,
  order: (shape) => (foldsLikeTree(shape) ? 'tree' : 'ranks'),
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const folded = foldedRanks(ranks)
    const { core } = folded
    const steps = Math.log2(core)
    const index = coreIndex(folded, rank)
    const rootIndex = coreIndex(folded, root)
    // A root that is folded gets everything from the rank that takes part for it.
    const target = rootIndex < 0 ? coreIndex(folded, root + 1) : rootIndex
    const isGathered = index >= 0 && ranks > 1
    const first =
      rank === root ? operations.slot(rank, 0) : isGathered ? operations.stage(rank, core * segments) : 0
    const placeOf = (part: number): number => first + part
    const add = (parts: readonly number[]): void => {
      for (const part of parts) operations.add(partialResult(part), placeOf(part))
    }
    for (let segment = 0; segment < segments; segment++) {
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, placeOf(segment))
      const partsOf = (member: number): number[] => [segment * core + reversed(member, steps)]
      reduceByHalving(operations, ranks, rank, { phase: segment, partsOf, placeOf })
      let phase = segment + halvingPhases(ranks)
      const distance = index ^ target
      for (let size = core / 2; size >= 1; size /= 2, phase++) {
        // Ranks that have sent their pieces are done.
        if (index < 0 || distance >= 2 * size) continue
        const peer = index ^ size
        const isSender = (distance & size) !== 0
        if (isSender) operations.send(rank, phase, coreRank(folded, peer))
        else operations.receive(rank, phase, coreRank(folded, peer))
        add(partsFor(core, partsOf, isSender ? index : peer, 2 * size))
      }
      if (rootIndex >= 0) continue
      if (rank === root) operations.receive(rank, phase, root + 1)
      else if (rank === root + 1) operations.send(rank, phase, root)
      else continue
      add(partsFor(core, partsOf, 0, 1))
    }
  },
}
