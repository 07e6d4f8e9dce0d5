import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2, combineReceived } from '../patterns/rank-operations.js'

/**
 * A barrier by dissemination: in round k every rank signals the one 2^k after it. It takes ceil(lg P) phases of P empty
 * messages.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.2 (Bruck)
 */
export const barrierDissemination: Algorithm = {
  id: 'barrier-dissemination',
  collective: 'barrier',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.2 (Bruck)',
    phases: 'L',
    messages: 'P L',
    serves: 'fewest phases',
  },
  emit({ ranks }, rank, operations) {
    const done = operations.slot(rank, 0)
    const rounds = ceilLog2(ranks)
    if (rounds === 0) operations.copy(rank, 0).add(0, 0, done)
    let held = 0
    for (let round = 0; round < rounds; round++) {
      const [before, after] = [rank - 2 ** round + ranks, rank + 2 ** round]
      operations.send(rank, round, after % ranks).add(partialResult(0), held)
      const to = round === rounds - 1 ? done : undefined
      held = combineReceived(operations, rank, round, before % ranks, { part: 0, held, to })
    }
  },
}
