import type { Algorithm } from '../patterns/algorithm.js'
import { onlyPowersOfTwo } from '../patterns/check-shape.js'

/**
 * An allgather by exchanges: in step k a rank and the one whose number differs in bit k exchange their 2^k consecutive
 * blocks. It serves only powers of two. It takes lg P phases of P messages per segment; every rank receives P - 1
 * blocks.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.6 (recursive doubling)
 */
export const allgatherRecursiveDoubling: Algorithm = {
  id: 'allgather-recursive-doubling',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.6 (recursive doubling)',
    phases: 'L',
    messages: 'P L',
    sent: 'P - 1',
    serves: 'short blocks',
  },
  refuses: onlyPowersOfTwo,
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const add = (first: number, count: number): void => {
        for (let origin = first; origin < first + count; origin++) {
          const block = origin * segments + segment
          operations.add(block, origin === rank ? segment : operations.slot(rank, block))
        }
      }
      const own = rank * segments + segment
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
      for (let step = 0; 2 ** step < ranks; step++) {
        const size = 2 ** step
        const peer = rank ^ size
        operations.send(rank, segment + step, peer)
        add(rank - (rank % size), size)
        operations.receive(rank, segment + step, peer)
        add(peer - (peer % size), size)
      }
    }
  },
}
