import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'

/**
 * A barrier by a message that goes around the ring twice: once to learn that all ranks have come, once to tell them. It
 * takes 2P - 1 phases of one empty message; the one that would return to rank 0 is left out.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.2 (double ring)
 */
export const barrierDoubleRing: Algorithm = {
  id: 'barrier-double-ring',
  collective: 'barrier',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.2 (double ring)',
    phases: '2P - 1',
    messages: '2P - 1',
    serves: 'neighbors only',
  },
  emit({ ranks }, rank, operations) {
    const done = operations.slot(rank, 0)
    if (ranks === 1) {
      operations.copy(rank, 0).add(0, 0, done)
      return
    }
    const [before, after] = [(rank - 1 + ranks) % ranks, (rank + 1) % ranks]
    const pass = (phase: number, held: number) =>
      operations.send(rank, phase, after).add(partialResult(0), held)
    if (rank === 0) pass(0, 0)
    else pass(rank, combineReceived(operations, rank, rank - 1, before, { part: 0, held: 0 }))
    const last = rank === 0 ? ranks - 1 : ranks + rank - 1
    combineReceived(operations, rank, last, before, { part: 0, held: 0, to: done })
    if (after !== 0) pass(last + 1, done)
  },
}
