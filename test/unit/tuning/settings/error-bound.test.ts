import { describe, expect, it } from 'vitest'
import { pessimisticErrors } from '../../../../src/tuning/learning/learn-tree.js'
import { refusal } from '../../../support/refusal.js'

describe('the pessimistic number of errors', () => {
  // Pjesivac-Grbovic 2007 Fig. 5.5 prints one digit of them.
  it.each([
    [12, 0, 1.309],
    [8, 1, 2.42],
    [100, 0, 1.377],
    [8, 0, 1.273],
    [2, 0, 1.0],
    [78, 0, 1.374],
    [5, 0, 1.211],
    [3, 0, 1.11],
  ])('of %i cases and %i errors at 25% is %d', (cases, errors, expected) => {
    const digits = String(expected).split('.')[1]?.length ?? 0
    expect(pessimisticErrors(cases, errors, 25)).toBeCloseTo(expected, digits)
  })

  /** The probability of at most `errors`, term by term. */
  function probability(errors: number, cases: number, share: number): number {
    let term = (1 - share) ** cases
    let sum = term
    for (let i = 1; i <= errors; i++) {
      term *= ((cases - i + 1) / i) * (share / (1 - share))
      sum += term
    }
    return sum
  }

  it.each([[50], [25], [15], [5], [0.1]])(
    'has as many errors or fewer with a probability of %d percent',
    (percent) => {
      for (const cases of [1, 2, 3, 7, 20, 60])
        for (let errors = 0; errors < cases; errors++) {
          const share = pessimisticErrors(cases, errors, percent) / cases
          expect(probability(errors, cases, share)).toBeCloseTo(percent / 100, 9)
        }
    },
  )

  it('grows with errors, with lower confidence and, for a share, with fewer cases', () => {
    for (const percent of [25, 5]) {
      const bounds = Array.from({ length: 31 }, (_, errors) => pessimisticErrors(30, errors, percent))
      expect(bounds).toEqual(bounds.toSorted((a, b) => a - b))
      expect(bounds.at(-1)).toBe(30)
    }
    expect(pessimisticErrors(40, 4, 5)).toBeGreaterThan(pessimisticErrors(40, 4, 25))
    expect(pessimisticErrors(10, 1, 25) / 10).toBeGreaterThan(pessimisticErrors(100, 10, 25) / 100)
  })

  it('is between the errors and the cases for many cases', () => {
    const bound = pessimisticErrors(2 ** 20, 2 ** 18, 25)
    expect(bound).toBeGreaterThan(2 ** 18)
    expect(bound).toBeLessThan(2 ** 18 * 1.01)
    expect(pessimisticErrors(0, 0, 25)).toBe(0)
  })

  it.each([0, -1, 50.5, Number.NaN])('%f%% is refused', (percent) => {
    expect(() => pessimisticErrors(8, 1, percent)).toThrow(refusal('ERR_ARGUMENT'))
  })
})
