import type { Algorithm } from '../patterns/algorithm.js'
import { binaryTreePlace } from '../patterns/rank-tree.js'

/**
 * A broadcast down a balanced binary tree: floor(lg P) phases for one segment, and each further segment follows a phase
 * later; no rank sends the data more than twice.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.3 (binary)
 */
export const bcastBinary: Algorithm = {
  id: 'bcast-binary',
  collective: 'bcast',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.3 (binary)',
    phases: 'lg C',
    messages: 'P - 1',
    sent: 'at most 2',
    serves: 'data in segments',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const { level, parent, children } = binaryTreePlace(ranks, (rank - root + ranks) % ranks)
    for (let segment = 0; segment < segments; segment++) {
      const place = parent === -1 ? segment : operations.slot(rank, segment)
      if (parent !== -1)
        operations.receive(rank, segment + level - 1, (parent + root) % ranks).add(segment, place)
      for (const child of children)
        operations.send(rank, segment + level, (child + root) % ranks).add(segment, place)
    }
  },
}
