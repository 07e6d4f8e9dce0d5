import { integerOption } from '../../base/option.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { parameterized } from '../patterns/parameterized.js'

/**
 * A broadcast along `fanout` chains of ranks that begin at the root, their lengths equal within one. It has as many
 * phases for one segment as the longest chain has ranks. Each further segment follows a phase later, so that every link
 * carries the data once and all links carry it at the same time. The default is one chain of all ranks.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.3 (pipeline); appendix A.1.2 (k-chain)
 */
export const bcastChain: Algorithm = parameterized({
  id: 'bcast-chain',
  collective: 'bcast',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.3 (pipeline)',
    phases: 'P - 1',
    messages: 'P - 1',
    sent: '1',
    serves: 'long data in many segments, few ranks',
  },
  parameters: {
    fanout: integerOption({ least: 1, most: 64, default: 1, help: 'chains that begin at the root' }),
  },
  emit({ ranks, root = 0, segments = 1 }, rank, operations, _, { fanout }) {
    const others = ranks - 1
    const chains = Math.min(fanout, others)
    const longest = Math.ceil(others / chains)
    /** The number of chains of the longest length, which come first. */
    const long = others - chains * (longest - 1)
    const rankOf = (vrank: number): number => (vrank + root) % ranks
    const headOf = (chain: number): number => 1 + chain * longest - Math.max(0, chain - long)
    const vrank = (rank - root + ranks) % ranks
    const isInLong = vrank <= long * longest
    const length = isInLong ? longest : longest - 1
    const position = (vrank - (isInLong ? 1 : headOf(long))) % length
    for (let segment = 0; segment < segments; segment++) {
      if (vrank === 0) {
        for (let chain = 0; chain < chains; chain++)
          operations.send(rank, segment, rankOf(headOf(chain))).add(segment, segment)
        continue
      }
      const place = operations.slot(rank, segment)
      const source = position === 0 ? root : rankOf(vrank - 1)
      operations.receive(rank, segment + position, source).add(segment, place)
      if (position < length - 1)
        operations.send(rank, segment + position + 1, rankOf(vrank + 1)).add(segment, place)
    }
  },
})
