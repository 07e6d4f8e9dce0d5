import type { Algorithm } from '../patterns/algorithm.js'
import { prefixByTree, refusesPieces, treeLevels } from '../patterns/rank-tree.js'

/**
 * A scan up and down the library's tree over ranks: it combines the values before a rank, as in `exscan-tree`, with the
 * rank's contribution. It takes 2 ceil(lg P) phases for one segment, and each further segment follows a phase later;
 * fewer than 2(P - 1) messages per segment. The result has the bits of the library's `scan`, in rank order.
 *
 * @see Blelloch 1990, Prefix Sums and Their Applications
 */
export const scanTree: Algorithm = {
  id: 'scan-tree',
  collective: 'scan',
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
      const slot = operations.slot(rank, part)
      const before = prefixByTree(operations, shape, rank, { part, phase: part })
      const phase = part + 2 * treeLevels(shape) - 1
      if (rank === 0) operations.copy(rank, part).add(part, part, slot)
      else operations.combine(rank, phase, part, before, part, slot)
    }
  },
}
