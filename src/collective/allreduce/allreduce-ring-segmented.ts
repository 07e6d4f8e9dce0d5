import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { reduceAroundRing } from '../patterns/rank-operations.js'

/**
 * An allreduce of long data in P pieces around a ring, of which segments follow each other while pieces gather
 * contributions; then whole results go around once more. It takes 2(P - 1) phases for one segment, and each further
 * segment makes a phase more; (P + segments P)(P - 1) messages between neighbors only. It combines each piece in its
 * own order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.10 (ring with segments)
 */
export const allreduceRingSegmented: Algorithm = {
  id: 'allreduce-ring-segmented',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.10 (ring with segments)',
    phases: '2(P - 1)',
    messages: '2 P(P - 1)',
    sent: '2(P - 1)/P',
    serves: 'long data, whole pieces in the second half',
  },
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit({ ranks, segments = 1 }, rank, operations) {
    const partOf = (piece: number, segment: number): number => ((piece + ranks) % ranks) * segments + segment
    for (let segment = 0; segment < segments; segment++) {
      const total = operations.slot(rank, partOf(rank, segment))
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, total)
      else reduceAroundRing(operations, ranks, rank, segment, (piece) => partOf(piece, segment), total)
    }
    const add = (piece: number): void => {
      for (let segment = 0; segment < segments; segment++) {
        const part = partOf(piece, segment)
        operations.add(partialResult(part), operations.slot(rank, part))
      }
    }
    for (let step = 0; step < ranks - 1; step++) {
      const phase = segments + ranks - 2 + step
      operations.send(rank, phase, (rank + 1) % ranks)
      add(rank - step)
      operations.receive(rank, phase, (rank - 1 + ranks) % ranks)
      add(rank - 1 - step)
    }
  },
}
