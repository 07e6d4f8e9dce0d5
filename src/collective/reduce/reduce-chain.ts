import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'

/**
 * A reduction along two chains that meet at the root: one from rank 0 up, one from the last rank down. It takes as many
 * phases as the longer chain has messages, and each further segment follows a phase later; P - 1 messages per segment,
 * the data once over every link. It combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.8 (pipeline); it has one chain, which keeps no order
 */
export const reduceChain: Algorithm = {
  id: 'reduce-chain',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.8 (pipeline)',
    phases: 'P - 1',
    messages: 'P - 1',
    sent: '1',
    serves: 'long data in many segments',
  },
  order: () => 'ranks',
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    // Each chain brings the values of some ranks by one neighbor; the chain that arrives first comes before the other.
    const chains = [
      { length: rank, source: rank - 1 },
      { length: ranks - 1 - rank, source: rank + 1 },
    ]
      .filter(({ length, source }) => length > 0 && (rank === root || source < rank === rank < root))
      .sort((a, b) => a.length - b.length)
    for (let part = 0; part < segments; part++) {
      const total = rank === root ? operations.slot(rank, part) : undefined
      if (ranks === 1) operations.copy(rank, part).add(part, part, total)
      let held = part
      chains.forEach(({ length, source }, i) => {
        const to = i === chains.length - 1 ? total : undefined
        held = combineReceived(operations, rank, part + length - 1, source, { part, held, to })
      })
      if (rank === root) continue
      const phase = part + (rank < root ? rank : ranks - 1 - rank)
      operations.send(rank, phase, rank < root ? rank + 1 : rank - 1).add(partialResult(part), held)
    }
  },
}
