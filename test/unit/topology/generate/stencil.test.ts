import { cartTopology, mooreTopology } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import {
  type StencilShape,
  stencilOffsets,
  stencilTopology,
} from '../../../../src/topology/generate/stencil.js'
import { distinctOut, inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { checkTopology } from '../../../../src/topology/process-topology.js'
import { thrown } from '../thrown.js'

test.each<[StencilShape, number, number, number]>([
  ['star', 2, 1, 4],
  ['star', 2, 2, 8],
  ['star', 3, 4, 24],
  ['box', 2, 1, 8],
  ['box', 3, 1, 26],
  ['diamond', 2, 2, 12],
  ['diamond', 3, 1, 6],
  ['diamond', 1, 5, 10],
])(
  'stencilOffsets of %s in %i dimensions, radius %i: %i offsets, in order',
  (shape, dimensions, radius, count) => {
    const offsets = stencilOffsets(shape, dimensions, radius)
    expect(offsets).toHaveLength(count)
    const flat = offsets.map((offset) => offset.reduce((place, step) => place * 100 + step, 0))
    expect(flat).toEqual([...new Set(flat)].sort((a, b) => a - b))
  },
)

test.each([false, true])(
  'stencilTopology of a box is a Moore neighborhood, of a star a grid (periodic: %s)',
  (periodic) => {
    const dims = [5, 6, 7]
    const periods = dims.map(() => periodic)
    const box = stencilTopology({ dims, periods, offsets: stencilOffsets('box', 3, 2) })
    const moore = mooreTopology({ dims, radius: 2, periodic })
    expect([box.outStart, box.outRank]).toEqual([moore.outStart, moore.outRank])
    const star = stencilTopology({ dims, periods, offsets: stencilOffsets('star', 3, 1) })
    expect(distinctOut(star)).toEqual(distinctOut(cartTopology({ dims, periods })))
  },
)

test('stencilTopology orders sources by the offsets that lead from them', () => {
  const topology = stencilTopology({
    dims: [3, 4],
    periods: [false, true],
    offsets: [
      [1, 2],
      [0, -1],
      [-1, 0],
    ],
  })
  checkTopology(topology)
  expect([...outNeighbors(topology, 5)]).toEqual([11, 4, 1])
  expect([...inNeighbors(topology, 5)]).toEqual([3, 6, 9])
  expect([...outNeighbors(topology, 0)]).toEqual([6, 3])
})

test('stencilTopology makes an edge of every offset, even if a short dimension wraps', () => {
  const topology = stencilTopology({ dims: [2], periods: [true], offsets: [[1], [-1], [2]] })
  checkTopology(topology)
  expect([...outNeighbors(topology, 0)]).toEqual([1, 1, 0])
})

describe('stencilTopology and stencilOffsets reject', () => {
  test.each([
    () => stencilOffsets('blob' as StencilShape, 2, 1),
    () => stencilOffsets('star', 0, 1),
    () => stencilOffsets('star', 2, 0),
    () => stencilOffsets('box', 8, 100),
    () => stencilOffsets('box', 1, Number.NaN),
    () => stencilTopology({ dims: [], offsets: [] }),
    () => stencilTopology({ dims: [0], offsets: [] }),
    () => stencilTopology({ dims: [4, 4], offsets: [[1]] }),
    () => stencilTopology({ dims: [4], offsets: [[0.5]] }),
    () => stencilTopology({ dims: [4], offsets: [[2 ** 40]] }),
    () => stencilTopology({ dims: [4], periods: [], offsets: [[1]] }),
  ])('%s', (make) => {
    expect(thrown(make).code).toBe('ERR_DIMS')
  })

  test('more edges than a topology may have', () => {
    const offsets = stencilOffsets('box', 2, 10)
    expect(thrown(() => stencilTopology({ dims: [4096, 4096], offsets })).code).toBe('ERR_TOPOLOGY')
  })
})
