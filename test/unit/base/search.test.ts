import { expect, test } from 'vitest'
import { indexIn, rangeAt } from '../../../src/base/search.js'

test.each([[[]], [[4]], [[0, 2, 3, 9]]])('indexIn finds every value of %j, and no other', (values) => {
  const ascending = Int32Array.from(values)
  for (let value = -1; value < 11; value++)
    expect(indexIn(ascending, value)).toBe(values.indexOf(value as never))
})

test('rangeAt finds the range that holds a position, never an empty one', () => {
  const starts = Int32Array.of(0, 0, 3, 3, 4, 7, 7)
  const ranges = Array.from({ length: 7 }, (_, position) => rangeAt(starts, position))
  expect(ranges).toEqual([1, 1, 1, 3, 4, 4, 4])
  expect(rangeAt(Float64Array.from(starts), 5)).toBe(4)
})
