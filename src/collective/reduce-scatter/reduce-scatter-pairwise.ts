import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived, receiveStaged } from '../patterns/rank-operations.js'

/**
 * A reduce-scatter by steps: in step k every rank sends its block for the rank k after it to that rank. It takes P - 1
 * phases for one segment, and each further segment follows a phase later; P(P - 1) messages per segment, of one block.
 * It combines in rank order: contributions of lower ranks come before the rank's own; those of higher ranks are
 * collected apart and come last.
 *
 * @see Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH (pairwise
 *   exchange)
 */
export const reduceScatterPairwise: Algorithm = {
  id: 'reduce-scatter-pairwise',
  collective: 'reduce-scatter',
  catalog: {
    source: 'Thakur et al. 2005 (pairwise exchange)',
    phases: 'P - 1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'long blocks',
  },
  order: () => 'ranks',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const part = rank * segments + segment
      const slot = operations.slot(rank, segment)
      if (ranks === 1) operations.copy(rank, segment).add(part, part, slot)
      let lower = part
      let higher = -1
      for (let distance = 1; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const phase = segment + distance - 1
        const sent = destination * segments + segment
        operations.send(rank, phase, destination).add(partialResult(sent), sent)
        if (source < rank) {
          const to = distance === ranks - 1 ? slot : undefined
          lower = combineReceived(operations, rank, phase, source, { part, held: lower, to })
          continue
        }
        const other = receiveStaged(operations, rank, phase, source, part)
        const sum = higher < 0 ? other : operations.stage(rank)
        if (higher >= 0) operations.combine(rank, phase, part, other, higher, sum)
        higher = sum
      }
      if (higher >= 0) operations.combine(rank, segment + ranks - 2, part, lower, higher, slot)
    }
  },
}
