import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'

/**
 * A scan by doubling: in step k every rank sends the combination of its last 2^k ranks, itself included, to the rank
 * 2^k after it. It takes ceil(lg P) phases, P - 2^k messages in step k. It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.11 (binomial); Hillis, Steele 1986, Data Parallel Algorithms
 */
export const scanRecursiveDoubling: Algorithm = {
  id: 'scan-recursive-doubling',
  collective: 'scan',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.11 (binomial); Hillis, Steele 1986',
    phases: 'L',
    messages: 'P L - 2^L + 1',
    sent: 'L',
    serves: 'short data',
  },
  order: () => 'ranks',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let part = 0; part < segments; part++) {
      const slot = operations.slot(rank, part)
      if (rank === 0) operations.copy(rank, part).add(part, part, slot)
      let held = part
      for (let distance = 1, phase = part; distance < ranks; distance *= 2, phase++) {
        if (rank + distance < ranks)
          operations.send(rank, phase, rank + distance).add(partialResult(part), held)
        if (rank < distance) continue
        const to = rank < 2 * distance ? slot : undefined
        held = combineReceived(operations, rank, phase, rank - distance, { part, held, to })
      }
    }
  },
}
