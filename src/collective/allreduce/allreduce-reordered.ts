import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { allreduceAlong } from '../ways/compose-along.js'
import { reordered } from '../ways/families.js'

/**
 * An allreduce by recursive doubling along an order of bits. The order of bits is that of the network of the ranks,
 * unless `order` gives another. It serves any number of ranks. It is a reduce-scatter and an allgather along the same
 * ways, without a shuffle. It combines in the order of the way.
 *
 * @see Sack 2011 §3.4.1 and §3.4.4
 */
export const allreduceReordered: Algorithm = parameterized({
  id: 'allreduce-reordered',
  collective: 'allreduce',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.1 (reordered recursive doubling)',
    phases: '2 L',
    messages: 'at most 2 P L',
    sent: '2(P - 1)/P',
    serves: 'long data, tapered networks and tori',
  },
  parameters: reordered.parameters,
  sections: reordered.sections,
  refuses: reordered.refuses,
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    allreduceAlong(operations, rank, { ways: reordered.ways(shape, values), segments })
  },
})
