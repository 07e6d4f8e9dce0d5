import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2 } from '../patterns/rank-operations.js'

/**
 * A gather up a binomial tree whose subtrees are runs of ranks, counted from the root: the reverse of
 * `scatter-binomial`. It takes ceil(lg P) phases, P - 1 messages per segment; each block travels once per level.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.5 (binomial)
 */
export const gatherBinomial: Algorithm = {
  id: 'gather-binomial',
  collective: 'gather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.5 (binomial)',
    phases: 'L',
    messages: 'P - 1',
    sent: 'P/2',
    serves: 'short blocks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const size = vrank === 0 ? 2 ** ceilLog2(ranks) : vrank & -vrank
    const end = Math.min(vrank + size, ranks)
    for (let segment = 0; segment < segments; segment++) {
      const blockOf = (other: number): number => ((other + root) % ranks) * segments + segment
      const staged = vrank === 0 ? 0 : operations.stage(rank, end - vrank - 1) - 1
      const placeOf = (other: number): number => {
        if (vrank === 0) return operations.slot(rank, blockOf(other))
        return other === vrank ? segment : staged + other - vrank
      }
      const add = (first: number, last: number): void => {
        for (let other = first; other < last; other++) operations.add(blockOf(other), placeOf(other))
      }
      if (vrank === 0) operations.copy(rank, segment).add(blockOf(0), segment, placeOf(0))
      for (let half = 1; half < size && vrank + half < ranks; half *= 2) {
        operations.receive(rank, segment + Math.log2(half), (rank + half) % ranks)
        add(vrank + half, Math.min(vrank + 2 * half, ranks))
      }
      if (vrank === 0) continue
      operations.send(rank, segment + Math.log2(size), (rank - size + ranks) % ranks)
      add(vrank, end)
    }
  },
}
