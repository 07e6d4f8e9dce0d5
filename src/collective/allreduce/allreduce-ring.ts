import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { reduceAroundRing } from '../patterns/rank-operations.js'

/**
 * An allreduce of long data in P pieces around a ring: each piece gathers the contributions of all ranks, then its
 * result goes around once more. It takes 2(P - 1) phases for one segment, and each further segment follows a phase
 * later; 2P(P - 1) messages per segment between neighbors only; every rank sends and receives the data twice, less 2 /
 * P. It combines each piece in its own order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.10 (ring)
 */
export const allreduceRing: Algorithm = {
  id: 'allreduce-ring',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.10 (ring)',
    phases: '2(P - 1)',
    messages: '2 P(P - 1)',
    sent: '2(P - 1)/P',
    serves: 'long data, neighbors only',
  },
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const partOf = (piece: number): number => segment * ranks + ((piece + ranks) % ranks)
      const total = operations.slot(rank, partOf(rank))
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, total)
      else reduceAroundRing(operations, ranks, rank, segment, partOf, total)
      for (let step = 0; step < ranks - 1; step++) {
        const phase = segment + ranks - 1 + step
        const [sent, received] = [partOf(rank - step), partOf(rank - 1 - step)]
        operations.send(rank, phase, (rank + 1) % ranks).add(partialResult(sent), operations.slot(rank, sent))
        operations.receive(rank, phase, (rank - 1 + ranks) % ranks)
        operations.add(partialResult(received), operations.slot(rank, received))
      }
    }
  },
}
