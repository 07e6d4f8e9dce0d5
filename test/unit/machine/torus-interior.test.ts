import { describe, expect, test } from 'vitest'
import { type Grid, torusInterior } from '../../../src/machine/interior.js'
import { linkLoads, steps } from './walk.js'

const grid = (dims: number[], wrap = '1'.repeat(dims.length)): Grid => ({
  dims,
  wraps: Array.from(wrap, (digit) => digit === '1'),
})

const grids = [
  ...[grid([1]), grid([2]), grid([2], '0'), grid([5]), grid([6], '0'), grid([4, 4]), grid([3, 5], '10')],
  ...[grid([2, 1, 3]), grid([4, 2, 3], '010'), grid([2, 2, 2, 2])],
]

describe.each(grids)('grid $dims, wraps $wraps', (shape) => {
  const { dims, wraps } = shape
  const interior = torusInterior(shape)
  const nodes = dims.reduce((product, extent) => product * extent, 1)

  test('every route is a walk from router to router, as long as the distance in every dimension', () => {
    let longest = 0
    for (let from = 0; from < nodes; from++) {
      for (let to = 0; to < nodes; to++) {
        if (from === to) continue
        const walk = steps(interior, from, to)
        let at = `router ${from}`
        for (const { name } of walk) {
          const [source, target] = name.split(' -> ')
          expect(source).toBe(at)
          at = target
        }
        expect(at).toBe(`router ${to}`)
        expect(walk).toHaveLength(distance(shape, from, to))
        longest = Math.max(longest, walk.length)
      }
    }
    expect(interior.longestPath).toBe(longest)
  })

  test('every link is between neighbors, and has a name and direction of its own but for doubled cables', () => {
    const names = Array.from({ length: interior.links }, (_, link) => interior.name(link))
    const cables = dims.reduce((sum, extent, d) => sum + (nodes / extent) * cablesOf(extent, wraps[d]), 0)
    expect(interior.links).toBe(2 * cables)
    const doubled = dims.reduce((sum, extent, d) => sum + (extent === 2 && wraps[d] ? nodes : 0), 0)
    expect(new Set(names).size).toBe(interior.links - doubled)
  })
})

test('the first dimension varies fastest, and routes go through it first', () => {
  const interior = torusInterior(grid([4, 3]))
  expect(steps(interior, 0, 9).map(({ name }) => name)).toEqual([
    'router 0 -> router 1',
    'router 1 -> router 9',
  ])
})

// Sack 2011, table of 512 = 8 x 8 x 8: bit 2 of a dimension is 4 hops away and loads links twice, bit 1
// twice, bit 0 once.
test.each([
  [1, 1],
  [2, 2],
  [4, 2],
])(
  'exchanges at distance %i in a wrapped dimension of 8 load no link more than %i times',
  (distance, load) => {
    const interior = torusInterior(grid([8, 8, 8]))
    for (const stride of [1, 8, 64])
      expect(Math.max(...linkLoads(interior, 512, (node) => node ^ (distance * stride)))).toBe(load)
  },
)

const cablesOf = (extent: number, wraps: boolean) => (extent === 1 ? 0 : wraps ? extent : extent - 1)

function distance({ dims, wraps }: Grid, from: number, to: number): number {
  let [sum, stride] = [0, 1]
  for (const [d, extent] of dims.entries()) {
    const apart = Math.abs((Math.floor(from / stride) % extent) - (Math.floor(to / stride) % extent))
    sum += wraps[d] ? Math.min(apart, extent - apart) : apart
    stride *= extent
  }
  return sum
}
