import { describe, expect, it } from 'vitest'
import { learnTree } from '../../../../src/tuning/learning/learn-tree.js'
import { bestCases, tolerantCases } from '../../../../src/tuning/learning/training-cases.js'
import {
  exactSelector,
  type MeasuredData,
  measuredData,
} from '../../../../src/tuning/measured/measured-data.js'
import { heldOutPenalty, penaltyOf } from '../../../../src/tuning/measured/penalty.js'
import { treeSelector } from '../../../../src/tuning/models/decision-tree.js'
import { callProcesses } from '../../../../src/tuning/settings/tuning-call.js'
import { bestAllgather } from '../../../support/grig-allgather.js'
import { refusal } from '../../../support/refusal.js'
import { gridData, integersTo, measurementOf, powersOfTwo, settingsOf } from '../../../support/tuning-data.js'

const learned = (data: MeasuredData) => treeSelector(learnTree(bestCases(data), data.settings).tree)

describe('the penalty on held-out numbers of processes', () => {
  const data = gridData(integersTo(34, 3), powersOfTwo(14), 4, bestAllgather, 'allgather')

  it('is of every call, decided by what was learned without its number of processes', () => {
    const seen: number[][] = []
    const report = heldOutPenalty(
      data,
      (training) => {
        seen.push([...new Set(training.calls.map(callProcesses))])
        return learned(training)
      },
      { folds: 4 },
    )
    expect(report.folds.map(({ processes }) => processes.slice(0, 3))).toEqual([
      [3, 7, 11],
      [4, 8, 12],
      [5, 9, 13],
      [6, 10, 14],
    ])
    for (const [fold, { processes, training, heldOut }] of report.folds.entries()) {
      expect(seen[fold].filter((count) => processes.includes(count))).toEqual([])
      expect(seen[fold].length + processes.length).toBe(32)
      expect(heldOut.calls).toBe(processes.length * 14)
      expect(training.calls).toBe(seen[fold].length * 14)
    }
    expect(report.heldOut.calls).toBe(data.calls.length)
    expect(report.training).toEqual(penaltyOf(data, learned(data)))
  })

  it('is 0 where the rule generalizes, and above 0 where points were learned by heart', () => {
    expect(heldOutPenalty(data, learned).heldOut).toMatchObject({ maxPercent: 0, missing: 0 })
    const byHeart = heldOutPenalty(data, (training) => exactSelector(training), {
      fallback: () => 0,
    })
    expect(byHeart.training).toMatchObject({ maxPercent: 0, missing: 0 })
    expect(byHeart.heldOut).toMatchObject({ missing: 0, maxPercent: 100 })
    expect(byHeart.heldOut.worst).not.toBeNull()
    expect(heldOutPenalty(data, (training) => exactSelector(training)).heldOut).toMatchObject({
      calls: 0,
      missing: data.calls.length,
    })
  })

  it.each([1, 33, 2.5, 0])('of %d folds is refused', (folds) => {
    expect(() => heldOutPenalty(data, learned, { folds })).toThrow(refusal('ERR_ARGUMENT'))
  })

  it('of two numbers of processes learns from one what it tests on the other', () => {
    const two = gridData([4, 8], [1, 2], 2, (P) => (P === 4 ? 0 : 1))
    const report = heldOutPenalty(two, learned)
    expect(report.folds.map(({ processes }) => processes)).toEqual([[4], [8]])
    expect(report.heldOut).toMatchObject({ calls: 4, minPercent: 100 })
  })

  it('of one number of processes is refused', () => {
    expect(() =>
      heldOutPenalty(
        gridData([4], [1, 2], 2, () => 0),
        learned,
      ),
    ).toThrow(refusal('ERR_TUNING'))
  })
})

describe('tolerant cases', () => {
  const [a, b, c] = settingsOf(3)
  // a is best at most sizes; b by a hair at one, c clearly at another.
  const rows = [
    [10, 11, 30],
    [10, 12, 30],
    [10, 9.9, 30],
    [10, 15, 5],
  ]
  const data = measuredData(
    rows.flatMap((times, i) =>
      [a, b, c].map((setting, j) => measurementOf({ ...setting, bytes: 8 * (i + 1), timeUs: times[j] })),
    ),
  )
  const labels = (tolerance: number) => tolerantCases(data, tolerance).map(({ setting }) => setting)

  it('let a setting stand for one that is hardly better, where it does for most', () => {
    expect(labels(0)).toEqual([0, 0, 1, 2])
    expect(bestCases(data).map(({ setting }) => setting)).toEqual(labels(0))
    expect(labels(5)).toEqual([0, 0, 0, 2])
  })

  it('lose at most the tolerance', () => {
    for (const tolerance of [0, 1.5, 5, 12, 60]) {
      const settings = labels(tolerance)
      const select = ({ bytes }: { readonly bytes: number }) => settings[bytes / 8 - 1]
      expect(penaltyOf(data, select).maxPercent).toBeLessThanOrEqual(tolerance)
    }
  })

  it('take a setting whose interval reaches into that of the best', () => {
    const noisy = measuredData([
      measurementOf({ ...a, timesUs: [9, 12, 15], intervalUs: [9, 15] }),
      measurementOf({ ...b, timesUs: [8, 10, 11], intervalUs: [8, 11] }),
      measurementOf({ ...a, bytes: 16, timeUs: 1 }),
    ])
    expect(tolerantCases(noisy, 0).map(({ setting }) => setting)).toEqual([0, 0])
  })

  it.each([-1, Number.NaN, Infinity])('of %d%% are refused', (tolerance) => {
    expect(() => tolerantCases(data, tolerance)).toThrow(refusal('ERR_ARGUMENT'))
  })
})
