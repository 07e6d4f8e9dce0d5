import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { combineReceived } from '../patterns/rank-operations.js'
import { binaryTreePlace } from '../patterns/rank-tree.js'

/**
 * A reduction up a balanced binary tree: floor(lg P) phases for one segment, and each further segment follows a phase
 * later; no rank receives the data more than twice. It combines in the order of the tree.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.8 (binary)
 */
export const reduceBinary: Algorithm = {
  id: 'reduce-binary',
  collective: 'reduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.8 (binary)',
    phases: 'lg C',
    messages: 'P - 1',
    sent: '1',
    serves: 'data in segments',
  },
  order: () => 'any',
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const { level, parent, children } = binaryTreePlace(ranks, (rank - root + ranks) % ranks)
    const levels = 31 - Math.clz32(ranks)
    for (let part = 0; part < segments; part++) {
      const phase = part + levels - level
      const total = parent === -1 ? operations.slot(rank, part) : undefined
      if (ranks === 1) operations.copy(rank, part).add(part, part, total)
      let held = part
      children.forEach((child, i) => {
        const to = i === children.length - 1 ? total : undefined
        held = combineReceived(operations, rank, phase - 1, (child + root) % ranks, { part, held, to })
      })
      if (parent !== -1) operations.send(rank, phase, (parent + root) % ranks).add(partialResult(part), held)
    }
  },
}
