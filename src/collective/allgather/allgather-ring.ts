import type { Algorithm } from '../patterns/algorithm.js'

/**
 * An allgather around a ring: in every step a rank hands the block that it received last to the rank after it. It takes
 * P - 1 phases for one segment, and each further segment follows a phase later; P(P - 1) messages per segment between
 * neighbors only, every block over every link but one.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.6 (ring)
 */
export const allgatherRing: Algorithm = {
  id: 'allgather-ring',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.6 (ring)',
    phases: 'P - 1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'long blocks, neighbors only',
  },
  emit({ ranks, segments = 1 }, rank, operations) {
    const before = (rank - 1 + ranks) % ranks
    for (let segment = 0; segment < segments; segment++) {
      const blockOf = (origin: number): number => ((origin + ranks) % ranks) * segments + segment
      const own = blockOf(rank)
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
      for (let step = 0; step < ranks - 1; step++) {
        const [sent, received] = [blockOf(rank - step), blockOf(before - step)]
        operations.send(rank, segment + step, (rank + 1) % ranks)
        operations.add(sent, step === 0 ? segment : operations.slot(rank, sent))
        operations.receive(rank, segment + step, before).add(received, operations.slot(rank, received))
      }
    }
  },
}
