import { describe, expect, it } from 'vitest'
import {
  isEnough,
  repetitionsOfRound,
  type StoppingRule,
  timeInterval,
} from '../../../src/measure/measure-calls.js'

const rule: StoppingRule = { precision: 0.05, repetitions: 20, budgetMs: 100 }
const times = (n: number, spread: number) => Array.from({ length: n }, (_, i) => 100 + (i % 2) * spread)

describe('a point is repeated', () => {
  it('until half its interval is narrow enough, and at least 6 times', () => {
    expect(isEnough(rule, times(5, 0), 100, 0)).toBe(false)
    expect(isEnough(rule, times(6, 0), 100, 0)).toBe(true)
    expect(isEnough(rule, times(6, 10), 100, 0)).toBe(true)
    expect(isEnough(rule, times(6, 10.1), 100, 0)).toBe(false)
  })

  it('longer where the median without the barrier is short', () => {
    expect(isEnough(rule, times(6, 10), 99, 0)).toBe(false)
  })

  it('no longer than its budgets last', () => {
    expect(isEnough(rule, times(20, 90), 100, 0)).toBe(true)
    expect(isEnough(rule, times(6, 90), 100, 99)).toBe(false)
    expect(isEnough(rule, times(6, 90), 100, 100)).toBe(true)
  })

  it('for four budgets until its median has an interval, and at least one round', () => {
    expect(isEnough(rule, times(5, 0), 100, 399)).toBe(false)
    expect(isEnough(rule, times(1, 0), 100, 400)).toBe(true)
    expect(isEnough(rule, [], 100, 400)).toBe(false)
    expect(isEnough({ ...rule, repetitions: 2 }, times(2, 0), 100, 0)).toBe(true)
  })
})

describe('a round', () => {
  it('has few repetitions of long calls, many of short ones, and never more than are left', () => {
    expect(repetitionsOfRound(rule, [])).toBe(2)
    expect(repetitionsOfRound(rule, [5000])).toBe(1)
    expect(repetitionsOfRound(rule, [500])).toBe(4)
    expect(repetitionsOfRound({ ...rule, repetitions: 1024 }, [1])).toBe(32)
    expect(
      repetitionsOfRound(
        rule,
        times(18, 0).map(() => 1),
      ),
    ).toBe(2)
    expect(repetitionsOfRound({ ...rule, repetitions: 1 }, [])).toBe(1)
  })
})

it('the interval of times is their range where they are too few for another one', () => {
  expect(timeInterval([3, 1, 2])).toEqual([1, 3])
  expect(timeInterval([9, 1, 2, 3, 4, 5, 6, 7, 8])).toEqual([2, 8])
})
