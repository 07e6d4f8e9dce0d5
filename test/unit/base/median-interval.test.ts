import { describe, expect, it } from 'vitest'
import { medianInterval } from '../../../src/base/search.js'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe('medianInterval', () => {
  // Table of order statistics: the largest d with 2 P(Bin(n, 1/2) < d) <= 0.05.
  it.each([
    [6, 1],
    [8, 1],
    [9, 2],
    [12, 3],
    [15, 4],
    [20, 6],
    [25, 8],
    [100, 40],
  ])('of %i values runs from the %ith smallest to the same of the largest', (count, d) => {
    expect(medianInterval(upTo(count).reverse())).toEqual([d, count + 1 - d])
  })

  it.each([0, 1, 5])('of %i values does not exist', (count) => {
    expect(medianInterval(upTo(count))).toBeNull()
  })

  // Of these 1/2 to the power of their number is no number above 0; k by the normal distribution.
  it('of 10,000 values is as narrow as the normal distribution has it', () => {
    const [low, high] = medianInterval(upTo(10_000))!
    expect(Math.abs(low - (5000 - 1.96 * 50))).toBeLessThan(2)
    expect(high).toBe(10_001 - low)
  })

  it('holds the median of what is drawn in at least 95 of 100 samples', () => {
    let seed = 1
    const draw = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return seed / 2 ** 32
    }
    let hits = 0
    for (let sample = 0; sample < 2000; sample++) {
      const [low, high] = medianInterval(Array.from({ length: 17 }, draw))!
      if (low <= 0.5 && high >= 0.5) hits++
    }
    expect(hits / 2000).toBeGreaterThan(0.95)
  })
})
