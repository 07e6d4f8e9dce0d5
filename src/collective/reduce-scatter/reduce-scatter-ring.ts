import type { Algorithm } from '../patterns/algorithm.js'
import { reduceAroundRing } from '../patterns/rank-operations.js'

/**
 * A reduce-scatter around a ring: the blocks for a rank start at the rank after it and gather a contribution at every
 * rank. It takes P - 1 phases for one segment, and each further segment follows a phase later; P(P - 1) messages per
 * segment between neighbors only, of one block. It combines each block in its own order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.9 (ring)
 */
export const reduceScatterRing: Algorithm = {
  id: 'reduce-scatter-ring',
  collective: 'reduce-scatter',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.9 (ring)',
    phases: 'P - 1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'long blocks, neighbors only',
  },
  order: () => 'any',
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const partOf = (piece: number): number => piece * segments + segment
      const slot = operations.slot(rank, segment)
      if (ranks === 1) operations.copy(rank, segment).add(segment, segment, slot)
      else reduceAroundRing(operations, ranks, rank, segment, partOf, slot)
    }
  },
}
