import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'

/**
 * A scan along the chain of ranks. It takes P - 1 phases for one segment, and each further segment follows a phase
 * later; P - 1 messages per segment, the fewest possible. It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.11 (linear)
 */
export const scanChain: Algorithm = {
  id: 'scan-chain',
  collective: 'scan',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.11 (linear)',
    phases: 'P - 1',
    messages: 'P - 1',
    sent: '1',
    serves: 'long data in many segments',
  },
  order: () => 'ranks',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let part = 0; part < segments; part++) {
      const slot = operations.slot(rank, part)
      const phase = part + rank
      if (rank === 0) operations.copy(rank, phase).add(part, part, slot)
      else combineReceived(operations, rank, phase - 1, rank - 1, { part, held: part, to: slot })
      if (rank === ranks - 1) continue
      operations.send(rank, phase, rank + 1).add(partialResult(part), rank === 0 ? part : slot)
    }
  },
}
