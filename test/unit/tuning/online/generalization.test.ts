import { describe, expect, it } from 'vitest'
import { closedGrid, openGrid } from '../../../../src/tuning/models/decision-grid.js'
import { cellAxes } from '../../../../src/tuning/settings/call-cells.js'
import { convergenceOf } from '../../../support/simulated-iterations.js'
import {
  applicationAt,
  placesOf,
  simulatedTable,
  slowNetwork,
  trained,
  tunedOverDefault,
  twoLevels,
} from '../../../support/simulated-training.js'

const axes = cellAxes({ nodes: 32, processesPerNode: 48 })
const places = placesOf([4, 8, 16, 32], [1, 48])
const unseen = placesOf([24], [48])
/** Of calls with their shares, the true time of the chosen setting over that of the best. */
const lossOf = (of: readonly { share: number; ratio: number }[]) =>
  of.reduce((sum, { share, ratio }) => sum + share * ratio, 0)

/** @see Steiner 2023 §5.4.4, §5.4.5 */
describe('what was learned on the simulated machine', () => {
  it('serves 24 x 48 processes, where no run was', () => {
    const { grids } = trained([applicationAt('refinement', places)], twoLevels, axes, {
      ...{ iterations: 3, runs: 6, seed: 1 },
    })
    const application = applicationAt('refinement', unseen)
    expect(tunedOverDefault(application, twoLevels, grids)).toBeLessThan(0.75)
    expect(lossOf(convergenceOf(application, twoLevels, simulatedTable, grids))).toBeLessThan(1.05)
  })

  it('serves an application that no run was of', () => {
    const group = ['transform', 'graph', 'solver'].map((name) => applicationAt(name, places))
    const { grids } = trained(group, twoLevels, axes, { iterations: 3, runs: 6, seed: 2 })
    const application = applicationAt('refinement', unseen)
    expect(tunedOverDefault(application, twoLevels, grids)).toBeLessThan(0.75)
  })

  it('is a model that loads on a machine of another size and speed, whose own model is no worse', () => {
    const solver = applicationAt('solver', places)
    const { grids } = trained([solver], twoLevels, axes, { iterations: 3, runs: 6, seed: 3 })
    const moved = new Map(
      [...grids].map(([name, learned]) => [
        name,
        { ...learned, grid: openGrid(name, JSON.parse(JSON.stringify(closedGrid(learned.grid)))) },
      ]),
    )
    // Beyond the last cells, and between them.
    const home = applicationAt('solver', placesOf([6, 64], [64]))
    const theirs = tunedOverDefault(home, slowNetwork, moved)
    const own = trained([home], slowNetwork, cellAxes({ nodes: 64, processesPerNode: 64 }), {
      ...{ iterations: 3, runs: 6, seed: 3 },
    })
    expect(Number.isFinite(theirs)).toBe(true)
    expect(tunedOverDefault(home, slowNetwork, own.grids)).toBeLessThanOrEqual(theirs * 1.001)
  })
})
