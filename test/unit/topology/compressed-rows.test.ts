import { expect, test } from 'vitest'
import { entriesByRow, rowStarts } from '../../../src/topology/compressed-rows.js'

test('entriesByRow lists the entries of every row in their order', () => {
  const rowOf = Int32Array.of(2, 0, 2, 3, 0, 2)
  const start = rowStarts(5, rowOf)
  expect([...start]).toEqual([0, 2, 2, 5, 6, 6])
  expect([...entriesByRow(start, rowOf)]).toEqual([1, 4, 0, 2, 5, 3])
  expect([...start]).toEqual([0, 2, 2, 5, 6, 6])
})
