import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2 } from '../patterns/rank-operations.js'

/**
 * An all-to-all by forwarding: a block that has to travel t ranks onward moves by 2^k in step k if bit k of t is set.
 * All such blocks at a rank move together. It takes ceil(lg P) phases of P messages per segment, each of about P / 2
 * blocks: every block is sent up to lg P times, so it suits short ones. Blocks keep their places, so nothing is
 * rotated.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.7 (Bruck); Bruck, Ho, Kipnis, Upfal, Weathersby 1997, Efficient Algorithms
 *   for All-to-All Communications in Multiport Message-Passing Systems
 */
export const alltoallBruck: Algorithm = {
  id: 'alltoall-bruck',
  collective: 'alltoall',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.7 (Bruck); Bruck et al. 1997',
    phases: 'L',
    messages: 'P L',
    sent: 'P L/2',
    serves: 'short blocks',
  },
  emit({ ranks, segments = 1 }, rank, operations, { partStart }) {
    for (let segment = 0; segment < segments; segment++) {
      const onward = (from: number, distance: number): number => (from + distance + ranks) % ranks
      /** By the whole distance that a block travels, the place of the block that still has to travel. */
      const places = new Int32Array(ranks)
      for (let way = 0; way < ranks; way++) places[way] = onward(rank, way) * segments + segment
      const own = places[0]
      operations.copy(rank, segment).add(partStart[rank] + own, own, operations.slot(rank, own))
      for (let step = 0; step < ceilLog2(ranks); step++) {
        const size = 2 ** step
        const source = onward(rank, -size)
        const blockAt = (holder: number, way: number): number => {
          const origin = onward(holder, -(way % size))
          return partStart[origin] + onward(origin, way) * segments + segment
        }
        operations.send(rank, segment + step, onward(rank, size))
        for (let way = size; way < ranks; way++) {
          if ((way & size) !== 0) operations.add(blockAt(rank, way), places[way])
        }
        operations.receive(rank, segment + step, source)
        for (let way = size; way < ranks; way++) {
          if ((way & size) === 0) continue
          const hasArrived = way < 2 * size
          places[way] = hasArrived
            ? operations.slot(rank, onward(rank, -way) * segments + segment)
            : operations.stage(rank)
          operations.add(blockAt(source, way), places[way])
        }
      }
    }
  },
}
