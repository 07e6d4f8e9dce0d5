import { expect, it } from 'vitest'
import { combinerOf, foldRanks, NumberFold } from '../../../../src/calls/values/fold.js'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import { readyNumberOperation } from '../../../../src/messages/datatype/operation.js'

it.each([1, 2, 3, 4, 5, 7, 8, 16, 33, 100])(
  'numbers of %i ranks are combined to the bits of the tree over ranks',
  (ranks) => {
    for (const name of ['sum', 'prod', 'min', 'max'] as const) {
      const operation = readyNumberOperation(name)
      if (operation.kind !== 'kernel') throw new Error('expected a kernel')
      const fold = new NumberFold(operation.kernel, ranks)
      for (let round = 0; round < 3; round++) {
        const numbers = Float64Array.from(
          { length: ranks + 2 },
          (_, i) => Math.sin(i * 7 + round) * 10 ** (i % 9),
        )
        const values = Array.from(numbers, (number) => Float64Array.of(number))
        const combiner = combinerOf(operation, typeCode.Float64Array, 1)
        const { value } = foldRanks(combiner, { values, owned: false }, 2, ranks)
        expect(fold.fold(numbers, 2)).toBe((value as Float64Array)[0])
      }
    }
  },
)
