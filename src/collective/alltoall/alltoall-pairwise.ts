import type { Algorithm } from '../patterns/algorithm.js'

/**
 * An all-to-all by steps: in step k every rank sends to the rank k after it and receives from the rank k before it. So
 * no rank receives from two at a time. It takes P - 1 phases for one segment, and each further segment follows a phase
 * later; P(P - 1) messages per segment.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.7 (pairwise)
 */
export const alltoallPairwise: Algorithm = {
  id: 'alltoall-pairwise',
  collective: 'alltoall',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.7 (pairwise)',
    phases: 'P - 1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'long blocks',
  },
  emit({ ranks, segments = 1 }, rank, operations, { partStart }) {
    for (let segment = 0; segment < segments; segment++) {
      const mine = rank * segments + segment
      operations.copy(rank, segment).add(partStart[rank] + mine, mine, operations.slot(rank, mine))
      for (let distance = 1; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const phase = segment + distance - 1
        const part = destination * segments + segment
        operations.send(rank, phase, destination).add(partStart[rank] + part, part)
        operations.receive(rank, phase, source)
        operations.add(partStart[source] + mine, operations.slot(rank, source * segments + segment))
      }
    }
  },
}
