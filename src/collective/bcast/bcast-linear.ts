import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A broadcast by the root alone: it sends every segment to every rank. It takes one phase per segment; P - 1 messages
 * each.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.3 (linear)
 */
export const bcastLinear: Algorithm = {
  id: 'bcast-linear',
  collective: 'bcast',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.3 (linear)',
    phases: '1',
    messages: 'P - 1',
    sent: 'P - 1',
    serves: 'few ranks, short data',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      if (rank !== root) operations.receive(rank, segment, root).add(segment, operations.slot(rank, segment))
      for (let distance = 1; rank === root && distance < ranks; distance++) {
        operations.send(rank, segment, (root + distance) % ranks).add(segment, segment)
      }
    }
  },
}
