import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { receiveStaged } from '../patterns/rank-operations.js'
import { combineTree, refusesPieces } from '../patterns/rank-tree.js'

/**
 * An allreduce by rank 0 alone: every rank sends it its contribution, and rank 0 sends the result to all. It takes 2
 * phases for one segment, and each further segment follows a phase later; 2(P - 1) messages per segment, the fewest
 * possible. Rank 0 does all work, but every other rank waits only once, which counts if processes share cores. The
 * result has the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast, flat tree)
 */
export const allreduceLinear: Algorithm = {
  id: 'allreduce-linear',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast, flat tree)',
    phases: '2',
    messages: '2(P - 1)',
    sent: 'P - 1',
    serves: 'fewest messages',
  },
  order: () => 'tree',
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { ranks, segments = 1 } = shape
    for (let part = 0; part < segments; part++) {
      const total = operations.slot(rank, part)
      if (rank > 0) {
        operations.send(rank, part, 0).add(partialResult(part), part)
        operations.receive(rank, part + 1, 0).add(partialResult(part), total)
        continue
      }
      if (ranks === 1) {
        operations.copy(rank, part).add(part, part, total)
        continue
      }
      const places = [part]
      for (let source = 1; source < ranks; source++)
        places.push(receiveStaged(operations, rank, part, source, part))
      combineTree(operations, shape, rank, part, part, places, total)
      for (let destination = 1; destination < ranks; destination++)
        operations.send(rank, part + 1, destination).add(partialResult(part), total)
    }
  },
}
