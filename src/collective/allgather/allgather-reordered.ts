import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { reordered, shuffleParameter } from '../ways/families.js'
import { gatherAlong } from '../ways/gather-along.js'

/**
 * An allgather by recursive doubling along an order of bits. The order of bits is that of the network of the ranks,
 * unless `order` gives another. It serves any number of ranks. Blocks are named, so they may lie apart in a message;
 * `shuffle=1` moves them first so that every message is a run of the result, which costs a phase and one block more per
 * rank.
 *
 * @see Sack 2011 §3.4.1
 */
export const allgatherReordered: Algorithm = parameterized({
  id: 'allgather-reordered',
  collective: 'allgather',
  followsGrid: true,
  catalogue: {
    source: 'Sack 2011 §3.4.1 (reordered recursive doubling)',
    phases: 'L',
    messages: 'at most P L',
    sent: 'P - 1',
    serves: 'long blocks, tapered networks and tori',
  },
  parameters: { ...reordered.parameters, ...shuffleParameter },
  sections: reordered.sections,
  refuses: reordered.refuses,
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    const isShuffled = values.shuffle === 1
    gatherAlong(operations, rank, { ways: reordered.ways(shape, values), segments, isShuffled })
  },
})
