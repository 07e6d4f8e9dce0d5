import { describe, expect, it } from 'vitest'
import { medianInterval } from '../../../src/measure/median-interval.js'

const ascending = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

describe('the interval of a median', () => {
  // From tables of the sign test at two-sided 5%: k-th lowest and k-th highest.
  it.each([
    [6, 1],
    [8, 1],
    [9, 2],
    [12, 3],
    [15, 4],
    [20, 6],
    [25, 8],
    [50, 18],
    [100, 40],
    [1000, 469],
  ])('of %i times lies between the k-th from both ends, k = %i', (n, k) => {
    expect(medianInterval(ascending(n))).toEqual([k, n + 1 - k])
  })

  it.each([1, 2, 5])('of %i times, too few for 95%%, is their range', (n) => {
    expect(medianInterval(ascending(n))).toEqual([1, n])
  })

  it('holds the median of what is drawn in at least 95 of 100 samples', () => {
    let seed = 1
    const draw = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return seed / 2 ** 32
    }
    let hits = 0
    for (let sample = 0; sample < 2000; sample++) {
      const [low, high] = medianInterval(Array.from({ length: 17 }, draw).sort((a, b) => a - b))
      if (low <= 0.5 && high >= 0.5) hits++
    }
    expect(hits / 2000).toBeGreaterThan(0.95)
  })
})
