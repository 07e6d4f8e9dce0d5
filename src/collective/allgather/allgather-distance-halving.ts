import type { Algorithm } from '../patterns/algorithm.js'
import { onlyPowersOfTwo } from '../patterns/check-shape.js'

/**
 * An allgather by exchanges with the farthest rank first: in step k a rank and the one whose number differs in the k-th
 * highest bit exchange their 2^k blocks. So few bytes go far and many go near, which suits a tapered network. The
 * blocks of a message lie apart, so both ends copy them. It serves only powers of two. It takes lg P phases of P
 * messages per segment; every rank receives P - 1 blocks.
 *
 * @see Sack 2011 §3.3
 */
export const allgatherDistanceHalving: Algorithm = {
  id: 'allgather-distance-halving',
  collective: 'allgather',
  catalog: {
    source: 'Sack 2011 §3.3 (recursive doubling, highest bit first)',
    phases: 'L',
    messages: 'P L',
    sent: 'P - 1',
    serves: 'short blocks, tapered networks',
  },
  refuses: onlyPowersOfTwo,
  emit({ ranks, segments = 1 }, rank, operations) {
    for (let segment = 0; segment < segments; segment++) {
      const addEvery = (stride: number, of: number): void => {
        for (let origin = of % stride; origin < ranks; origin += stride) {
          const block = origin * segments + segment
          operations.add(block, origin === rank ? segment : operations.slot(rank, block))
        }
      }
      const own = rank * segments + segment
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
      for (let [phase, distance] = [segment, ranks / 2]; distance >= 1; phase++, distance /= 2) {
        const peer = rank ^ distance
        operations.send(rank, phase, peer)
        addEvery(2 * distance, rank)
        operations.receive(rank, phase, peer)
        addEvery(2 * distance, peer)
      }
    }
  },
}
