import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2 } from '../patterns/rank-operations.js'

/**
 * A scatter down a binomial tree whose subtrees are runs of ranks, counted from the root: a rank receives the blocks of
 * its subtree and hands on those of other ranks. It takes ceil(lg P) phases, P - 1 messages per segment; each block
 * travels once per level.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.4 (binomial)
 */
export const scatterBinomial: Algorithm = {
  id: 'scatter-binomial',
  collective: 'scatter',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.4 (binomial)',
    phases: 'L',
    messages: 'P - 1',
    sent: 'P - 1',
    serves: 'short blocks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const levels = ceilLog2(ranks)
    const size = vrank === 0 ? 2 ** levels : vrank & -vrank
    const end = Math.min(vrank + size, ranks)
    for (let segment = 0; segment < segments; segment++) {
      const partOf = (other: number): number => ((other + root) % ranks) * segments + segment
      const slot = operations.slot(rank, segment)
      const staged = vrank === 0 ? 0 : operations.stage(rank, end - vrank - 1) - 1
      const placeOf = (other: number): number => {
        if (vrank === 0) return partOf(other)
        return other === vrank ? slot : staged + other - vrank
      }
      const add = (first: number, last: number): void => {
        for (let other = first; other < last; other++) operations.add(partOf(other), placeOf(other))
      }
      const phaseOf = (half: number): number => segment + levels - 1 - Math.log2(half)
      if (vrank === 0) operations.copy(rank, segment).add(partOf(0), partOf(0), slot)
      else {
        operations.receive(rank, phaseOf(size), (rank - size + ranks) % ranks)
        add(vrank, end)
      }
      for (let half = size / 2; half >= 1; half /= 2) {
        if (vrank + half >= ranks) continue
        operations.send(rank, phaseOf(half), (rank + half) % ranks)
        add(vrank + half, Math.min(vrank + 2 * half, ranks))
      }
    }
  },
}
