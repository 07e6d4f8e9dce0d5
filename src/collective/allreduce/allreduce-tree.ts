import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { reduceUpTree, refusesPieces, treeLevels, treePath } from '../patterns/rank-tree.js'

/**
 * An allreduce up the library's tree over ranks to rank 0 and down again. It takes 2 ceil(lg P) phases for one segment,
 * and each further segment follows a phase later; 2(P - 1) messages per segment, the fewest possible. The result has
 * the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast)
 */
export const allreduceTree: Algorithm = {
  id: 'allreduce-tree',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast)',
    phases: '2 L',
    messages: '2(P - 1)',
    sent: 'L',
    serves: 'short data',
  },
  order: () => 'tree',
  isAlongPath: true,
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { ranks, segments = 1 } = shape
    const highest = 2 * treeLevels(shape) - 1
    for (let part = 0; part < segments; part++) {
      const total = operations.slot(rank, part)
      if (ranks === 1) {
        operations.copy(rank, part).add(part, part, total)
        continue
      }
      reduceUpTree(operations, shape, rank, { part, phase: part, root: 0 })
      for (const { level, left, right } of treePath(shape, rank)) {
        const phase = part + highest - level
        if (left === rank) operations.send(rank, phase, right)
        else operations.receive(rank, phase, left)
        operations.add(partialResult(part), total)
      }
    }
  },
}
