import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'
import { coreIndex, coreRank, coreStart, foldedRanks } from '../patterns/reduce-by-halving.js'

/**
 * A barrier by exchanges: in step k a rank and the one whose number differs in bit k signal each other. It takes lg C
 * phases of C empty messages, C the largest power of two that is at most P; if P is not a power of two, 2 more phases
 * fold the ranks beyond it.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.2 (recursive doubling); it folds the ranks from C on; this folds neighbors,
 *   as the library's other algorithms do
 */
export const barrierRecursiveDoubling: Algorithm = {
  id: 'barrier-recursive-doubling',
  collective: 'barrier',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.2 (recursive doubling)',
    phases: 'lg C',
    messages: 'C lg C',
    serves: 'powers of two',
  },
  emit({ ranks }, rank, operations) {
    const folded = foldedRanks(ranks)
    const index = coreIndex(folded, rank)
    const steps = Math.log2(folded.core)
    const start = coreStart(folded)
    const done = operations.slot(rank, 0)
    const signal = (phase: number, to: number, held: number) =>
      operations.send(rank, phase, to).add(partialResult(0), held)
    if (ranks === 1) operations.copy(rank, 0).add(0, 0, done)
    if (index < 0) {
      signal(0, rank + 1, 0)
      operations.receive(rank, start + steps, rank + 1).add(partialResult(0), done)
      return
    }
    let held = 0
    if (index < folded.pairs) held = combineReceived(operations, rank, 0, rank - 1, { part: 0, held })
    for (let step = 0; step < steps; step++) {
      const peer = coreRank(folded, index ^ (2 ** step))
      signal(start + step, peer, held)
      const to = step === steps - 1 ? done : undefined
      held = combineReceived(operations, rank, start + step, peer, { part: 0, held, to })
    }
    if (index < folded.pairs) signal(start + steps, rank - 1, held)
  },
}
