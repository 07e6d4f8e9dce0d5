import type { Algorithm } from '../patterns/algorithm.js'

/**
 * A scatter by the root alone: it sends every rank its block. It takes one phase per segment; P - 1 messages each.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.4 (linear)
 */
export const scatterLinear: Algorithm = {
  id: 'scatter-linear',
  collective: 'scatter',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.4 (linear)',
    phases: '1',
    messages: 'P - 1',
    sent: 'P - 1',
    serves: 'long blocks',
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const slot = operations.slot(rank, segment)
      const own = rank * segments + segment
      if (rank !== root) {
        operations.receive(rank, segment, root).add(own, slot)
        continue
      }
      for (let distance = 1; distance < ranks; distance++) {
        const other = (root + distance) % ranks
        const part = other * segments + segment
        operations.send(rank, segment, other).add(part, part)
      }
      operations.copy(rank, segment).add(own, own, slot)
    }
  },
}
