import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { bcastAlong } from '../ways/compose-along.js'
import { buckets } from '../ways/families.js'

/**
 * A broadcast by rings, one dimension of the network after the other. `ports` is the number of such rings that run at
 * once, each for a section of the data: in rotated orders of the dimensions, and in both directions. The root scatters
 * down a binomial tree over the first way; then an allgather along the ways brings the missing sections.
 *
 * @see Sack 2011 §3.4.2 and §3.4.4
 */
export const bcastBucket: Algorithm = parameterized({
  id: 'bcast-bucket',
  collective: 'bcast',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.2 (bucket)',
    phases: 'L + P - 1',
    messages: 'about P^2 - P L/2',
    sent: '2(P - 1)/P',
    serves: 'long data, tori, every port',
  },
  parameters: buckets.parameters,
  sections: buckets.sections,
  refuses: buckets.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  emit(shape, rank, operations, _, values) {
    const { segments = 1, root = 0 } = shape
    bcastAlong(operations, rank, { ways: buckets.ways(shape, values), segments, root })
  },
})
