import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { cellAxes } from '../../../../src/tuning/models/decision-grid.js'
import type { CallFile } from '../../../../src/tuning/online/call-file.js'
import {
  emptyGrids,
  medianRatioInterval,
  slowSettings,
  totalRatio,
} from '../../../../src/tuning/online/call-history.js'
import { defaultLogic, tunedLogic } from '../../../../src/tuning/online/grid-selection.js'
import { learningReport, reportLimits, runSequence } from '../../../../src/tuning/online/learning-report.js'
import { readCallFile } from '../../../../src/tuning/online/read-call-file.js'
import { simulateRun, usualConditions } from '../../../../src/tuning/online/simulated-application.js'
import { callKey } from '../../../../src/tuning/settings/tuning-call.js'
import {
  applicationAt,
  placesOf,
  simulatedTable,
  trained,
  twoLevels,
} from '../../../support/simulated-training.js'

const axes = cellAxes({ nodes: 32, processesPerNode: 32 })
const options = { axes, learning: {}, blacklists: () => new Map() }
const application = applicationAt('transform', placesOf([4, 16], [1]))
const conditions = { ...usualConditions, calls: 400, tunedCalls: 400 }
const training = trained([application], twoLevels, axes, {
  ...{ iterations: 4, runs: 3, seed: 4, conditions: { ...conditions, noise: 0 } },
})

/** A run that evaluates what was learned, and the same run by default. */
function evaluation(seed: number, noise: number): [CallFile, CallFile] {
  const grids = [training.grids, emptyGrids(simulatedTable, axes)]
  const [tuned, byDefault] = [tunedLogic, defaultLogic].map((logic, i) => {
    const own = { ...conditions, noise }
    const model = i === 0 ? 'f'.repeat(16) : ''
    const run = simulateRun(application, twoLevels, grids[i], simulatedTable, logic, own, seed, model)
    return readCallFile('evaluation', run.file)
  })
  return [tuned, byDefault]
}

describe('a report', () => {
  it('orders runs by their models, and has those apart that evaluate or take the default', () => {
    const [tuned, byDefault] = evaluation(1, 0)
    const { files } = training
    const sequence = runSequence([...files.slice(0, 6), byDefault, tuned, ...files.slice(6)])
    expect(sequence.iterations.map((runs) => runs.length)).toEqual([3, 3, 3, 3])
    expect(sequence.evaluations).toEqual([{ after: 2, runs: [tuned] }])
    expect(sequence.byDefault).toEqual([byDefault])
    // The model of an iteration is what was known before it.
    const known = { ...tuned, model: files[6].model }
    expect(runSequence([...files, known]).evaluations).toEqual([{ after: 2, runs: [known] }])
    const without = { ...byDefault, mode: 'tuned' }
    expect(runSequence([without]).byDefault).toEqual([without])
  })

  it('has a trend of probabilities: alike at first, then near the best; the same with evaluation runs', () => {
    const call = { collective: 'alltoall', bytes: 1024, nodes: 12, processesPerNode: 1 } as const
    const report = learningReport([...training.files, ...evaluation(2, 0)], simulatedTable, {
      ...options,
      call,
    })
    expect(report.iterations.map(({ runs, calls }) => [runs, calls])).toEqual([
      [3, 1200],
      [3, 1200],
      [3, 1200],
      [3, 1200],
    ])
    const { trends } = report.collectives.find(({ collective }) => collective === 'alltoall')!
    const trend = trends.find((each) => callKey(each.call) === callKey(call))!
    expect(trend.points.map(({ after }) => after)).toEqual([1, 2, 3, 4])
    for (const { next } of trend.points)
      expect([...next.values()].reduce((sum, share) => sum + share)).toBeCloseTo(1, 9)
    const { best, next, estimatedUs } = trend.points.at(-1)!
    expect(next.get(best)).toBe(largest(next))
    expect(estimatedUs).toBeGreaterThan(0)
    const { evaluations, ...others } = report
    expect(evaluations).toHaveLength(1)
    expect({ ...others, evaluations: [] }).toEqual(
      learningReport(training.files, simulatedTable, { ...options, call }),
    )
  })

  it('has default, choice and exhaustive search of every size, as the truth says', () => {
    const { collectives } = learningReport(training.files, simulatedTable, options)
    for (const { collective, gains } of collectives)
      for (const { call, defaultUs, best, bestUs, fastestUs } of gains) {
        const times = simulatedTable.of(collective).map((setting) => twoLevels.timeUs(setting, call))
        const byDefault = { collective, algorithm: 'default', parameters: {} }
        expect(defaultUs).toBeCloseTo(twoLevels.timeUs(byDefault, call), 4)
        expect(bestUs).toBeCloseTo(times[best - 1], 4)
        expect(fastestUs).toBeCloseTo(
          times.reduce((a, b) => Math.min(a, b)),
          4,
        )
        expect(bestUs / fastestUs).toBeLessThan(1.05)
      }
  })

  it('compares pairs of runs with the same calls, exactly without noise', () => {
    const pairs = [1, 2, 3, 4, 5, 6].map((seed) => evaluation(seed, 0))
    const unpaired = evaluation(7, 0)[0]
    const { evaluations } = learningReport(
      [...training.files, ...pairs.flat(), unpaired],
      simulatedTable,
      options,
    )
    const ofDefault = pairs.flatMap(([, run]) => run.communicators)
    const keys = new Set(
      ofDefault.flatMap(({ nodes, processesPerNode }) =>
        application.calls.map(({ collective, bytes }) =>
          callKey({ collective, bytes, nodes, processesPerNode }),
        ),
      ),
    )
    const [{ after, runs, defaultRuns, ratio, interval, sizes, ...of }] = evaluations
    expect([after, runs, defaultRuns, of.pairs]).toEqual([4, 7, 6, 6])
    expect(ratio).toBeLessThan(1)
    expect(interval![0]).toBeLessThanOrEqual(ratio)
    expect(interval![1]).toBeGreaterThanOrEqual(ratio)
    for (const { call, tunedUs, defaultUs, defaultOf } of sizes) {
      const byDefault = { collective: call.collective, algorithm: 'default', parameters: {} }
      expect(defaultUs).toBeCloseTo(twoLevels.timeUs(byDefault, call), 4)
      expect(tunedUs).toBeLessThanOrEqual(defaultUs * (1 + 1e-6))
      // The run without a partner may have been at a place where no run by default was.
      if (keys.has(callKey(call))) expect(defaultOf).toBe('evaluation')
    }
  })

  it('takes calls by default of runs that explored where none evaluated, and no interval of few', () => {
    const [tuned] = evaluation(3, 0)
    const [{ pairs, interval, ratio, sizes }] = learningReport(
      [...training.files, tuned],
      simulatedTable,
      options,
    ).evaluations
    expect([pairs, interval, ratio]).toEqual([0, null, Number.NaN])
    expect(new Set(sizes.map(({ defaultOf }) => defaultOf))).toEqual(new Set(['exploring']))
  })

  it('is bounded, whatever runs are there', () => {
    const [first] = training.files
    const files = Array.from({ length: 50 }, (_, i) => ({ ...first, model: String(i).padStart(16, '0') }))
    const { iterations, collectives } = learningReport(files, simulatedTable, options)
    expect(iterations).toHaveLength(50)
    for (const { trends } of collectives)
      for (const { points } of trends) {
        expect(points).toHaveLength(reportLimits.points)
        expect([points[0].after, points.at(-1)!.after]).toEqual([1, 50])
      }
  })

  it('of no run that explored has nothing but evaluations', () => {
    const { iterations, collectives, explored, evaluations } = learningReport(
      evaluation(1, 0),
      simulatedTable,
      options,
    )
    expect([iterations, collectives, explored.interval]).toEqual([[], [], null])
    expect(evaluations).toHaveLength(1)
  })
})

describe('slow settings', () => {
  const call = { collective: 'bcast', bytes: 8, nodes: 2, processesPerNode: 1 } as const
  const sizeOf = (bytes: number, ...medians: readonly (readonly [number, number])[]) => ({
    ...{ call: { ...call, bytes }, calls: 0, totalUs: 0 },
    timesUs: new Map(medians.map(([number, us]) => [number, new Array<number>(7).fill(us)])),
  })

  it('are those that are slow in every size in which they have 7 calls', () => {
    const sizes = [sizeOf(8, [1, 1], [2, 3], [3, 9]), sizeOf(64, [1, 8], [2, 4], [3, 10])]
    expect(slowSettings(sizes, 2)).toEqual([{ number: 3, leastRatio: 2.5, sizes: 2 }])
    expect(slowSettings(sizes, 3)).toEqual([])
    const few = { ...sizeOf(512), timesUs: new Map([[3, [1, 1, 1, 1, 1, 1]]]) }
    expect(slowSettings([...sizes, few], 2)).toHaveLength(1)
    // The fastest one is never slow, so a collective keeps a setting.
    expect(slowSettings([sizeOf(8, [4, 7])], 1.1)).toEqual([])
  })
})

describe('intervals hold what they promise, of draws with a known ratio', () => {
  const draw = seededRandom(17)
  /** The logarithm has standard deviation 0.3; the sum of 12 even draws is nearly normal. */
  const times = (count: number, median: number) =>
    Array.from({ length: count }, () => {
      let sum = -6
      for (let i = 0; i < 12; i++) sum += draw()
      return median * Math.exp(0.3 * sum)
    })
  const rounds = 400

  it.each([7, 12, 40])('medians of %i times', (count) => {
    let held = 0
    for (let i = 0; i < rounds; i++) {
      const [low, high] = medianRatioInterval(times(count, 8), times(count, 10))!
      if (low <= 0.8 && high >= 0.8) held++
    }
    expect(held / rounds).toBeGreaterThanOrEqual(0.95)
    expect(medianRatioInterval(times(6, 8), times(40, 10))).toBeNull()
  })

  it('totals leave out sizes with fewer than 7 calls by default', () => {
    const call = { collective: 'bcast', bytes: 8, nodes: 2, processesPerNode: 1 } as const
    const size = { call, calls: 2, totalUs: 3, timesUs: new Map([[1, [1, 2]]]) }
    expect(totalRatio([size], new Map([[callKey(call), [1, 2, 3]]]))).toEqual({
      ...{ calls: 0, totalUs: 0, defaultUs: 0, ratio: Number.NaN, interval: null },
    })
  })
})

function largest(shares: ReadonlyMap<number, number>): number {
  return [...shares.values()].reduce((a, b) => Math.max(a, b))
}
