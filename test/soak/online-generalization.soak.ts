import { describe, expect, it } from 'vitest'
import { arrivalPatterns } from '../../src/tuning/online/simulated-application.js'
import { cellAxes } from '../../src/tuning/settings/call-cells.js'
import { convergenceOf } from '../support/simulated-iterations.js'
import {
  applicationAt,
  placesOf,
  simulatedTable,
  trained,
  tunedOverDefault,
  twoLevels,
} from '../support/simulated-training.js'
import { sampled } from '../support/soak.js'

const axes = cellAxes({ nodes: 32, processesPerNode: 48 })
const places = placesOf([4, 8, 16, 32], [1, 48])
const application = applicationAt('refinement', placesOf([24], [48]))

/** @see Steiner 2023 §5.4.4 */
describe('30 iterations of 10 runs with noise of 10%', () => {
  it.each(sampled(arrivalPatterns, 2))(
    'on other places serve 24 x 48 processes, which arrive %s',
    (arrival) => {
      const { grids } = trained([applicationAt('refinement', places)], twoLevels, axes, {
        ...{ iterations: 30, runs: 10, seed: 21, conditions: { arrival } },
      })
      expect(tunedOverDefault(application, twoLevels, grids)).toBeLessThan(0.75)
      for (const { share, ratio } of convergenceOf(application, twoLevels, simulatedTable, grids))
        if (share >= 0.05) expect(ratio).toBeLessThan(1.1)
    },
  )

  it('of three other applications serve one that no run was of', () => {
    const group = ['transform', 'graph', 'solver'].map((name) => applicationAt(name, places))
    const { grids } = trained(group, twoLevels, axes, { iterations: 30, runs: 10, seed: 22 })
    expect(tunedOverDefault(application, twoLevels, grids)).toBeLessThan(0.75)
  })
})
