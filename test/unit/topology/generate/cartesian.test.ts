import { describe, expect, test } from 'vitest'
import { coordsOf, sizeOf } from '../../../../src/topology/cart-shape.js'
import { cartSub, cartTopology } from '../../../../src/topology/generate/cartesian.js'
import { outNeighbors } from '../../../../src/topology/neighbors.js'
import { thrown } from '../thrown.js'

describe('cartTopology', () => {
  test('makes two self loops of a periodic extent of 1', () => {
    expect([...cartTopology({ dims: [1], periods: [true] }).outRank]).toEqual([0, 0])
  })

  test('makes a double edge of a periodic extent of 2', () => {
    expect([...cartTopology({ dims: [2], periods: [true] }).outRank]).toEqual([1, 1, 0, 0])
  })

  test('a border that does not wrap has no neighbor, and none of extent 1', () => {
    expect([...cartTopology({ dims: [3], periods: [false] }).outRank]).toEqual([1, 0, 2, 1])
    expect([...cartTopology({ dims: [1], periods: [false] }).outRank]).toEqual([])
  })

  test('dimensions come in order, behind before ahead', () => {
    const grid = cartTopology({ dims: [4, 4], periods: [true, true] })
    expect([...outNeighbors(grid, 5)]).toEqual([1, 9, 4, 6])
    expect([...outNeighbors(grid, 0)]).toEqual([12, 4, 3, 1])
  })

  test('rejects a malformed shape', () => {
    expect(thrown(() => cartTopology({ dims: [2, 2], periods: [] })).code).toBe('ERR_DIMS')
  })
})

describe('cartSub', () => {
  const shape = { dims: [2, 3, 4], periods: [true, false, true] }

  test.each([
    [[true, true, true]],
    [[false, true, true]],
    [[true, false, true]],
    [[false, false, true]],
    [[false, false, false]],
  ])('keeping %j, makes a whole grid of every color, in key order', (remain) => {
    const members = new Map<number, { key: number; kept: number[]; dropped: string }[]>()
    for (let rank = 0; rank < 24; rank++) {
      const { color, key } = cartSub(shape, remain, rank)
      const coords = coordsOf(shape, rank)
      const kept = coords.filter((_, d) => remain[d])
      const dropped = coords.filter((_, d) => !remain[d]).join()
      members.set(color, [...(members.get(color) ?? []), { key, kept, dropped }])
    }
    const { shape: sub } = cartSub(shape, remain, 0)
    expect(members.size * sizeOf(sub)).toBe(24)
    for (const grid of members.values()) {
      expect(new Set(grid.map(({ dropped }) => dropped)).size).toBe(1)
      const inOrder = grid.toSorted((a, b) => a.key - b.key)
      expect(inOrder.map(({ kept }) => kept)).toEqual(inOrder.map((_, rank) => coordsOf(sub, rank)))
    }
  })

  test('returns the remaining extents and periods', () => {
    expect(cartSub(shape, [true, false, true], 0).shape).toEqual({ dims: [2, 4], periods: [true, true] })
  })

  test('refuses a wrong number of flags, and a rank outside', () => {
    expect(thrown(() => cartSub(shape, [true], 0)).code).toBe('ERR_DIMS')
    expect(thrown(() => cartSub(shape, [true, true, true], 24)).code).toBe('ERR_RANK')
  })
})
