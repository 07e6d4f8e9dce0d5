import type { Algorithm } from '../patterns/algorithm.js'
import { reduceUpTree, refusesPieces } from '../patterns/rank-tree.js'

/**
 * A reduction up the library's tree over ranks. It takes ceil(lg P) phases for one segment, and each further segment
 * follows a phase later; P - 1 messages per segment. The root owns every node that it is in, so no message is added for
 * it. The result has the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.8 (binomial), with subtrees of consecutive ranks
 */
export const reduceTree: Algorithm = {
  id: 'reduce-tree',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.8 (binomial), in order',
    phases: 'L',
    messages: 'P - 1',
    sent: '1',
    serves: 'the default bits',
  },
  order: () => 'tree',
  isAlongPath: true,
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { ranks, root = 0, segments = 1 } = shape
    for (let part = 0; part < segments; part++) {
      if (ranks === 1) operations.copy(rank, part).add(part, part, operations.slot(rank, part))
      else reduceUpTree(operations, shape, rank, { part, phase: part, root })
    }
  },
}
