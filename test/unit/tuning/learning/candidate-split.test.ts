import { describe, expect, it } from 'vitest'
import { type CandidateSplit, candidateSplit } from '../../../../src/tuning/learning/learn-tree.js'
import { columnOf, type TrainingCase } from '../../../../src/tuning/learning/training-cases.js'

/** Cases of these sizes, or operations, and classes. */
function splitOf(
  values: readonly (number | string)[],
  classOf: readonly number[],
  minCases = 1,
): CandidateSplit | null {
  const cases = values.map((value, i): TrainingCase => {
    const call = { collective: 'reduce', nodes: 2, processesPerNode: 1, bytes: 0 } as const
    const given = typeof value === 'number' ? { bytes: value } : { operation: value }
    return { call: { ...call, ...given }, setting: classOf[i] }
  })
  const classes = Math.max(...classOf) + 1
  const counts = new Int32Array(classes)
  for (const one of classOf) counts[one]++
  const node = {
    indices: Int32Array.from(values.keys()),
    classOf: Int32Array.from(classOf),
    classes,
    counts,
    minCases,
  }
  return candidateSplit(node, columnOf(cases, typeof values[0] === 'number' ? 'bytes' : 'operation'))
}

/** Bits a case. */
const info = (...shares: readonly number[]) =>
  shares.reduce((sum, share) => sum - share * Math.log2(share), 0)

describe('the test of a number', () => {
  it('has the gain less the choice among thresholds, and its ratio to the information of the division', () => {
    const halves = splitOf([1, 2, 3, 4], [0, 0, 1, 1])!
    expect(halves.atMost).toBe(2)
    expect(halves.gain).toBeCloseTo(1 - Math.log2(3) / 4, 12)
    expect(halves.gainRatio).toBeCloseTo(halves.gain, 12)
    const quarter = splitOf([1, 2, 3, 4], [0, 1, 1, 1])!
    expect(quarter.atMost).toBe(1)
    expect(quarter.gain).toBeCloseTo(info(0.25, 0.75) - Math.log2(3) / 4, 12)
    expect(quarter.gainRatio).toBeCloseTo(quarter.gain / info(0.25, 0.75), 12)
  })

  it('counts a threshold once for equal values, of which none is divided', () => {
    const { atMost, gain } = splitOf([4, 1, 1, 4, 4, 4], [1, 0, 0, 1, 1, 1])!
    expect(atMost).toBe(1)
    expect(gain).toBeCloseTo(info(1 / 3, 2 / 3), 12)
  })

  it('needs minCases cases on both sides, or a tenth of them per class, at most 25', () => {
    expect(splitOf([1, 2, 3, 4], [0, 1, 1, 1], 2)?.atMost).toBe(2)
    expect(splitOf([1, 2, 3], [0, 1, 1], 2)).toBeNull()
    const many = Array.from({ length: 100 }, (_, i) => i)
    // A twentieth of 100 cases are needed on either side.
    const atEdge = (edge: number) =>
      splitOf(
        many,
        many.map((i) => (i < edge ? 0 : 1)),
      )!.atMost
    expect([atEdge(5), atEdge(6)]).toEqual([4, 5])
    expect(atEdge(3)).toBe(4)
    const more = Array.from({ length: 1000 }, (_, i) => i)
    expect(
      splitOf(
        more,
        more.map((i) => (i < 25 ? 0 : 1)),
      )!.atMost,
    ).toBe(24)
    expect(
      splitOf(
        more,
        more.map((i) => (i < 20 ? 0 : 1)),
      )!.atMost,
    ).toBe(24)
  })

  it('is null where nothing is gained, or less than the choice costs', () => {
    expect(splitOf([1, 1, 1, 1], [0, 1, 0, 1])).toBeNull()
    expect(splitOf([1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1])).toBeNull()
    expect(splitOf([7], [0])).toBeNull()
  })
})

describe('the test of a word', () => {
  it('has a branch for every word, and pays no choice', () => {
    const split = splitOf(['a', 'a', 'b', 'c'], [0, 0, 1, 1], 1)!
    expect(split.gain).toBeCloseTo(1, 12)
    expect(split.gainRatio).toBeCloseTo(1 / info(0.5, 0.25, 0.25), 12)
  })

  it('needs minCases cases in two branches', () => {
    expect(splitOf(['a', 'a', 'b', 'c'], [0, 0, 1, 1], 2)).toBeNull()
    expect(splitOf(['a', 'a', 'b', 'b', 'c'], [0, 0, 1, 1, 1], 2)).not.toBeNull()
  })

  it('is null where nothing is gained', () => {
    expect(splitOf(['a', 'b', 'a', 'b'], [0, 0, 1, 1])).toBeNull()
    expect(splitOf(['a', 'a'], [0, 1])).toBeNull()
  })
})
