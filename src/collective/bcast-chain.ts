import type { Algorithm } from './patterns/algorithm.js'

/**
 * Broadcast along a chain of all ranks from the root on: P - 1 phases for one segment, and each further
 * segment follows a phase later, so that every link carries the data once and all links carry it at the same
 * time.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.3 (pipeline)
 */
export const bcastChain: Algorithm = {
  id: 'bcast-chain',
  collective: 'bcast',
  catalogue: {
    source: 'Pjesivac-Grbovic 2007, table 4.3 (pipeline)',
    phases: 'P - 1',
    messages: 'P - 1',
    sent: '1',
    serves: 'long data in many segments, few ranks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const position = (rank - root + ranks) % ranks
    for (let segment = 0; segment < segments; segment++) {
      const place = rank === root ? segment : operations.slot(rank, segment)
      if (position > 0)
        operations.receive(rank, position - 1 + segment, (rank - 1 + ranks) % ranks).add(segment, place)
      if (position < ranks - 1)
        operations.send(rank, position + segment, (rank + 1) % ranks).add(segment, place)
    }
  },
}
