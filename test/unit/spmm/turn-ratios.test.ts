import { describe, expect, it } from 'vitest'
import { turnRatios, verdictOf } from '../../../src/spmm/product-times.js'

describe('verdictOf', () => {
  it.each([
    [[1.01, 2], 'faster'],
    [[0.5, 0.99], 'slower'],
    [[0.9, 1.1], 'no difference seen'],
    [[1, 1.5], 'no difference seen'],
    [[0.5, 1], 'no difference seen'],
    [null, 'no difference seen'],
  ] as const)('of a ratio in %j: %s', (interval, verdict) => {
    expect(verdictOf(interval)).toBe(verdict)
  })
})

describe('turnRatios', () => {
  const timed = (name: string, turnSeconds: readonly number[]) => ({
    name,
    turnSeconds,
    seconds: 0,
    localSeconds: 0,
    differing: 0,
  })
  // Other programs make turns up to ten times as long.
  const load = [1, 10, 2, 1, 5, 1, 3, 1, 1]

  it('pairs the times of a turn, so that load does not hide a difference', () => {
    const [direct, ordinary, same] = turnRatios([
      timed('planned', load),
      timed(
        'direct',
        load.map((seconds) => 1.5 * seconds),
      ),
      timed(
        'ordinary allgather',
        load.map((seconds) => 0.5 * seconds),
      ),
      timed('reversed', load.toReversed()),
    ])
    expect(direct).toEqual({ name: 'direct', ratio: 1.5, interval: [1.5, 1.5], verdict: 'faster' })
    expect(ordinary).toMatchObject({ ratio: 0.5, verdict: 'slower' })
    expect(same).toMatchObject({ ratio: 1, verdict: 'no difference seen' })
  })

  it('of five turns sees no difference', () => {
    const [direct] = turnRatios([timed('planned', [1, 1, 1, 1, 1]), timed('direct', [9, 9, 9, 9, 9])])
    expect(direct).toEqual({ name: 'direct', ratio: 9, interval: null, verdict: 'no difference seen' })
  })

  it('of one product compares nothing', () => {
    expect(turnRatios([timed('planned', [1])])).toEqual([])
  })
})
