import { expect, test } from 'vitest'
import { equalNumbers, firstNotBelow, indexIn, meanOf, quantile, rangeAt } from '../../../src/base/search.js'

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

test('firstNotBelow is the first place in a range whose value is not below another, else its end', () => {
  const list = Int32Array.of(1, 3, 3, 7)
  expect([0, 1, 2, 3, 4, 7, 8].map((value) => firstNotBelow(list, value, 0, 4))).toEqual([
    0, 0, 1, 1, 3, 3, 4,
  ])
  expect(firstNotBelow(list, 0, 2, 3)).toBe(2)
  expect(firstNotBelow(list, 9, 2, 2)).toBe(2)
})

test('equalNumbers compares lengths and values', () => {
  expect(equalNumbers([1, 2], Int32Array.of(1, 2))).toBe(true)
  expect(equalNumbers([1, 2], [1, 3])).toBe(false)
  expect(equalNumbers([1, 2], [1, 2, 3])).toBe(false)
})

test('meanOf and quantile: the mean, 0 of none; the median of an even number is between two', () => {
  expect([meanOf([]), meanOf(Float64Array.of(1, 2, 6))]).toEqual([0, 3])
  expect([0, 0.25, 0.5, 1].map((share) => quantile([1, 2, 4, 8], share))).toEqual([1, 1.75, 3, 8])
  expect(quantile([5], 0.5)).toBe(5)
})
