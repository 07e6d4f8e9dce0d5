import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A gather by the root alone: every rank sends it its block. It takes one phase per segment; P - 1 messages each.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.5 (linear)
 */
export const gatherLinear: Algorithm = {
  id: 'gather-linear',
  collective: 'gather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.5 (linear)',
    phases: '1',
    messages: 'P - 1',
    sent: '1',
    serves: 'long blocks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const own = rank * segments + segment
      if (rank !== root) {
        operations.send(rank, segment, root).add(own, segment)
        continue
      }
      for (let distance = 1; distance < ranks; distance++) {
        const other = (root + distance) % ranks
        const block = other * segments + segment
        operations.receive(rank, segment, other).add(block, operations.slot(rank, block))
      }
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
    }
  },
}
