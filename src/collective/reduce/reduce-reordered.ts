import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { reduceToRootAlong } from '../ways/compose-along.js'
import { reordered } from '../ways/families.js'

/**
 * A reduction by recursive doubling along an order of bits. The order of bits is that of the network of the ranks,
 * unless `order` gives another. It serves any number of ranks. It is a reduce-scatter along the ways, then a gather up
 * a binomial tree over the first way. It combines in the order of the way.
 *
 * @see Sack 2011 §3.4.1 and §3.4.4
 */
export const reduceReordered: Algorithm = parameterized({
  id: 'reduce-reordered',
  collective: 'reduce',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.1 (reordered recursive doubling)',
    phases: '2 L',
    messages: 'about P L + P - 1',
    sent: '3/2 - 1/P',
    serves: 'long data, tapered networks and tori',
  },
  parameters: reordered.parameters,
  sections: reordered.sections,
  refuses: reordered.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1, root = 0 } = shape
    reduceToRootAlong(operations, rank, { ways: reordered.ways(shape, values), segments, root })
  },
})
