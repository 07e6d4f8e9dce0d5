import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { buckets, shuffleParameter } from '../ways/families.js'
import { reduceScatterAlong } from '../ways/reduce-along.js'

/**
 * A reduce-scatter by rings, one dimension of the network after the other. `ports` is the number of such rings that run
 * at once, each for a section of the data: in rotated orders of the dimensions, and in both directions. It sends the
 * messages of the allgather backwards. With `shuffle=1` every message is a run of the data, which costs a phase and one
 * block more per rank. It combines in the order of the way.
 *
 * @see Sack 2011 §3.4.2
 */
export const reduceScatterBucket: Algorithm = parameterized({
  id: 'reduce-scatter-bucket',
  collective: 'reduce-scatter',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.2 (bucket)',
    phases: 'P - 1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'long blocks, tori, every port',
  },
  parameters: { ...buckets.parameters, ...shuffleParameter },
  sections: buckets.sections,
  refuses: buckets.refuses,
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    const isShuffled = values.shuffle === 1
    reduceScatterAlong(operations, rank, { ways: buckets.ways(shape, values), segments, isShuffled })
  },
})
