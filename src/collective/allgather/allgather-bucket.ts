import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { buckets, shuffleParameter } from '../ways/families.js'
import { gatherAlong } from '../ways/gather-along.js'

/**
 * An allgather by rings, one dimension of the network after the other. `ports` is the number of such rings that run at
 * once, each for a section of the data: in rotated orders of the dimensions, and in both directions. Blocks are named,
 * so they may lie apart in a message; `shuffle=1` moves them first so that every message is a run of the result, which
 * costs a phase and one block more per rank.
 *
 * @see Sack 2011 §3.4.2
 */
export const allgatherBucket: Algorithm = parameterized({
  id: 'allgather-bucket',
  collective: 'allgather',
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
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    const isShuffled = values.shuffle === 1
    gatherAlong(operations, rank, { ways: buckets.ways(shape, values), segments, isShuffled })
  },
})
