import { describe, expect, it } from 'vitest'
import {
  boundedProbabilities,
  callDraw,
  cumulativeSums,
  type ProbabilityBounds,
  placeOfDraw,
} from '../../../../src/tuning/online/grid-selection.js'

const inverse = (...timesUs: number[]) => timesUs.map((time) => 1 / time)
const printed = inverse(10, 20, 40, 80, 160, 1000, 2000, 5000)
const fixed = (values: Float64Array) => [...values].map((value) => value.toFixed(4).slice(1)).join(' ')

describe('probabilities', () => {
  it('without bounds are in proportion to weights (Steiner 2023, table 4.2)', () => {
    const shares = boundedProbabilities([6, 4, 2, 2, 4, 2], { kind: 'none' })
    expect([...shares].map((share) => Number(share.toFixed(12)))).toEqual([0.3, 0.2, 0.1, 0.1, 0.2, 0.1])
    const sums = cumulativeSums(shares)
    const choose = (drawn: number) => `A${placeOfDraw(sums, drawn) + 1}`
    expect(choose(0.645)).toBe('A4')
    expect([0, 0.3, 0.300001, 0.95, 1].map(choose)).toEqual(['A1', 'A1', 'A2', 'A6', 'A6'])
  })

  it.each<[ProbabilityBounds['kind'], string]>([
    ['none', '.5116 .2558 .1279 .0640 .0320 .0051 .0026 .0010'],
    ['literal', '.4674 .2392 .1196 .0598 .0299 .0280 .0280 .0280'],
    ['projected', '.4693 .2347 .1173 .0587 .0300 .0300 .0300 .0300'],
  ])('%s of eight times', (kind, expected) => {
    expect(fixed(boundedProbabilities(printed, { kind }))).toBe(expected)
  })

  it.each([
    [8, 'literal', 0.7042, 0.0423],
    [8, 'projected', 0.5, 0.0714],
    [22, 'literal', 0.4425, 0.0265],
    [22, 'projected', 0.37, 0.03],
  ] as const)('of %i settings, one dominant, %s', (count, kind, first, others) => {
    const weights = Array.from({ length: count }, (_, i) => (i === 0 ? 1 : 0.001))
    const [most, ...rest] = boundedProbabilities(weights, { kind })
    expect(most).toBeCloseTo(first, 4)
    for (const share of rest) expect(share).toBeCloseTo(others, 4)
  })

  it('projected stay within bounds, which give way where there are too many or too few settings', () => {
    for (const count of [1, 2, 3, 8, 22, 33, 34, 100]) {
      const weights = Array.from({ length: count }, (_, i) => 1 / (1 + i) ** 3)
      const shares = boundedProbabilities(weights)
      const [low, high] = [Math.min(0.03, 1 / count), Math.max(0.5, 1 / count)]
      expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1, 12)
      for (const share of shares) {
        expect(share).toBeGreaterThan(low - 1e-9)
        expect(share).toBeLessThan(high + 1e-9)
      }
    }
  })

  it('of weight 0 are the least', () => {
    const [, unknown] = boundedProbabilities([1, 0, 1, 1])
    expect(unknown).toBeCloseTo(0.03, 9)
  })

  it.each([[[]], [[0, 0]], [[1, -1]], [[Number.NaN, 1]], [[Number.POSITIVE_INFINITY, 1]]])(
    'of %j are refused',
    (weights) => {
      expect(() => boundedProbabilities(weights)).toThrow(/ERR_ARGUMENT|expected weights/)
    },
  )

  it('are met by 10^6 draws within three standard deviations', () => {
    const shares = boundedProbabilities(printed)
    const sums = cumulativeSums(shares)
    const counts = new Float64Array(shares.length)
    const draws = 1_000_000
    for (let call = 0; call < draws; call++) counts[placeOfDraw(sums, callDraw(2023, 5, call, 7))]++
    for (const [i, share] of shares.entries())
      expect(Math.abs(counts[i] - draws * share)).toBeLessThan(3 * Math.sqrt(draws * share * (1 - share)))
  })
})

describe('the draw of a call', () => {
  it('depends on every argument, and on nothing else', () => {
    const drawn = [
      callDraw(1, 2, 3, 4),
      callDraw(2, 2, 3, 4),
      callDraw(1, 3, 3, 4),
      callDraw(1, 2, 4, 4),
      callDraw(1, 2, 3, 5),
    ]
    expect(new Set(drawn).size).toBe(drawn.length)
    expect(callDraw(1, 2, 3, 4)).toBe(drawn[0])
    for (const value of drawn) {
      expect(value).toBeGreaterThanOrEqual(0)
      expect(value).toBeLessThan(1)
    }
  })

  it('is not related between neighboring communicators and calls', () => {
    const pairs = 200_000
    let product = 0
    for (let call = 0; call < pairs; call++)
      product += (callDraw(9, 0, call, 7) - 0.5) * (callDraw(9, 1, call, 7) - 0.5) * 12
    expect(Math.abs(product / pairs)).toBeLessThan(3 / Math.sqrt(pairs))
  })
})
