import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'
import { reordered, shuffleParameter } from '../ways/families.js'
import { reduceScatterAlong } from '../ways/reduce-along.js'

/**
 * A reduce-scatter by recursive doubling along an order of bits. The order of bits is that of the network of the ranks,
 * unless `order` gives another. It serves any number of ranks. It sends the messages of the allgather backwards. With
 * `shuffle=1` every message is a run of the data, which costs a phase and one block more per rank. It combines in the
 * order of the way.
 *
 * @see Sack 2011 §3.4.1
 */
export const reduceScatterReordered: Algorithm = parameterized({
  id: 'reduce-scatter-reordered',
  collective: 'reduce-scatter',
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
  order: () => 'any',
  emit(shape, rank, operations, _, values) {
    const { segments = 1 } = shape
    const isShuffled = values.shuffle === 1
    reduceScatterAlong(operations, rank, { ways: reordered.ways(shape, values), segments, isShuffled })
  },
})
