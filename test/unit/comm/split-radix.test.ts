import { describe, expect, it } from 'vitest'
import { sortedByColorAndKey } from '../../../src/comm/split/radix.js'
import { seededRandom } from '../../../src/fabric/random.js'

// Few ranks are put in their places, short tables sorted at once, long ones color by color unless there are many colors.
describe.each([40, 200, 5000, 300_000])('the order of %i ranks by color, key and rank', (count) => {
  it.each([1, 3, 50, 100_000])('with %i colors', (colors) => {
    const draw = seededRandom(count + colors)
    const color = Int32Array.from({ length: count }, () => Math.floor(draw() * colors))
    // Ties, and both signs.
    const key = Int32Array.from({ length: count }, () => Math.floor((draw() - 0.5) * 2000) * 2 ** 20)
    const ranks = Int32Array.from({ length: count }, (_, rank) => rank)
    const expected = ranks.slice().sort((a, b) => color[a]! - color[b]! || key[a]! - key[b]! || a - b)
    expect(sortedByColorAndKey(ranks, color, key)).toEqual(expected)
  })
})

it('an empty table', () => {
  expect(sortedByColorAndKey(new Int32Array(0), new Int32Array(0), new Int32Array(0))).toHaveLength(0)
})
