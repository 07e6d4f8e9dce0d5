import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { reduceToRootAlong } from '../ways/compose-along.js'
import { buckets } from '../ways/families.js'

/**
 * A reduction by rings, one dimension of the network after the other. `ports` is the number of such rings that run at
 * once, each for a section of the data: in rotated orders of the dimensions, and in both directions. It is a
 * reduce-scatter along the ways, then a gather up a binomial tree over the first way. It combines in the order of the
 * way.
 *
 * @see Sack 2011 §3.4.2 and §3.4.4
 */
export const reduceBucket: Algorithm = parameterized({
  id: 'reduce-bucket',
  collective: 'reduce',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.2 (bucket)',
    phases: 'L + P - 1',
    messages: 'P^2 - 1',
    sent: '3/2 - 1/P',
    serves: 'long data, tori, every port',
  },
  parameters: buckets.parameters,
  sections: buckets.sections,
  refuses: buckets.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1, root = 0 } = shape
    reduceToRootAlong(operations, rank, { ways: buckets.ways(shape, values), segments, root })
  },
})
