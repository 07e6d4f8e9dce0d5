import type { Algorithm } from '../patterns/algorithm.js'

/**
 * An allgather by direct messages: every rank sends its block to every other. It takes one phase and P(P - 1) messages
 * per segment.
 *
 * @see Pjesivac-Grbovic 2007 §4.1
 */
export const allgatherLinear: Algorithm = {
  id: 'allgather-linear',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1',
    phases: '1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'few ranks',
  },
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const own = rank * segments + segment
      for (let distance = 1; distance < ranks; distance++) {
        const source = (rank - distance + ranks) % ranks
        const block = source * segments + segment
        operations.send(rank, segment, (rank + distance) % ranks).add(own, segment)
        operations.receive(rank, segment, source).add(block, operations.slot(rank, block))
      }
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
    }
  },
}
