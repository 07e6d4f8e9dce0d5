import { describe, expect, it } from 'vitest'
import { treeText } from '../../../../bench/tuning/tree-text.js'
import { learnTree } from '../../../../src/tuning/learning/learn-tree.js'
import {
  type LeastPenaltyOptions,
  learnLeastPenaltyTree,
} from '../../../../src/tuning/learning/least-penalty-tree.js'
import { bestCases } from '../../../../src/tuning/learning/training-cases.js'
import { measuredData } from '../../../../src/tuning/measured/measured-data.js'
import type { Measurement } from '../../../../src/tuning/measured/measurement.js'
import { penaltyOf } from '../../../../src/tuning/measured/penalty.js'
import { type DecisionNode, treeLeaves, treeSelector } from '../../../../src/tuning/models/decision-tree.js'
import { refusal } from '../../../support/refusal.js'
import { gridData, integersTo, measurementOf, powersOfTwo } from '../../../support/tuning-data.js'

/** A row of times for each of the lengths 1, 2, 3...; NaN was not measured. */
function dataOf(rows: readonly (readonly number[])[], given: Partial<Measurement> = {}) {
  return measuredData(
    rows.flatMap((times, i) =>
      times.flatMap((timeUs, j) =>
        Number.isNaN(timeUs)
          ? []
          : [measurementOf({ algorithm: `bcast-${'abc'[j]}`, bytes: i + 1, timeUs, ...given })],
      ),
    ),
  )
}

const settingsOfLeaves = (data: ReturnType<typeof dataOf>, options?: LeastPenaltyOptions) =>
  treeLeaves(learnLeastPenaltyTree(data, options)).map(({ setting }) => setting)

describe('a tree of least penalty', () => {
  it('finds the rule of a map', () => {
    const data = gridData(integersTo(16), powersOfTwo(16), 3, (processes, bytes) =>
      processes % 2 === 1 ? 0 : bytes * processes <= 4096 ? 1 : 2,
    )
    const tree = learnLeastPenaltyTree(data)
    expect(penaltyOf(data, treeSelector(tree))).toMatchObject({ missing: 0, maxPercent: 0 })
    expect(
      treeText(tree)
        .split('\n')
        .map((line) => line.trim()),
    ).toHaveLength(4)
    expect(treeLeaves(tree).reduce((sum, { cases }) => sum + cases, 0)).toBe(256)
    expect(treeLeaves(tree).every(({ errors }) => errors === 0)).toBe(true)
  })

  it('gives a leaf what loses least, where C4.5 counts what is best most often', () => {
    // a is best four times by 10%, and takes five times as long once.
    const data = dataOf(
      [
        [10, 11],
        [10, 11],
        [10, 11],
        [10, 11],
        [50, 10],
      ].map((row) => [...row]),
    )
    const byCount = learnTree(bestCases(data), data.settings, { maxDepth: 0 }).tree
    expect(treeLeaves(byCount)).toMatchObject([{ setting: 0, cases: 5, errors: 1 }])
    expect(treeLeaves(learnLeastPenaltyTree(data, { maxDepth: 0 }))).toMatchObject([
      { setting: 1, cases: 5, errors: 4 },
    ])
  })

  it('leaves out tests that save less than the gain', () => {
    const data = dataOf([
      [10, 10.1],
      [10, 10.1],
      [10.1, 10],
      [10.1, 10],
    ])
    expect(settingsOfLeaves(data)).toEqual([0, 1])
    // In one leaf the mean penalty is 0.5%.
    expect(settingsOfLeaves(data, { gainPercent: 0.49 })).toEqual([0, 1])
    expect(settingsOfLeaves(data, { gainPercent: 0.51 })).toEqual([0])
    expect(settingsOfLeaves(data, { minCases: 3 })).toEqual([0])
  })

  it('keeps the standard where the intervals do not tell', () => {
    const rows = Array.from({ length: 16 }, () => [10, 9])
    const tree = (half: number, count: number) => {
      const lines = rows.slice(0, count).flatMap((times, i) =>
        times.map((timeUs, j) =>
          measurementOf({
            ...{ algorithm: `bcast-${'ab'[j]}`, bytes: i + 1, timeUs },
            intervalUs: [timeUs / half, timeUs * half],
          }),
        ),
      )
      return settingsOfLeaves(measuredData(lines), { standard: 0 })
    }
    expect(tree(1.01, 1)).toEqual([1])
    // One call by itself says nothing; sixteen that say the same do.
    expect(tree(1.2, 1)).toEqual([0])
    expect(tree(1.2, 16)).toEqual([1])
    expect(tree(1.5, 16)).toEqual([0])
    const faster = dataOf(rows.map(([a, b]) => [b, a]))
    expect(settingsOfLeaves(faster, { standard: 0 })).toEqual([0])
  })

  it('asks for more evidence the more settings there are, of which one is the fastest by chance', () => {
    const settingOf = (slow: number) => {
      const times = [10, 9, ...new Array<number>(slow).fill(20)]
      const lines = times.map((timeUs, j) =>
        measurementOf({
          ...{ algorithm: `bcast-${'abcdefghijklmnop'[j]}`, timeUs },
          intervalUs: [timeUs / 1.06, timeUs * 1.06],
        }),
      )
      return settingsOfLeaves(measuredData(lines), { standard: 0 })
    }
    expect(settingOf(0)).toEqual([1])
    expect(settingOf(14)).toEqual([0])
  })

  it('counts with the fallback where a setting has no time', () => {
    const data = dataOf([
      [10, 30, 20],
      [10, 30, 20],
      [NaN, 10, 20],
    ])
    const options = { maxDepth: 0 }
    // Without a fallback only b and c can decide all calls.
    expect(settingsOfLeaves(data, options)).toEqual([2])
    expect(settingsOfLeaves(data, { ...options, fallback: () => 1 })).toEqual([0])
  })

  it('tests words, and decides words that did not occur by all calls', () => {
    const data = measuredData(
      ['max', 'min', 'sum'].flatMap((operation, i) =>
        powersOfTwo(4).flatMap((bytes) =>
          [0, 1].map((j) =>
            measurementOf({
              algorithm: `bcast-${j}`,
              operation,
              bytes,
              timeUs: (i === 1 ? 1 : 0) === j ? 1 : 2,
            }),
          ),
        ),
      ),
    )
    const { root } = learnLeastPenaltyTree(data)
    const leaf = (setting: number): DecisionNode => ({ kind: 'leaf', setting, cases: 4, errors: 0 })
    expect(root).toEqual({
      kind: 'words',
      attribute: 'operation',
      branches: [
        { word: 'max', node: leaf(0) },
        { word: 'min', node: leaf(1) },
        { word: 'sum', node: leaf(0) },
      ],
      otherwise: { kind: 'leaf', setting: 0, cases: 0, errors: 0 },
    })
  })

  it('is one leaf of one call', () => {
    expect(learnLeastPenaltyTree(dataOf([[2, 1]]), { minCases: 1 }).root).toEqual({
      ...{ kind: 'leaf', setting: 1, cases: 1, errors: 0 },
    })
  })

  it.each<[string, LeastPenaltyOptions]>([
    ['minCases 0', { minCases: 0 }],
    ['a depth of 25', { maxDepth: 25 }],
    ['an unknown attribute', { attributes: ['color' as never] }],
    ['a gain below 0', { gainPercent: -1 }],
    ['a gain that is no number', { gainPercent: Number.NaN }],
  ])('is refused with %s', (_, options) => {
    expect(() => learnLeastPenaltyTree(dataOf([[1, 2]]), options)).toThrow(refusal('ERR_ARGUMENT'))
  })
})
