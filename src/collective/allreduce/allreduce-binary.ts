import { partialResult } from '../../schedule/ir.js'
import { bcastBinary } from '../bcast/bcast-binary.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { emitComponent } from '../patterns/compose.js'
import { reduceBinary } from '../reduce/reduce-binary.js'

/**
 * An allreduce by rank 0: `reduce-binary`, then `bcast-binary`. It takes 2 floor(lg P) phases for one segment, and each
 * further segment follows a phase later; 2(P - 1) messages per segment, the fewest possible, and no rank receives the
 * data more than three times. It combines in the order of the tree.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast, binary)
 */
export const allreduceBinary: Algorithm = {
  id: 'allreduce-binary',
  collective: 'allreduce',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (reduce and broadcast, binary)',
    phases: '2 lg C',
    messages: '2(P - 1)',
    sent: 'at most 3',
    serves: 'data in segments',
  },
  order: () => 'any',
  emit({ ranks, segments = 1 }, rank, operations, specification) {
    const shape = { ranks, segments }
    reduceBinary.emit(shape, rank, operations, specification)
    const broadcast = {
      algorithm: bcastBinary,
      shape,
      phase: 31 - Math.clz32(ranks),
      nameOf: partialResult,
      ownPlace: (part: number) => operations.slot(rank, part),
      slotPlace: (part: number) => operations.slot(rank, part),
    }
    emitComponent(operations, rank, broadcast, specification)
  },
}
