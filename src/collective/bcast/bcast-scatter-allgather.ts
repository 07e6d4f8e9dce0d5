import type { Algorithm } from '../patterns/algorithm.js'
import { ceilLog2, piecesScattered, scatterPieces } from '../patterns/rank-operations.js'

/**
 * A broadcast of P pieces: the root scatters them down a binomial tree, then they go around the ring. A rank does not
 * get pieces that it forwarded in the tree. It takes ceil(lg P) + P - 1 phases; every rank receives the data once, and
 * the root sends it twice, less 2 / P.
 *
 * @see Barnett, Gupta, Payne, Shuler, van de Geijn, Watts 1994, Interprocessor Collective Communication Library;
 *   Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH
 */
export const bcastScatterAllgather: Algorithm = {
  id: 'bcast-scatter-allgather',
  collective: 'bcast',
  catalog: {
    source: 'Barnett et al. 1994; Thakur et al. 2005',
    phases: 'L + P - 1',
    messages: 'about P^2 - P L/2',
    sent: '2(P - 1)/P',
    serves: 'long data',
  },
  parts: ({ ranks, segments = 1 }) => ranks * segments,
  emit({ ranks, root = 0, segments = 1 }, rank, operations) {
    const vrank = (rank - root + ranks) % ranks
    const peer = (other: number): number => (other + root) % ranks
    const levels = ceilLog2(ranks)
    for (let segment = 0; segment < segments; segment++) {
      const addPieces = (first: number, count: number): void => {
        for (let piece = first; piece < first + count; piece++) {
          const part = segment * ranks + piece
          operations.add(part, vrank === 0 ? part : operations.slot(rank, part))
        }
      }
      const scattered = piecesScattered(ranks, vrank)
      scatterPieces(operations, { ranks, rank, vrank, phase: segment }, peer, addPieces)
      const next = (vrank + 1) % ranks
      for (let step = 0; step < ranks - 1; step++) {
        const phase = segment + levels + step
        // The pieces count down from the rank's own one. It has those of as many ranks after it as it forwarded.
        if (ranks - 1 - step >= piecesScattered(ranks, next)) {
          operations.send(rank, phase, peer(next))
          addPieces((vrank - step + ranks) % ranks, 1)
        }
        if (ranks - 1 - step >= scattered) {
          operations.receive(rank, phase, peer((vrank - 1 + ranks) % ranks))
          addPieces((vrank - 1 - step + ranks) % ranks, 1)
        }
      }
    }
  },
}
