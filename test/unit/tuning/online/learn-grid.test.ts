import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import {
  bestNumber,
  cellAxes,
  cellOf,
  cellPoint,
  closedGrid,
  countCells,
  openGrid,
} from '../../../../src/tuning/models/decision-grid.js'
import { checkDecisionGrid } from '../../../../src/tuning/models/read-tuning-file.js'
import { gridTree } from '../../../../src/tuning/models/tuning-file.js'
import { GridSelection, tunedLogic, tuningLogic } from '../../../../src/tuning/online/grid-selection.js'
import {
  type GridLearning,
  growBoostedTrees,
  learnGrid,
  predictBoosted,
  type TimedCall,
} from '../../../../src/tuning/online/learn-grid.js'
import type { TuningSetting } from '../../../../src/tuning/settings/setting.js'
import { leafOf } from '../../../support/tree-walks.js'

const axes = cellAxes({ nodes: 32, processesPerNode: 32 })
const settingsOf = (count: number): TuningSetting[] =>
  Array.from({ length: count }, (_, i) => ({
    collective: 'allreduce',
    algorithm: `a${i + 1}`,
    parameters: {},
  }))
const callsOf = (count: number, setting: number, timeUs: number, bytes = 1024): TimedCall[] =>
  Array.from({ length: count }, () => ({ setting, bytes, nodes: 4, processesPerNode: 8, timeUs }))

describe('cells', () => {
  it('are 18 x 17 x 9, and every size has one', () => {
    expect(countCells(axes)).toBe(2754)
    expect(axes.nodes).toEqual([1, ...Array.from({ length: 16 }, (_, i) => 2 * (i + 1))])
    expect(axes.processesPerNode).toEqual([1, 4, 8, 12, 16, 20, 24, 28, 32])
    for (let cell = 0; cell < 2754; cell++) {
      const { bytes, nodes, processesPerNode } = cellPoint(axes, cell)
      expect(cellOf(axes, bytes, nodes, processesPerNode)).toBe(cell)
    }
  })

  it('have no upper end', () => {
    const last = countCells(axes) - 1
    expect(cellOf(axes, 2 ** 40, 2 ** 22, 2 ** 22)).toBe(last)
    expect(cellOf(axes, Number.POSITIVE_INFINITY, 33, 33)).toBe(last)
    expect(cellOf(axes, 0, 1, 1)).toBe(0)
  })

  it.each([
    [0, 1],
    [1, 0],
    [1.5, 1],
    [2 ** 23, 1],
  ])('are refused for %d nodes of %d', (nodes, processesPerNode) => {
    expect(() => cellAxes({ nodes, processesPerNode })).toThrow('expected')
  })

  it('of small machines ascend all the same', () => {
    const small = cellAxes({ nodes: 1, processesPerNode: 2 })
    expect(small.nodes).toEqual(Array.from({ length: 17 }, (_, i) => i + 1))
    expect(small.processesPerNode).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})

describe('boosted trees', () => {
  it.each([20, 100, 1000])('predict a constant of 20 us from %i samples', (count) => {
    const one = {
      features: [Float64Array.of(1)],
      counts: Float64Array.of(count),
      sums: Float64Array.of(20 * count),
    }
    expect(Math.abs(predictBoosted(growBoostedTrees(one), [1]) / 20 - 1)).toBeLessThan(0.05)
  })

  it('do not depend on whether equal points are added up', () => {
    const draw = seededRandom(3)
    const times = Array.from({ length: 60 }, () => 5 + 20 * draw())
    const apart = growBoostedTrees({
      features: [Float64Array.from(times, (_, i) => i % 6)],
      counts: new Float64Array(60).fill(1),
      sums: Float64Array.from(times),
    })
    const sums = new Float64Array(6)
    for (const [i, time] of times.entries()) sums[i % 6] += time
    const added = growBoostedTrees({
      features: [Float64Array.of(0, 1, 2, 3, 4, 5)],
      counts: new Float64Array(6).fill(10),
      sums,
    })
    for (let x = 0; x < 6; x++) {
      expect(predictBoosted(added, [x]) / predictBoosted(apart, [x])).toBeCloseTo(1, 6)
      expect(predictBoosted(added, [x]) / (sums[x] / 10)).toBeCloseTo(1, 2)
    }
  })

  it('are positive and finite wherever they are asked', () => {
    const trees = growBoostedTrees({
      features: [Float64Array.of(1, 2, 3)],
      counts: Float64Array.of(1, 1, 1),
      sums: Float64Array.of(0, 1e-9, 1e9),
    })
    for (const x of [-1e300, 0, 1, 2.5, 1e300]) {
      expect(predictBoosted(trees, [x])).toBeGreaterThan(0)
      expect(predictBoosted(trees, [x])).toBeLessThan(Number.POSITIVE_INFINITY)
    }
  })

  it.each([{ trees: 0 }, { depth: 17 }, { step: 0 }, { power: 2 }, { lambda: -1 }, { trees: 1.5 }])(
    'refuse %j',
    (options) => {
      const one = { features: [Float64Array.of(1)], counts: Float64Array.of(1), sums: Float64Array.of(1) }
      expect(() => growBoostedTrees(one, options)).toThrow('expected')
    },
  )
})

describe('a learned grid', () => {
  const trained = (count: number, learning?: GridLearning, few = 9) => {
    const calls = Array.from({ length: 8 }, (_, i) => callsOf(i < count ? 30 : few, i + 1, 10 * (i + 1)))
    return learnGrid(settingsOf(8), axes, calls.flat(), learning)
  }

  it('needs five settings with regressors, or all that there are', () => {
    expect(trained(4).grid.isTrained).toBe(false)
    expect(trained(5).grid.isTrained).toBe(true)
    expect(trained(4, { leastSettings: 4 }).grid.isTrained).toBe(true)
    const two = [...callsOf(30, 1, 5), ...callsOf(30, 2, 7)]
    expect(learnGrid(settingsOf(2), axes, two).grid.isTrained).toBe(true)
    expect(learnGrid(settingsOf(2), axes, []).grid.isTrained).toBe(false)
  })

  it('does not wait for a setting that can serve no call', () => {
    expect(trained(4, {}, 0).grid.isTrained).toBe(true)
  })

  it('has 0 of settings with too few calls, and performances in proportion to speed', () => {
    const { grid, calls } = trained(6)
    const cell = cellOf(axes, 1024, 4, 8)
    const ofCell = [...grid.performances!.subarray(8 * cell, 8 * cell + 8)]
    expect([...calls]).toEqual([30, 30, 30, 30, 30, 30, 9, 9])
    for (let i = 0; i < 6; i++) expect(ofCell[i]).toBeCloseTo(1 / (i + 1), 2)
    expect(ofCell.slice(6)).toEqual([0, 0])
    expect(bestNumber(grid, 1024, 4, 8)).toBe(1)
  })

  it('takes 11,016 B, and with performances of 42 and 52 settings 462,672 B and 572,832 B', () => {
    for (const [count, sizeBytes] of [
      [42, 462_672],
      [52, 572_832],
    ]) {
      const calls = Array.from({ length: count }, (_, i) => callsOf(10, i + 1, i + 1)).flat()
      const { grid } = learnGrid(settingsOf(count), axes, calls)
      expect(grid.best.byteLength).toBe(11_016)
      expect(grid.performances!.byteLength).toBe(sizeBytes)
      expect(openGrid('grid', closedGrid(grid))).toEqual(grid)
    }
    expect(trained(8, { hasPerformances: false }).grid.performances).toBeUndefined()
  })

  it('fills cells that no call was in', () => {
    const calls = [1, 2, 3, 4, 5].flatMap((setting) => callsOf(30, setting, setting === 3 ? 2 : 9, 8))
    expect(bestNumber(learnGrid(settingsOf(5), axes, calls).grid, 64, 2, 1)).toBe(3)
  })

  it('as a tree decides alike for every call', () => {
    const draw = seededRandom(11)
    const settings = settingsOf(4)
    const best = Int32Array.from({ length: countCells(axes) }, () => Math.floor(draw() * 5))
    const grid = { settings, axes, isTrained: true, best, performances: undefined }
    const tree = gridTree(grid)
    for (let i = 0; i < 3000; i++) {
      const bytes = Math.floor(2 ** (draw() * 26)) - 1
      const [nodes, processesPerNode] = [1 + Math.floor(draw() * 40), 1 + Math.floor(draw() * 40)]
      const { setting } = leafOf(tree, { collective: 'allreduce', nodes, processesPerNode, bytes })
      const number = bestNumber(grid, bytes, nodes, processesPerNode)
      expect(tree.settings[setting].algorithm).toBe(number === 0 ? 'default' : `a${number}`)
    }
  })
})

describe('a selection', () => {
  const all = [1, 2, 3, 4, 5, 6, 7, 8]
  const calls = all.flatMap((setting) => callsOf(30, setting, 10 * setting))
  const { grid } = learnGrid(settingsOf(8), axes, calls)

  it('of tuned runs takes the best that may serve, whatever is drawn', () => {
    for (const drawn of [0, 0.5, 1]) {
      expect(new GridSelection(grid, tunedLogic, all, 4, 8).choose(1024, drawn)).toBe(1)
      expect(new GridSelection(grid, tunedLogic, [3, 5], 4, 8).choose(1024, drawn)).toBe(3)
      expect(new GridSelection(grid, tunedLogic, [], 4, 8).choose(1024, drawn)).toBe(0)
    }
  })

  it('never takes a setting that is blacklisted, and the others have sum 1', () => {
    for (const timed of [calls, []]) {
      const learned = learnGrid(settingsOf(8), axes, timed, { blacklist: new Set([1, 4]) }).grid
      const read = openGrid('grid', JSON.parse(JSON.stringify(closedGrid(learned))))
      expect(read).toEqual(learned)
      for (const logic of [tuningLogic(), tunedLogic]) {
        const probabilities = new GridSelection(read, logic, all, 4, 8).probabilitiesOf(1024)
        expect([probabilities.has(1), probabilities.has(4)]).toEqual([false, false])
        // Without a model, a run that does not explore takes the default.
        if (probabilities.size === 0) expect([timed.length, logic]).toEqual([0, tunedLogic])
        else expect([...probabilities.values()].reduce((sum, share) => sum + share)).toBeCloseTo(1, 12)
      }
    }
  })

  it.each([
    [[0], 'numbers from 1 to 8'],
    [[9], 'numbers from 1 to 8'],
    [[2, 2], 'each once'],
    ['2', 'numbers from 1 to 8'],
    [[1], 'settings that are not excluded'],
  ])('refuses a grid that excludes %j', (excluded, expected) => {
    expect(() => checkDecisionGrid('grid', { ...closedGrid(grid), excluded })).toThrow(expected)
  })

  it('of an untrained grid takes all alike to explore, and nothing otherwise', () => {
    const empty = learnGrid(settingsOf(8), axes, []).grid
    const uniform = new GridSelection(empty, tuningLogic(), all, 4, 8).probabilitiesOf(8)
    for (const share of uniform.values()) expect(share).toBeCloseTo(1 / 8, 12)
    expect(new GridSelection(empty, tunedLogic, all, 4, 8).choose(8, 0.3)).toBe(0)
  })

  it('takes a further logic without a change of grid or calls', () => {
    const second = {
      name: 'second-best',
      untrained: 'default' as const,
      probabilities: (performances: Float64Array) => {
        const order = [...performances.keys()].sort((a, b) => performances[b] - performances[a])
        return performances.map((_, i) => Number(i === order[1]))
      },
    }
    expect(new GridSelection(grid, second, all, 4, 8).choose(1024, 0.9)).toBe(2)
  })
})
