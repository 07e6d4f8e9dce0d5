import { describe, expect, test } from 'vitest'
import {
  cartNeighborSlots,
  cartShift,
  checkCartShape,
  coordsOf,
  procNull,
  rankOf,
  sizeOf,
} from '../../../src/topology/cart-shape.js'
import { refusal } from '../../support/refusal.js'
import { thrown } from './thrown.js'

const shape = { dims: [3, 4, 2], periods: [true, false, true] }

describe('coordinates', () => {
  test('number ranks row-major, the last dimension fastest', () => {
    const seen: number[][] = []
    for (let i = 0; i < 3; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 2; k++) seen.push([i, j, k])
    expect(seen.map((_, rank) => coordsOf(shape, rank))).toEqual(seen)
    expect(seen.map((coords) => rankOf(shape, coords))).toEqual([...seen.keys()])
    expect(sizeOf(shape)).toBe(24)
  })

  test('wrap in periodic dimensions, however far', () => {
    expect(rankOf(shape, [-1, 0, -1])).toBe(rankOf(shape, [2, 0, 1]))
    expect(rankOf(shape, [7, 3, 100])).toBe(rankOf(shape, [1, 3, 0]))
  })

  test('of a grid without dimensions are those of one rank', () => {
    const point = { dims: [], periods: [] }
    expect(sizeOf(point)).toBe(1)
    expect(coordsOf(point, 0)).toEqual([])
    expect(rankOf(point, [])).toBe(0)
    expect(cartNeighborSlots(point, 0)).toHaveLength(0)
  })

  test.each([
    [[0, 4, 0], 'coordinate 1: expected 0 to 3'],
    [[0, -1, 0], 'coordinate 1: expected 0 to 3'],
    [[0, 0.5, 0], 'coordinate 1'],
    [[Number.NaN, 0, 0], 'coordinate 0'],
    [[0, 0], 'expected 3 coordinates, got 2'],
  ])('are rejected: %j', (coords, message) => {
    expect(() => rankOf(shape, coords)).toThrow(refusal('ERR_DIMS', message))
  })

  test.each([-1, 24, 1.5, Number.NaN])('of rank %s are rejected', (rank) => {
    expect(thrown(() => coordsOf(shape, rank)).code).toBe('ERR_RANK')
  })
})

describe('cartShift', () => {
  test.each([-9, -3, -2, -1, 0, 1, 2, 3, 9])(
    'by %i is the rank at the shifted coordinates',
    (displacement) => {
      for (let rank = 0; rank < 24; rank++)
        for (let d = 0; d < 3; d++) {
          const at = (distance: number) => {
            const coords = coordsOf(shape, rank)
            coords[d] += distance
            const outside = !shape.periods[d] && (coords[d] < 0 || coords[d] >= shape.dims[d])
            return outside ? procNull : rankOf(shape, coords)
          }
          expect(cartShift(shape, rank, d, displacement)).toEqual({
            source: at(-displacement),
            dest: at(displacement),
          })
        }
    },
  )

  test('rejects bad arguments', () => {
    expect(thrown(() => cartShift(shape, 0, 3, 1)).code).toBe('ERR_DIMS')
    expect(thrown(() => cartShift(shape, 0, -1, 1)).code).toBe('ERR_DIMS')
    expect(thrown(() => cartShift(shape, 0, 0, 0.5)).code).toBe('ERR_DIMS')
    expect(thrown(() => cartShift(shape, 24, 0, 1)).code).toBe('ERR_RANK')
  })
})

test('cartNeighborSlots lists the neighbor behind, then ahead, per dimension; missing neighbors have a slot', () => {
  expect([...cartNeighborSlots({ dims: [2, 3], periods: [false, true] }, 0)]).toEqual([procNull, 3, 2, 1])
  expect([...cartNeighborSlots({ dims: [2, 3], periods: [false, true] }, 5)]).toEqual([2, procNull, 4, 3])
})

test.each([
  [{ dims: [2, 2], periods: [true] }, 'expected one period for each of the 2 dimensions, got 1'],
  [{ dims: [2, 0], periods: [true, true] }, 'dimension 1: expected an extent of at least 1, got 0'],
  [{ dims: [1.5], periods: [true] }, 'dimension 0'],
  [{ dims: [100_000, 100_000], periods: [true, true] }, 'got 10000000000'],
])('checkCartShape rejects the shape %j', (bad, message) => {
  expect(() => checkCartShape(bad)).toThrow(refusal('ERR_DIMS', message))
})
