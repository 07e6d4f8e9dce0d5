import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from './rank-operations.js'
import { combineReceived } from './rank-operations.js'

/**
 * Emits the operations of a rank in a reduction of P pieces, at least two, around the ring: piece i starts at the rank
 * after i, gathers a contribution at every rank, and ends at rank i. P - 1 phases.
 *
 * @param partOf returns the part of a piece, 0 to P - 1
 * @param to the place of the rank's own piece, combined
 */
export function reduceAroundRing(
  operations: RankOperations,
  ranks: number,
  rank: number,
  phase: number,
  partOf: (piece: number) => number,
  to: number,
): void {
  const before = (rank - 1 + ranks) % ranks
  let held = partOf(before)
  for (let step = 0; step < ranks - 1; step++) {
    const sent = partOf((rank - 1 - step + ranks) % ranks)
    const part = partOf((rank - 2 - step + 2 * ranks) % ranks)
    operations.send(rank, phase + step, (rank + 1) % ranks).add(partialResult(sent), held)
    const operands = { part, held: part, to: step === ranks - 2 ? to : undefined }
    held = combineReceived(operations, rank, phase + step, before, operands)
  }
}
