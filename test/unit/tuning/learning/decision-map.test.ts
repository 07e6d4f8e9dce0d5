import { describe, expect, it } from 'vitest'
import {
  decidedMap,
  decisionMap,
  filledMap,
  missingCells,
} from '../../../../src/tuning/learning/decision-map.js'
import { exactSelector, measuredData, selectCalls } from '../../../../src/tuning/measured/measured-data.js'
import { penaltyOf } from '../../../../src/tuning/measured/penalty.js'
import { refusal } from '../../../support/refusal.js'
import { gridData, integersTo, measurementOf, settingsOf } from '../../../support/tuning-data.js'

const grid = gridData([2, 4, 7], [1, 8, 64, 512], 3, (P, m) => (m > 8 ? 2 : P === 7 ? 1 : 0))

describe('the exact map', () => {
  it('has the best setting by processes and bytes, and a penalty of 0', () => {
    const map = decisionMap(grid)
    expect(map.layouts.map(({ nodes }) => nodes)).toEqual([2, 4, 7])
    expect(map.bytes).toEqual([1, 8, 64, 512])
    expect([...map.choice]).toEqual([0, 0, 2, 2, 0, 0, 2, 2, 1, 1, 2, 2])
    expect(penaltyOf(grid, exactSelector(grid))).toEqual({
      ...{ calls: 12, missing: 0, worst: grid.calls[0] },
      ...{ minPercent: 0, meanPercent: 0, medianPercent: 0, maxPercent: 0 },
    })
  })

  it('takes settings with different grids: of each cell those that were measured there', () => {
    const [a, b] = settingsOf(2)
    const map = decisionMap(
      measuredData([
        measurementOf({ ...a, bytes: 1, timeUs: 5 }),
        measurementOf({ ...a, bytes: 4, timeUs: 5 }),
        measurementOf({ ...b, bytes: 4, timeUs: 4 }),
        measurementOf({ ...b, nodes: 2, bytes: 16, timeUs: 9 }),
      ]),
    )
    expect(map.bytes).toEqual([1, 4, 16])
    expect([...map.choice]).toEqual([0, 1, -1, -1, -1, 1])
    expect(missingCells(map)).toBe(3)
    // Of a row the nearest, of two as near the one of fewer bytes.
    expect([...filledMap(map).choice]).toEqual([0, 1, 1, 1, 1, 1])
  })

  it('is filled from the nearest row, of two as near from that of fewer processes', () => {
    const gap = { ...decisionMap(grid), choice: Int32Array.of(0, -1, -1, 1, -1, -1, -1, -1, -1, 2, -1, 0) }
    expect([...filledMap(gap).choice]).toEqual([0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 0])
    const none = { ...gap, choice: gap.choice.map(() => -1) }
    expect(() => filledMap(none)).toThrow(refusal('ERR_TUNING'))
  })

  it('of other decisions has what they choose where something was measured', () => {
    const some = selectCalls(grid, ({ nodes, bytes }) => nodes !== 4 || bytes !== 8)
    expect([...decidedMap(some, () => 2).choice]).toEqual([2, 2, 2, 2, 2, -1, 2, 2, 2, 2, 2, 2])
  })

  it('is refused of several kinds, of two spreads of as many processes, and of no calls', () => {
    const mixed = measuredData([
      measurementOf(),
      measurementOf({ collective: 'reduce', algorithm: 'reduce-tree' }),
    ])
    const spreads = measuredData([
      measurementOf({ nodes: 4, processesPerNode: 2 }),
      measurementOf({ nodes: 2, processesPerNode: 4 }),
    ])
    for (const data of [mixed, spreads, selectCalls(grid, () => false)])
      expect(() => decisionMap(data)).toThrow(refusal('ERR_TUNING'))
    expect(() => decisionMap(spreads)).toThrow(
      'expected one spread over nodes for 8 processes, got 2 x 4 and 4 x 2',
    )
    expect(decisionMap(selectCalls(spreads, ({ nodes }) => nodes === 4)).layouts).toEqual([
      { nodes: 4, processesPerNode: 2 },
    ])
  })

  it('is refused of a sparse grid of too many cells', () => {
    const diagonal = integersTo(4100).map((i) => measurementOf({ nodes: i, processesPerNode: 1, bytes: i }))
    expect(() => decisionMap(measuredData(diagonal))).toThrow(/at most 16777216 cells, got 4100 x 4100/)
  })
})

describe('penalties', () => {
  // Rows of 10 and 20, 10 and 15, 10 and 11, 10 and 10 us.
  const [a, b] = settingsOf(2)
  const square = measuredData(
    [20, 15, 11, 10].flatMap((timeUs, i) => {
      const call = { nodes: 2 + 2 * (i >> 1), processesPerNode: 1, bytes: 8 * (1 + (i & 1)) }
      return [measurementOf({ ...a, ...call, timeUs: 10 }), measurementOf({ ...b, ...call, timeUs })]
    }),
  )

  it('of a hand-made map of 2 x 2 are exact', () => {
    expect(penaltyOf(square, () => 1)).toEqual({
      ...{ calls: 4, missing: 0, minPercent: 0, meanPercent: 40, medianPercent: 30, maxPercent: 100 },
      worst: { collective: 'bcast', nodes: 2, processesPerNode: 1, bytes: 8 },
    })
    expect(penaltyOf(square, () => 0)).toMatchObject({ calls: 4, maxPercent: 0 })
  })

  it('leave out calls without a decision or a time, and count them', () => {
    const report = penaltyOf(square, ({ nodes }) => (nodes === 2 ? 1 : -1))
    expect(report).toMatchObject({ calls: 2, missing: 2, meanPercent: 75, minPercent: 50 })
    expect(penaltyOf(square, () => 9)).toEqual({
      ...{ calls: 0, missing: 4, worst: null },
      ...{ minPercent: NaN, meanPercent: NaN, medianPercent: NaN, maxPercent: NaN },
    })
  })

  it('take the fallback where the chosen setting has no time', () => {
    const select = ({ nodes }: { readonly nodes: number }) => (nodes === 2 ? 1 : 9)
    expect(penaltyOf(square, select, () => 1)).toMatchObject({
      calls: 4,
      missing: 0,
      meanPercent: 40,
    })
  })
})
