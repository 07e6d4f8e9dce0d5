import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { bcastAlong } from '../ways/compose-along.js'
import { reordered } from '../ways/families.js'

/**
 * A broadcast by recursive doubling along an order of bits. The order of bits is that of the network of the ranks,
 * unless `order` gives another. It serves any number of ranks. The root scatters down a binomial tree over the first
 * way; then an allgather along the ways brings the missing sections.
 *
 * @see Sack 2011 §3.4.1 and §3.4.4
 */
export const bcastReordered: Algorithm = parameterized({
  id: 'bcast-reordered',
  collective: 'bcast',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.1 (reordered recursive doubling)',
    phases: '2 L',
    messages: 'about P L',
    sent: '2(P - 1)/P',
    serves: 'long data, tapered networks and tori',
  },
  parameters: reordered.parameters,
  sections: reordered.sections,
  refuses: reordered.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  emit(shape, rank, operations, _, values) {
    const { segments = 1, root = 0 } = shape
    bcastAlong(operations, rank, { ways: reordered.ways(shape, values), segments, root })
  },
})
