import { expect, test } from 'vitest'
import { requireGrid } from '../../../../src/collective/patterns/participant-grid.js'
import { refusal } from '../../../support/refusal.js'

const grid = { dims: [2, 2], wraps: [true, false] }

test.each<[string, object | null, string]>([
  ['no object', null, 'extents and which of them wrap, got null'],
  ['no dimensions', { dims: [], wraps: [] }, '1 to 24 extents'],
  ['25 dimensions', { dims: Array(25).fill(1), wraps: Array(25).fill(true) }, '1 to 24 extents'],
  ['an extent of 0', { ...grid, dims: [2, 0] }, 'extents of at least 1, got 0'],
  ['half a place per node', { ...grid, perNode: 0.5 }, 'extents of at least 1, got 0.5'],
  ['one wrap for two dimensions', { ...grid, wraps: [true] }, 'whether each of 2 dimensions wraps'],
  ['wraps that are numbers', { ...grid, wraps: [1, 0] }, 'whether each of 2 dimensions wraps'],
  ['2^25 places', { ...grid, dims: [2 ** 12, 2 ** 13] }, 'at most 16777216 places, got 33554432'],
  ['fewer places than ranks', { ...grid, dims: [1, 2] }, 'at least 3 places, got 2'],
  [
    'places of two of three ranks',
    { ...grid, place: Int32Array.of(0, 1) },
    'a place of each of 3 participants',
  ],
  ['a place beyond the last', { ...grid, place: Int32Array.of(0, 1, 4) }, 'places from 0 to 3, got 4'],
  ['two ranks at one place', { ...grid, place: Int32Array.of(0, 3, 3) }, 'two at one, got 3'],
])('requireGrid refuses %s', (_, given, expected) => {
  const check = () => requireGrid('bcast-bucket', given as typeof grid, 3)
  expect(check).toThrow(refusal('ERR_ARGUMENT', expected))
})

test('requireGrid takes places without a rank', () => {
  expect(() => requireGrid('bcast-bucket', { ...grid, place: Int32Array.of(3, 0, 2) }, 3)).not.toThrow()
})
