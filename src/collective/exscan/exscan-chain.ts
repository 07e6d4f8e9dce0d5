import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'

/**
 * An exclusive scan along the chain of ranks. It takes P - 1 phases for one segment, and each further segment follows a
 * phase later; P - 1 messages per segment, the fewest possible. It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.11 (linear)
 */
export const exscanChain: Algorithm = {
  id: 'exscan-chain',
  collective: 'exscan',
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
      const phase = part + rank
      let held = part
      if (rank > 0) {
        const slot = operations.slot(rank, part)
        operations.receive(rank, phase - 1, rank - 1).add(partialResult(part), slot)
        if (rank === ranks - 1) continue
        held = operations.stage(rank)
        operations.combine(rank, phase - 1, part, slot, part, held)
      }
      if (rank < ranks - 1) operations.send(rank, phase, rank + 1).add(partialResult(part), held)
    }
  },
}
