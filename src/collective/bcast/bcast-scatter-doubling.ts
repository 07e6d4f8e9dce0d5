import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2, scatterPieces } from '../patterns/rank-operations.js'

/**
 * A broadcast of P pieces: the root scatters them down a binomial tree, then groups of 2^k ranks exchange their pieces.
 * A rank does not get pieces that it forwarded in the tree. It takes 2 ceil(lg P) phases for one segment, and each
 * further segment follows a phase later; about P ceil(lg P) messages; every rank receives the data once.
 *
 * It serves any number of ranks, and folds none. If the last group of a step is smaller than its partner group, some
 * ranks of that have no partner. Those with a partner hand on what they got, by halving, in k more phases.
 *
 * @see Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH; Open MPI's
 *   `scatter_allgather`
 */
export const bcastScatterDoubling: Algorithm = {
  id: 'bcast-scatter-doubling',
  collective: 'bcast',
  catalog: {
    source: 'Thakur et al. 2005; Open MPI `scatter_allgather`',
    phases: 'at most 2 L + L(L - 1)/2',
    messages: 'about P L',
    sent: '2(P - 1)/P',
    serves: 'long data, powers of two',
  },
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const peer = (other: number): number => (other + root) % ranks
    for (let segment = 0; segment < segments; segment++) {
      const add = (first: number, count: number): void => {
        for (let piece = first; piece < first + count; piece++) {
          const part = segment * ranks + piece
          operations.add(part, vrank === 0 ? part : operations.slot(rank, part))
        }
      }
      const send = (phase: number, other: number, first: number, count: number): void => {
        operations.send(rank, phase, peer(other))
        add(first, count)
      }
      const receive = (phase: number, other: number, first: number, count: number): void => {
        operations.receive(rank, phase, peer(other))
        add(first, count)
      }
      scatterPieces(operations, { ranks, rank, vrank, phase: segment }, peer, add)
      let phase = segment + ceilLog2(ranks)
      for (let size = 1; size < ranks; size *= 2) {
        // The lower group, from `low` on, has all its ranks; the upper one, from `high` on, may lack some.
        const low = vrank - (vrank % (2 * size))
        const high = low + size
        const upper = Math.min(ranks - high, size)
        const other = vrank ^ size
        const isLow = vrank < high
        // The first rank of the lower group has forwarded the pieces of the upper one.
        if (isLow && other < ranks) {
          send(phase, other, low, size)
          if (vrank !== low) receive(phase, other, high, upper)
        } else if (!isLow) {
          if (other !== low) send(phase, other, high, upper)
          receive(phase, other, low, size)
        }
        phase++
        if (ranks % (2 * size) <= size) continue
        for (let half = size / 2; half >= 1; half /= 2, phase++) {
          if (!isLow || upper === size) continue
          const served = vrank - (vrank % (2 * half)) + upper
          const next = vrank ^ half
          if (vrank < served && next >= served) send(phase, next, high, upper)
          else if (next < served && vrank >= served) receive(phase, next, high, upper)
        }
      }
    }
  },
}
