import type { Algorithm } from '../patterns/algorithm.js'
import { onlyEven } from '../patterns/check-shape.js'

/**
 * An allgather by exchanges with both neighbors in turn: first of own blocks, then of the two blocks that came last. It
 * serves only even numbers of ranks. It takes P / 2 phases for one segment, and each further segment follows a phase
 * later; P^2 / 2 messages per segment between neighbors only.
 *
 * @see Pjesivac-Grbovic 2007 §4.1, table 4.6 (neighbor exchange)
 */
export const allgatherNeighborExchange: Algorithm = {
  id: 'allgather-neighbor-exchange',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007, table 4.6 (neighbor exchange)',
    phases: 'P/2',
    messages: 'P^2/2',
    sent: 'P - 1',
    serves: 'long blocks, neighbors only',
  },
  refuses: onlyEven,
  emit({ ranks, segments = 1 }, rank, operations) {
    const steps = ranks === 1 ? 0 : ranks / 2
    for (let segment = 0; segment < segments; segment++) {
      const add = (first: number, count: number): void => {
        for (let i = first; i < first + count; i++) {
          const origin = i % ranks
          const block = origin * segments + segment
          operations.add(block, origin === rank ? segment : operations.slot(rank, block))
        }
      }
      const own = rank * segments + segment
      operations.copy(rank, segment).add(own, segment, operations.slot(rank, own))
      for (let step = 0; step < steps; step++) {
        const { peer } = exchangeOf(ranks, rank, step)
        operations.send(rank, segment + step, peer)
        if (step === 0) add(rank, 1)
        else add(exchangeOf(ranks, rank, step - 1).pair, 2)
        operations.receive(rank, segment + step, peer)
        if (step === 0) add(peer, 1)
        else add(exchangeOf(ranks, rank, step).pair, 2)
      }
    }
  },
}

/**
 * Returns the neighbor of a step, and the first of the two blocks that a rank gets from it. Even ranks begin with the
 * neighbor after, odd ones with the one before. Every second step the blocks belong to a pair that is one pair further
 * on its side.
 */
function exchangeOf(
  ranks: number,
  rank: number,
  step: number,
): { readonly peer: number; readonly pair: number } {
  const side = rank % 2 === step % 2 ? 1 : -1
  const pair = rank - (rank % 2) + side * 2 * Math.ceil(step / 2)
  return { peer: (rank + side + ranks) % ranks, pair: (pair + ranks) % ranks }
}
