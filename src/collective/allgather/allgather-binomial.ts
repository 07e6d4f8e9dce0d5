import { bcastBinomial } from '../bcast/bcast-binomial.js'
import { gatherBinomial } from '../gather/gather-binomial.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { emitComponent } from '../patterns/compose.js'
import { ceilLog2 } from '../patterns/rank-operations.js'

/**
 * An allgather by rank 0: `gather-binomial`, then `bcast-binomial` of all blocks. It takes 2 ceil(lg P) phases for one
 * segment, and each further segment follows a phase later; 2(P - 1) messages per segment, the fewest possible.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (gather and broadcast)
 */
export const allgatherBinomial: Algorithm = {
  id: 'allgather-binomial',
  collective: 'allgather',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (gather and broadcast)',
    phases: '2 L',
    messages: '2(P - 1)',
    sent: 'P L',
    serves: 'fewest messages',
  },
  emit({ ranks, segments = 1 }, rank, operations, specification) {
    const shape = { ranks, segments }
    gatherBinomial.emit(shape, rank, operations, specification)
    const blockOf = (segment: number, origin: number): number => origin * segments + segment
    const placeOf = (segment: number, origin: number): number =>
      operations.slot(rank, blockOf(segment, origin))
    const broadcast = {
      algorithm: bcastBinomial,
      shape,
      phase: ceilLog2(ranks),
      width: ranks,
      nameOf: blockOf,
      ownPlace: placeOf,
      slotPlace: placeOf,
    }
    emitComponent(operations, rank, broadcast, specification)
  },
}
