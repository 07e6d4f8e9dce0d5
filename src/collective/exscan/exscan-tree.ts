import type { Algorithm } from '../patterns/algorithm.js'
import { prefixByTree, refusesPieces } from '../patterns/rank-tree.js'

/**
 * An exclusive scan up and down the library's tree over ranks. It takes 2 ceil(lg P) phases for one segment, and each
 * further segment follows a phase later; fewer than 2(P - 1) messages per segment. The result has the bits of the
 * library's `exscan`, in rank order.
 *
 * @see Blelloch 1990, Prefix Sums and Their Applications
 */
export const exscanTree: Algorithm = {
  id: 'exscan-tree',
  collective: 'exscan',
  catalog: {
    source: 'Blelloch 1990',
    phases: '2 L',
    messages: 'below 2(P - 1)',
    sent: 'L',
    serves: 'the default bits',
  },
  order: () => 'tree',
  isAlongPath: true,
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { segments = 1 } = shape
    for (let part = 0; part < segments; part++) {
      const slot = rank === 0 ? {} : { to: operations.slot(rank, part) }
      prefixByTree(operations, shape, rank, { part, phase: part, ...slot })
    }
  },
}
