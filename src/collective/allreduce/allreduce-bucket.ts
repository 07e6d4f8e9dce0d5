import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { allreduceAlong } from '../ways/compose-along.js'
import { buckets } from '../ways/families.js'

/**
 * An allreduce by rings, one dimension of the network after the other. `ports` is the number of such rings that run at
 * once, each for a section of the data: in rotated orders of the dimensions, and in both directions. It is a
 * reduce-scatter and an allgather along the same ways, without a shuffle. It combines in the order of the way.
 *
 * @see Sack 2011 §3.4.2 and §3.4.4
 */
export const allreduceBucket: Algorithm = parameterized({
  id: 'allreduce-bucket',
  collective: 'allreduce',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.2 (bucket)',
    phases: '2(P - 1)',
    messages: '2 P(P - 1)',
    sent: '2(P - 1)/P',
    serves: 'long data, tori, every port',
  },
  parameters: buckets.parameters,
  sections: buckets.sections,
  refuses: buckets.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    allreduceAlong(operations, rank, { ways: buckets.ways(shape, values), segments })
  },
})
