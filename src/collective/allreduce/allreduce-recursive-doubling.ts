import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'
import { foldsLikeTree } from '../patterns/rank-tree.js'
import { coreIndex, coreRank, coreStart, foldedRanks } from '../patterns/reduce-by-halving.js'

/**
 * An allreduce by exchanges: in step k a rank and the one whose number differs in bit k send each other the combination
 * of their 2^k ranks. It takes lg P phases of P messages per segment; if P is not a power of two, 2 more phases fold
 * the ranks beyond it. It combines in rank order; for 2^a - 2^b ranks the result has the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.10 (recursive doubling)
 */
export const allreduceRecursiveDoubling: Algorithm = {
  id: 'allreduce-recursive-doubling',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.10 (recursive doubling)',
    phases: 'lg C',
    messages: 'C lg C',
    sent: 'lg C',
    serves: 'short data, fewest phases',
  },
  order: (shape) => (foldsLikeTree(shape) ? 'tree' : 'ranks'),
  emit({ ranks, segments = 1 }, rank, operations) {
    const folded = foldedRanks(ranks)
    const { core, pairs } = folded
    const index = coreIndex(folded, rank)
    for (let part = 0; part < segments; part++) {
      const total = operations.slot(rank, part)
      if (ranks === 1) operations.copy(rank, part).add(part, part, total)
      const last = part + coreStart(folded) + Math.log2(core)
      if (index < 0) {
        operations.send(rank, part, rank + 1).add(partialResult(part), part)
        operations.receive(rank, last, rank + 1).add(partialResult(part), total)
        continue
      }
      let held = part
      if (index < pairs) held = combineReceived(operations, rank, part, rank - 1, { part, held })
      for (let size = 1, phase = part + coreStart(folded); size < core; size *= 2, phase++) {
        const peer = coreRank(folded, index ^ size)
        operations.send(rank, phase, peer).add(partialResult(part), held)
        const to = 2 * size === core ? total : undefined
        held = combineReceived(operations, rank, phase, peer, { part, held, to })
      }
      if (index < pairs) operations.send(rank, last, rank - 1).add(partialResult(part), total)
    }
  },
}
