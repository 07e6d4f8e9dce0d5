import type { RankOperations } from './rank-operations.js'
import { ceilLog2 } from './rank-operations.js'

/** Returns the number of pieces that a rank has after {@link scatterPieces}, its own first: those of its subtree. */
export function piecesScattered(ranks: number, vrank: number): number {
  return vrank === 0 ? ranks : Math.min(vrank & -vrank, ranks - vrank)
}

/**
 * Emits the operations of a rank in a scatter of P pieces from the root down a binomial tree. Subtrees are runs of
 * ranks, the largest first. ceil(lg P) phases.
 *
 * @param vrank distance from the root
 * @param peer returns the rank at a distance from the root
 * @param add adds so many pieces to the operation opened last, from the first on
 */
export function scatterPieces(
  operations: RankOperations,
  { ranks, rank, vrank, phase }: Readonly<Record<'ranks' | 'rank' | 'vrank' | 'phase', number>>,
  peer: (vrank: number) => number,
  add: (first: number, count: number) => void,
): void {
  const last = phase + ceilLog2(ranks) - 1
  if (vrank > 0) {
    const size = vrank & -vrank
    operations.receive(rank, last - Math.log2(size), peer(vrank - size))
    add(vrank, piecesScattered(ranks, vrank))
  }
  for (let size = 2 ** ceilLog2(ranks) / 2; size >= 1; size /= 2) {
    if (vrank % (2 * size) !== 0 || vrank + size >= ranks) continue
    operations.send(rank, last - Math.log2(size), peer(vrank + size))
    add(vrank + size, piecesScattered(ranks, vrank + size))
  }
}
