import { expect, it } from 'vitest'
import { integerAmounts } from '../../../../src/topology/mapping/weighted-graph.js'

const pair = { start: Int32Array.of(0, 3), to: Int32Array.of(1, 2, 3) }
const integersOf = (...weight: number[]) => [
  ...integerAmounts({ ...pair, weight: Float64Array.from(weight) }).weight,
]

it.each([
  ['integers up to 1000 stay', [1, 7, 1000], [1, 7, 1000]],
  ['amounts below 1 keep their ratios', [0.002, 0.25, 0.5], [4, 500, 1000]],
  ['large amounts keep their ratios', [1e12, 5e11, 1], [1000, 500, 1]],
  ['the least amounts keep their ratios', [5e-324, 1e-323, 0], [500, 1000, 1]],
  ['amounts of 0 count 1', [0, 0, 0], [1, 1, 1]],
])('%s', (_, amounts, integers) => {
  expect(integersOf(...amounts)).toEqual(integers)
})
