import type { Algorithm } from './patterns/algorithm.js'

/**
 * All-to-all by direct messages, all at once: every rank sends every other its block, the rank after it
 * first. One phase and P(P - 1) messages per segment.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.7 (linear)
 */
export const alltoallLinear: Algorithm = {
  id: 'alltoall-linear',
  collective: 'alltoall',
  catalogue: {
    source: 'Pjesivac-Grbovic 2007, table 4.7 (linear)',
    phases: '1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'few ranks',
  },
  emit({ ranks, segments = 1 }, rank, operations, { partStart }) {
    for (let segment = 0; segment < segments; segment++) {
      const mine = rank * segments + segment
      for (let distance = 0; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const part = destination * segments + segment
        const received = partStart[source] + mine
        const slot = operations.slot(rank, source * segments + segment)
        if (distance === 0) operations.copy(rank, segment).add(received, part, slot)
        else {
          operations.send(rank, segment, destination).add(partStart[rank] + part, part)
          operations.receive(rank, segment, source).add(received, slot)
        }
      }
    }
  },
}
