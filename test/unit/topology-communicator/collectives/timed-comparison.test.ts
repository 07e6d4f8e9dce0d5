import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import {
  type ComparisonRules,
  TimedComparison,
} from '../../../../src/topology-communicator/collectives/timed-comparison.js'

const rules: ComparisonRules = { leastRounds: 5, mostRounds: 40, tie: 1.03, lead: 1.65 }

/** Who wins if a candidate takes `times[i]`, up to a share `noise` longer. */
function play(times: readonly number[], noise: number, seed = 1, given = rules) {
  const random = mulberry32(seed)
  const comparison = new TimedComparison(times.length, given)
  let turns = 0
  for (; comparison.chosen === null; turns++)
    comparison.agree(times[comparison.next] * (1 + (noise * random()) / 2 ** 32))
  return { chosen: comparison.chosen, turns, rounds: comparison.samples.map(({ length }) => length) }
}

describe('TimedComparison', () => {
  it('of one has its winner at once', () => {
    expect(new TimedComparison(1, rules).chosen).toBe(0)
  })

  it('times all in turn, and ends when the fastest is certain', () => {
    expect(play([3, 1, 2], 0)).toEqual({ chosen: 1, turns: 21, rounds: [7, 7, 7] })
  })

  it('continues with those that may still win', () => {
    const { chosen, rounds } = play([2, 1, 1, 5], 0.5)
    expect([1, 2]).toContain(chosen)
    expect(rounds[0]).toBeLessThan(40)
    expect(rounds[3]).toBe(7)
    expect([rounds[1], rounds[2]]).toEqual([40, 40])
  })

  it('ends after the most rounds, and a tie goes to the first', () => {
    expect(play([1.02, 1, 1.01], 0)).toMatchObject({ chosen: 0 })
    expect(play([1, 1, 1], 0.4, 2)).toMatchObject({ chosen: 0, rounds: [40, 40, 40] })
  })

  it.each([1, 2, 3, 4, 5])('finds what is 10%% faster behind noise of 30%%, seed %i', (seed) => {
    expect(play([1.1, 1], 0.3, seed).chosen).toBe(1)
    expect(play([1, 1.1], 0.3, seed).chosen).toBe(0)
  })

  it('with as many rounds at least as at most times all, and takes the least median', () => {
    const all = { leastRounds: 3, mostRounds: 3, tie: 1, lead: 0 }
    expect(play([1.01, 1, 7], 0, 1, all)).toEqual({ chosen: 1, turns: 9, rounds: [3, 3, 3] })
  })

  it('a lead of few rounds that chance explains goes to the first', () => {
    const comparison = new TimedComparison(2, { leastRounds: 5, mostRounds: 5, tie: 1, lead: 1.65 })
    // The second is faster in four of five rounds, and by the medians.
    for (const [first, second] of [
      [9, 8],
      [9, 8],
      [7, 9],
      [9, 8],
      [9, 8],
    ]) {
      comparison.agree(first)
      comparison.agree(second)
    }
    expect(comparison.chosen).toBe(0)
  })

  it('a clock that returns NaN leaves the first', () => {
    expect(play([Number.NaN, Number.NaN], 0)).toMatchObject({ chosen: 0 })
  })
})
