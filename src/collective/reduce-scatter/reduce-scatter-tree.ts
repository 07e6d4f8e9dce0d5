import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { receiveStaged } from '../patterns/rank-operations.js'
import { combineTree, refusesPieces } from '../patterns/rank-tree.js'

/**
 * A reduce-scatter by direct messages: every rank receives its block of all contributions at once and combines them. It
 * takes one phase and P(P - 1) messages per segment, of one block. The result has the bits of `order: 'tree'`.
 */
export const reduceScatterTree: Algorithm = {
  id: 'reduce-scatter-tree',
  collective: 'reduce-scatter',
  catalog: { phases: '1', messages: 'P(P - 1)', sent: 'P - 1', serves: 'few ranks, the default bits' },
  order: () => 'tree',
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { ranks, segments = 1 } = shape
    for (let segment = 0; segment < segments; segment++) {
      const part = rank * segments + segment
      const slot = operations.slot(rank, segment)
      const places = new Array<number>(ranks).fill(part)
      for (let distance = 1; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const sent = destination * segments + segment
        operations.send(rank, segment, destination).add(partialResult(sent), sent)
        places[source] = receiveStaged(operations, rank, segment, source, part)
      }
      if (ranks === 1) operations.copy(rank, segment).add(part, part, slot)
      else combineTree(operations, shape, rank, segment, part, places, slot)
    }
  },
}
