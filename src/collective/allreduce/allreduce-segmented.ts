import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { receiveStaged } from '../patterns/rank-operations.js'
import { combineTree, refusesPieces } from '../patterns/rank-tree.js'

/**
 * An allreduce of long data in P pieces: every rank receives its piece of all contributions, combines it and sends the
 * result to all, so that all links and processors work at once. It takes 2 phases, 2P(P - 1) messages per segment;
 * every rank sends and receives the data twice, less 2 / P. The result has the bits of `order: 'tree'`, whichever rank
 * combines.
 */
export const allreduceSegmented: Algorithm = {
  id: 'allreduce-segmented',
  collective: 'allreduce',
  catalog: {
    phases: '2',
    messages: '2 P(P - 1)',
    sent: '2(P - 1)/P',
    serves: 'long data, the default bits',
  },
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  order: () => 'tree',
  refuses: refusesPieces,
  emit(shape, rank, operations) {
    const { ranks, segments = 1 } = shape
    for (let segment = 0; segment < segments; segment++) {
      const partOf = (owner: number): number => segment * ranks + owner
      const part = partOf(rank)
      const total = operations.slot(rank, part)
      const places = new Array<number>(ranks).fill(part)
      for (let distance = 1; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const sent = partOf(destination)
        operations.send(rank, segment, destination).add(partialResult(sent), sent)
        places[source] = receiveStaged(operations, rank, segment, source, part)
      }
      if (ranks === 1) operations.copy(rank, segment).add(part, part, total)
      else combineTree(operations, shape, rank, segment, part, places, total)
      for (let distance = 1; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        operations.send(rank, segment + 1, destination).add(partialResult(part), total)
        operations.receive(rank, segment + 1, source)
        operations.add(partialResult(partOf(source)), operations.slot(rank, partOf(source)))
      }
    }
  },
}
