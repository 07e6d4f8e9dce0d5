import { partialResult } from '../../schedule/ir.js'
import type { Algorithm } from '../patterns/algorithm.js'
import { emitComponent } from '../patterns/compose.js'
import { refusesPieces, treeLevels } from '../patterns/rank-tree.js'
import { reduceTree } from '../reduce/reduce-tree.js'
import { scatterBinomial } from '../scatter/scatter-binomial.js'

/**
 * A reduce-scatter by rank 0: `reduce-tree` of all blocks, then `scatter-binomial`. It takes 2 ceil(lg P) phases for
 * one segment, and each further segment follows a phase later; 2(P - 1) messages per segment, the fewest possible. The
 * result has the bits of `order: 'tree'`.
 *
 * @see Pjesivac-Grbovic 2007 §4.1 (reduce and scatter)
 */
export const reduceScatterBinomial: Algorithm = {
  id: 'reduce-scatter-binomial',
  collective: 'reduce-scatter',
  catalog: {
    source: 'Pjesivac-Grbovic 2007 §4.1 (reduce and scatter)',
    phases: '2 L',
    messages: '2(P - 1)',
    sent: '3P/2 - 1',
    serves: 'fewest messages, the default bits',
  },
  order: () => 'tree',
  refuses: refusesPieces,
  emit(whole, rank, operations, specification) {
    const { ranks, segments = 1 } = whole
    const shape = { ...whole, root: 0 }
    const partOf = (segment: number, owner: number): number => owner * segments + segment
    // Rank 0 has the totals. Its own are its result; the others leave from temporary places.
    const others = rank === 0 ? operations.stage(rank, (ranks - 1) * segments) - segments : 0
    const totalOf = (part: number): number => (part < segments ? operations.slot(rank, part) : others + part)
    const reduction = {
      algorithm: reduceTree,
      shape,
      phase: 0,
      width: ranks,
      nameOf: (name: number, owner: number) =>
        name < 0 ? partialResult(partOf(partialResult(name), owner)) : partOf(name, owner),
      ownPlace: partOf,
      slotPlace: (segment: number, owner: number) => totalOf(partOf(segment, owner)),
    }
    emitComponent(operations, rank, reduction, specification)
    const scatter = {
      algorithm: scatterBinomial,
      shape,
      phase: treeLevels(shape),
      nameOf: partialResult,
      ownPlace: totalOf,
      slotPlace: (segment: number) => operations.slot(rank, segment),
    }
    emitComponent(operations, rank, scatter, specification)
  },
}
