import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { receiveStaged } from '../patterns/rank-operations.js'

/**
 * A reduction by the root alone: every rank sends it its contribution, and it combines from rank 0 on. It takes one
 * phase and P - 1 messages per segment. It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.8 (flat tree)
 */
export const reduceLinear: Algorithm = {
  id: 'reduce-linear',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.8 (flat tree)',
    phases: '1',
    messages: 'P - 1',
    sent: '1',
    serves: 'few ranks, short data',
  },
  order: () => 'ranks',
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    for (let part = 0; part < segments; part++) {
      if (rank !== root) {
        operations.send(rank, part, root).add(partialResult(part), part)
        continue
      }
      const slot = operations.slot(rank, part)
      if (ranks === 1) operations.copy(rank, part).add(part, part, slot)
      let held = -1
      for (let source = 0; source < ranks; source++) {
        const value = source === root ? part : receiveStaged(operations, rank, part, source, part)
        const to = source === 0 ? value : source === ranks - 1 ? slot : operations.stage(rank)
        if (source > 0) operations.combine(rank, part, part, held, value, to)
        held = to
      }
    }
  },
}
