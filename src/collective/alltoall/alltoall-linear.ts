import { integerOption } from '../../base/option.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'

const parameters = {
  requests: {
    ...integerOption({ least: 0, most: 4096, help: 'most sends, and most receives, in progress; 0: all' }),
    default: 0,
  },
}

/**
 * An all-to-all by direct messages: every rank sends every other its block, the rank after it first. If all messages
 * start at once, it has one phase per segment. With at most n requests, message k starts when message k - n and those
 * before are complete, so it has a phase per message. It takes P(P - 1) messages per segment.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.7 (linear, linear with synchronization)
 */
export const alltoallLinear: Algorithm = parameterized({
  id: 'alltoall-linear',
  collective: 'alltoall',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.7 (linear)',
    phases: '1',
    messages: 'P(P - 1)',
    sent: 'P - 1',
    serves: 'few ranks',
  },
  parameters,
  emit({ ranks, segments = 1 }, rank, operations, { partStart }, { requests }) {
    for (let segment = 0; segment < segments; segment++) {
      const mine = rank * segments + segment
      for (let distance = 0; distance < ranks; distance++) {
        const [source, destination] = [(rank - distance + ranks) % ranks, (rank + distance) % ranks]
        const part = destination * segments + segment
        const received = partStart[source] + mine
        const slot = operations.slot(rank, source * segments + segment)
        if (distance === 0) {
          operations.copy(rank, segment).add(received, part, slot)
          continue
        }
        const phase = requests === 0 ? segment : segment * (ranks - 1) + distance - 1
        const after = requests === 0 ? -1 : phase - requests
        operations
          .send(rank, phase, destination)
          .after(after)
          .add(partStart[rank] + part, part)
        operations.receive(rank, phase, source).after(after).add(received, slot)
      }
    }
  },
})
