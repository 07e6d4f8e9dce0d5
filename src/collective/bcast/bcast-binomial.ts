import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A broadcast down a binomial tree, the largest subtree first: ceil(lg P) phases for one segment, and each further
 * segment follows a phase later.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.3
 */
export const bcastBinomial: Algorithm = {
  id: 'bcast-binomial',
  collective: 'bcast',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.3 (binomial)',
    phases: 'L',
    messages: 'P - 1',
    sent: 'L',
    serves: 'short data',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const level = vrank === 0 ? 0 : 32 - Math.clz32(vrank)
    for (let segment = 0; segment < segments; segment++) {
      const place = vrank === 0 ? segment : operations.slot(rank, segment)
      if (vrank > 0) {
        const parent = (vrank - 2 ** (level - 1) + root) % ranks
        operations.receive(rank, segment + level - 1, parent).add(segment, place)
      }
      for (let at = level; vrank + 2 ** at < ranks; at++) {
        operations.send(rank, segment + at, (vrank + 2 ** at + root) % ranks).add(segment, place)
      }
    }
  },
}
