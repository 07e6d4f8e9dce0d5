import { expect, test } from 'vitest'
import { dimsCreate } from '../../../../src/topology/generate/cartesian.js'
import { refusal } from '../../../support/refusal.js'

test.each([
  // the examples of MPI-4.1 §8.5.2
  [6, 2, undefined, [3, 2]],
  [7, 2, undefined, [7, 1]],
  [6, 3, [0, 3, 0], [2, 3, 1]],
  // products where greedy prime by prime goes wrong
  [12, 2, undefined, [4, 3]],
  [72, 3, undefined, [6, 4, 3]],
  [96, 2, undefined, [12, 8]],
  [4096, 2, undefined, [64, 64]],
  [4096, 3, undefined, [16, 16, 16]],
  [4096, 4, undefined, [8, 8, 8, 8]],
  [1, 3, undefined, [1, 1, 1]],
  [1, 0, undefined, []],
  [24, 3, [4, 0, 0], [4, 3, 2]],
  [24, 2, [4, 6], [4, 6]],
  [2 ** 24, 24, undefined, new Array(24).fill(2)],
  [1, 2, [1, 0], [1, 1]],
  [6, 2, [6, 0], [6, 1]],
  [16_777_213, 3, undefined, [16_777_213, 1, 1]],
  [14_414_400, 6, undefined, [20, 20, 18, 14, 13, 11]],
])('dimsCreate of %i ranks in %i dimensions, fixed %j: %j', (nodes, ndims, fixed, expected) => {
  expect(dimsCreate(nodes, ndims, fixed)).toEqual(expected)
})

test('up to 400 ranks and 4 dimensions, no factorization is closer', () => {
  for (let nodes = 1; nodes <= 400; nodes++)
    for (let ndims = 1; ndims <= 4; ndims++)
      expect([nodes, dimsCreate(nodes, ndims)]).toEqual([nodes, closest(nodes, ndims)])
})

/** Exhaustive, in lexicographic order, so the first of equal spread stays. */
function closest(nodes: number, ndims: number): number[] {
  let best: number[] = []
  const visit = (rest: number, chosen: number[]): void => {
    if (chosen.length === ndims) {
      const spread = (dims: number[]) => dims[0] - dims[ndims - 1]
      if (rest === 1 && (best.length === 0 || spread(chosen) < spread(best))) best = chosen
      return
    }
    for (let factor = 1; factor <= Math.min(rest, chosen.at(-1) ?? rest); factor++)
      if (rest % factor === 0) visit(rest / factor, [...chosen, factor])
  }
  visit(nodes, [])
  return best
}

test.each([
  [0, 2, undefined, 'expected 1 to'],
  [6.5, 2, undefined, 'got 6.5'],
  [7, 3, [0, 3, 0], 'expected fixed extents whose product divides 7, got 0x3x0'],
  [7, 2, [3, 2], 'expected fixed extents whose product is 7, got 3x2'],
  [7, 0, undefined, 'expected fixed extents whose product is 7'],
  [7, 2, [0], 'expected 2 extents, 0 for free ones, got 1'],
  [7, 2, [0, -7], 'dimension 1: expected 0 or a fixed extent of at least 1, got -7'],
  [2 ** 31, 2, undefined, 'expected 1 to 16777216 ranks, got 2147483648'],
  [12, 3, [2 ** 53, 0, 2 ** 53], 'expected fixed extents whose product divides 12'],
  [12, 2, [Number.POSITIVE_INFINITY, 0], 'dimension 0: expected 0 or a fixed extent of at least 1'],
  [7, -1, [], 'expected 0 to 32 dimensions, got -1'],
  [8, 33, undefined, 'expected 0 to 32 dimensions, got 33'],
  [8, 1e300, undefined, 'expected 0 to 32 dimensions, got 1e+300'],
])('dimsCreate rejects %s ranks in %i dimensions, fixed %j', (nodes, ndims, fixed, message) => {
  expect(() => dimsCreate(nodes, ndims, fixed)).toThrow(refusal('ERR_DIMS', message))
})
