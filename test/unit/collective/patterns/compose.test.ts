import { describe, expect, test } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import type { Algorithm } from '../../../../src/collective/patterns/algorithm.js'
import { emitComponent } from '../../../../src/collective/patterns/compose.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { opKind, partialResult } from '../../../../src/schedule/ir.js'
import { faultsOf } from '../../../support/algorithm-checks.js'

const uncut = (collective: string) =>
  algorithms.filter((algorithm) => algorithm.collective === collective && algorithm.parts === undefined)

/** Of one segment. */
const phasesOf = (algorithm: Algorithm, ranks: number): number => scheduleOf(algorithm, { ranks }).phases

/** An allgather of two algorithms: all blocks of a segment travel together in the second one. */
function gatherThenBcast(gather: Algorithm, bcast: Algorithm): Algorithm {
  return {
    id: `allgather of ${gather.id} and ${bcast.id}`,
    collective: 'allgather',
    emit({ ranks, segments = 1 }, rank, operations, specification) {
      const shape = { ranks, segments }
      const placeOf = (segment: number, origin: number) => operations.slot(rank, origin * segments + segment)
      gather.emit(shape, rank, operations, specification)
      const component = {
        algorithm: bcast,
        shape,
        phase: phasesOf(gather, ranks),
        width: ranks,
        nameOf: (segment: number, origin: number) => origin * segments + segment,
        ownPlace: placeOf,
        slotPlace: placeOf,
      }
      emitComponent(operations, rank, component, specification)
    },
  }
}

/** An allreduce of two algorithms. */
function reduceThenBcast(reduce: Algorithm, bcast: Algorithm): Algorithm {
  return {
    id: `allreduce of ${reduce.id} and ${bcast.id}`,
    collective: 'allreduce',
    order: ({ ranks, segments = 1 }) => reduce.order!({ ranks, segments }),
    emit({ ranks, segments = 1 }, rank, operations, specification) {
      const shape = { ranks, segments }
      const placeOf = (part: number) => operations.slot(rank, part)
      reduce.emit(shape, rank, operations, specification)
      const component = {
        algorithm: bcast,
        shape,
        phase: phasesOf(reduce, ranks),
        nameOf: partialResult,
        ownPlace: placeOf,
        slotPlace: placeOf,
      }
      emitComponent(operations, rank, component, specification)
    },
  }
}

const composed = [
  ...uncut('gather').flatMap((gather) => uncut('bcast').map((bcast) => gatherThenBcast(gather, bcast))),
  ...uncut('reduce').flatMap((reduce) => uncut('bcast').map((bcast) => reduceThenBcast(reduce, bcast))),
]

describe.each(composed.map((algorithm) => [algorithm.id, algorithm] as const))('%s', (_, algorithm) => {
  test('does what its collective demands', () => {
    for (const ranks of [1, 2, 3, 5, 8]) {
      for (const segments of [1, 3])
        expect([ranks, segments, faultsOf(algorithm, { ranks, segments })]).toEqual([ranks, segments, []])
    }
  })
})

test('a copy from a place to itself is left out, with the operation that it would be', () => {
  const { opKind: kinds, opStart } = scheduleOf(gatherThenBcast(uncut('gather')[0]!, uncut('bcast')[0]!), {
    ranks: 3,
  })
  const copies = [0, 1, 2].map(
    (rank) => kinds.subarray(opStart[rank], opStart[rank + 1]).filter((kind) => kind === opKind.copy).length,
  )
  // The gather's copy of the root's own block alone.
  expect(copies).toEqual([1, 0, 0])
})
