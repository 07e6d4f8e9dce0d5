import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2 } from '../patterns/rank-operations.js'

/**
 * An allgather by doubling for any number of ranks: in step k a rank sends its blocks, at most 2^k, to the rank 2^k
 * before it. It takes ceil(lg P) phases of P messages per segment; every rank receives P - 1 blocks. Blocks are
 * received in place, so nothing is rotated.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.6 (Bruck); Bruck, Ho, Kipnis, Upfal, Weathersby 1997, Efficient Algorithms
 *   for All-to-All Communications in Multiport Message-Passing Systems
 */
export const allgatherBruck: Algorithm = {
  id: 'allgather-bruck',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.6 (Bruck); Bruck et al. 1997',
    phases: 'L',
    messages: 'P L',
    sent: 'P - 1',
    serves: 'short blocks',
  },
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const add = (first: number, count: number): void => {
        for (let origin = first; origin < first + count; origin++) {
          const block = (origin % ranks) * segments + segment
          operations.add(block, origin === rank ? segment : operations.slot(rank, block))
        }
      }
      const own = rank * segments + segment
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
      for (let step = 0; step < ceilLog2(ranks); step++) {
        const distance = 2 ** step
        const count = Math.min(distance, ranks - distance)
        operations.send(rank, segment + step, (rank - distance + ranks) % ranks)
        add(rank, count)
        operations.receive(rank, segment + step, (rank + distance) % ranks)
        add(rank + distance, count)
      }
    }
  },
}
