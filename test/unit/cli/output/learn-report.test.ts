import { describe, expect, it } from 'vitest'
import { contradictionLines, learnReportText, learnText } from '../../../../src/cli/output/learn-report.js'
import { cellAxes } from '../../../../src/tuning/models/decision-grid.js'
import type { CallFile } from '../../../../src/tuning/online/call-file.js'
import { callGains } from '../../../../src/tuning/online/call-gains.js'
import { tuningLogic } from '../../../../src/tuning/online/grid-selection.js'
import { learnGrid } from '../../../../src/tuning/online/learn-grid.js'

const axes = cellAxes({ nodes: 2, processesPerNode: 1 })

/** The second line of a report of runs with these steps of a clock. */
function clockLine(...steps: readonly (readonly [name: string, tickUs: number])[]): string {
  const files = steps.map(([name, tickUs]) => ({ clock: { name, tickUs } }) as CallFile)
  const explored = { calls: 0, totalUs: 0, defaultUs: 0, ratio: Number.NaN, interval: null }
  const report = { iterations: [], explored, evaluations: [], collectives: [], grids: new Map() }
  return learnReportText(report, files).split('\n', 1)[0]
}

describe('the clock of a report', () => {
  it('is rounded, and of many runs the coarsest, in one line', () => {
    expect(clockLine(['performance.now', 0.0010000000474974513])).toBe(
      'clock: performance.now, 0.00100 us a tick',
    )
    expect(
      clockLine(['performance.now', 0.13], ['performance.now', 1.2345678], ['performance.now', 0.2]),
    ).toBe('clock: performance.now, at most 1.23 us a tick in 3 runs')
    expect(clockLine(['b', 1], ['a', 0], ['b', 1])).toBe('clock: a; b, at most 1.00 us a tick in 2 runs')
  })
})

describe('the table of what was learned', () => {
  const settings = ['a', 'default'].map((algorithm) => ({
    ...({ collective: 'bcast', algorithm, parameters: {} } as const),
  }))
  /** The row of a size with 20 calls of each setting, of which the default had an outlier. */
  const rowOf = (usUs: readonly [choice: number, spread: number, byDefault: number]) => {
    const [choice, spread, byDefault] = usUs
    const timed = Array.from({ length: 40 }, (_, call) => ({
      ...{ setting: 1 + (call % 2), bytes: 8, nodes: 2, processesPerNode: 1 },
      timeUs: call === 1 ? 400 : (call % 2 === 0 ? choice : byDefault) + spread * (call % 5),
    }))
    const learned = learnGrid(settings, axes, timed, { leastSettings: 2 })
    const gains = callGains('bcast', learned, timed, tuningLogic())
    return learnText([{ collective: 'bcast', learned, gains }])
      .split('\n')
      .slice(1, 3)
  }

  it('names the choice of the model, which is no faster than the default where no difference is seen', () => {
    const [head, row] = rowOf([10.5, 1, 10.2])
    expect(head.trim().split(/ {2,}/)).toEqual([
      'size',
      'calls',
      'default',
      'model',
      'time',
      'model / default',
    ])
    expect(row).toMatch(
      /^ {2}8 B on 2 x 1 +40 +12\.2 us +a +12\.5 us +1\.02 \(0\.\d+ to 1\.\d+\), no difference seen$/,
    )
    expect(rowOf([10.5, 0, 10.2])[1]).toMatch(/ 1\.03 \(1\.03 to 1\.03\), slower$/)
    expect(rowOf([5, 0, 10])[1]).toMatch(/ 0\.50 \(0\.50 to 0\.50\)$/)
  })
})

describe('a choice of the model that is not the fastest seen', () => {
  const settings = ['a', 'b', 'c'].map((algorithm) => ({
    ...({ collective: 'bcast', algorithm, parameters: {} } as const),
  }))
  /** Of setting a 10 us, of b 8 us but for outliers, of c 30 us. */
  const gainsOf = (outliers: number, calls: number) => {
    const times = [10, 8, 30]
    const timed = times.flatMap((usual, i) =>
      Array.from({ length: calls }, (_, call) => ({
        ...{ setting: i + 1, bytes: 8, nodes: 2, processesPerNode: 1 },
        timeUs: i === 1 && call < outliers ? 400 : usual,
      })),
    )
    const learned = learnGrid(settings, axes, timed, { leastSettings: 3 })
    return { learned, gains: callGains('bcast', learned, timed, tuningLogic()) }
  }

  it('is named with both settings', () => {
    const { learned, gains } = gainsOf(3, 40)
    expect(gains[0]).toMatchObject({ best: 1, fastest: 2, isContradicted: true })
    expect(contradictionLines(gains, learned)).toEqual([
      '  the choice of the model is not the fastest seen: means count, which outliers and near sizes raise',
      '    8 B on 2 x 1: a, 1.25 times the median of b',
    ])
    const many = Array.from({ length: 5 }, () => gains[0])
    expect(contradictionLines(many, learned).at(-1)).toBe('    and 2 sizes more')
  })

  it('is named where medians differ much, whatever the interval is', () => {
    const usual = [
      [1, [30, 30, 30, 30, 1, 1, 1]],
      [2, [10, 10, 10, 10, 10, 10, 900]],
      [3, [99, 99, 99, 99, 99, 99, 99]],
    ] as const
    const timed = usual.flatMap(([setting, times]) =>
      times.map((timeUs) => ({ setting, bytes: 8, nodes: 2, processesPerNode: 1, timeUs })),
    )
    const learned = learnGrid(settings, axes, timed, { leastCalls: 7, leastSettings: 3 })
    const [gain] = callGains('bcast', learned, timed, tuningLogic())
    expect(gain).toMatchObject({ best: 1, bestUs: 30, fastest: 2, fastestUs: 10, isContradicted: true })
  })

  it('is not where they agree, and not after few calls', () => {
    for (const [outliers, calls] of [
      [0, 40],
      [2, 6],
    ]) {
      const { learned, gains } = gainsOf(outliers, calls)
      expect(gains[0].isContradicted).toBe(false)
      expect(contradictionLines(gains, learned)).toEqual([])
    }
  })
})
