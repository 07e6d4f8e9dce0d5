import { expect, it } from 'vitest'
import { largestOf, medianOf, smallestOf } from '../../../src/base/search.js'

it('extrema of many values, few and none are those of Math', () => {
  for (const values of [[], [3], [-1, 7, -0, 0], [Number.NaN, 1]]) {
    expect(largestOf(values)).toBe(Math.max(...values))
    expect(smallestOf(values)).toBe(Math.min(...values))
  }
  const many = Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 200_000)
  expect(largestOf(many)).toBe(199_999)
  expect(smallestOf(many)).toBe(0)
})

it.each([
  [[], Number.NaN],
  [[3], 3],
  [[10, 9], 9],
  [[10, 9, 1], 9],
  [[4, 1, 3, 2], 2],
])('the median of %j is %d', (values, expected) => {
  expect(medianOf(values)).toBe(expected)
})
