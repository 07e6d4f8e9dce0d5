import { expect, test } from 'vitest'
import { blockBounds } from '../../../src/topology/compressed-rows.js'
import { thrown } from './thrown.js'

test.each([
  [10, 1, [0, 10]],
  [10, 3, [0, 4, 7, 10]],
  [12, 4, [0, 3, 6, 9, 12]],
  [2, 4, [0, 1, 2, 2, 2]],
  [0, 2, [0, 0, 0]],
])('blockBounds distributes %i elements over %i parts', (count, parts, bounds) => {
  expect([...blockBounds(count, parts)]).toEqual(bounds)
})

test.each([
  [-1, 2],
  [2.5, 2],
  [2 ** 31, 2],
  [3, 0],
  [3, 1.5],
  [8, 2 ** 24 + 1],
  [8, 1e300],
])('blockBounds rejects %s elements in %s parts', (count, parts) => {
  expect(thrown(() => blockBounds(count, parts)).code).toBe('ERR_ARGUMENT')
})
