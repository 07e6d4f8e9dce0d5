import { partialResult } from '../schedule/ir.js'
import type { Algorithm } from './patterns/algorithm.js'
import { inOrderDepth, inOrderPlace } from './patterns/in-order-tree.js'
import { combineReceived } from './patterns/values.js'

/**
 * A reduction up a binary tree whose subtrees are runs of ranks: at most ceil(lg P) phases for one segment, and each
 * further segment follows a phase later; P - 1 messages per segment, and no rank receives the data more than twice. It
 * combines in rank order.
 *
 * @see Pjesivac-Grbovic 2007 §4.1.1 and table 4.8 (in-order binary); its tree has the last rank as root, which sends
 *   the result to another root; this tree has any root
 */
export const reduceInOrderBinary: Algorithm = {
  id: 'reduce-in-order-binary',
  collective: 'reduce',
  catalogue: {
    source: 'Pjesivac-Grbovic 2007 §4.1.1, table 4.8 (in-order binary)',
    phases: 'lg C',
    messages: 'P - 1',
    sent: '1',
    serves: 'data in segments, operations that do not commute',
  },
  order: () => 'ranks',
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const { depth, parent, children } = inOrderPlace(ranks, root, rank)
    const depths = inOrderDepth(ranks, root)
    for (let part = 0; part < segments; part++) {
      const phase = part + depths - depth
      const total = parent === -1 ? operations.slot(rank, part) : undefined
      if (ranks === 1) operations.copy(rank, part).add(part, part, operations.slot(rank, part))
      let held = part
      children.forEach((child, i) => {
        const to = i === children.length - 1 ? total : undefined
        held = combineReceived(operations, rank, phase - 1, child, { part, held, to })
      })
      if (parent !== -1) operations.send(rank, phase, parent).add(partialResult(part), held)
    }
  },
}
