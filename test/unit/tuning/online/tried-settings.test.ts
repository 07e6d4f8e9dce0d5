import { describe, expect, it } from 'vitest'
import { cellAxes } from '../../../../src/tuning/models/decision-grid.js'
import { callGains, drawnSettings } from '../../../../src/tuning/online/call-gains.js'
import { CallHistory, type SizeTimes } from '../../../../src/tuning/online/call-history.js'
import { tuningLogic } from '../../../../src/tuning/online/grid-selection.js'
import { servedNumbers, usualConditions } from '../../../../src/tuning/online/simulated-application.js'
import {
  applicationAt,
  placesOf,
  simulatedTable,
  trained,
  twoLevels,
} from '../../../support/simulated-training.js'

const sizeOf = (bytes: number, nodes: number, calls: number, numbers: readonly number[]): SizeTimes => ({
  call: { collective: 'bcast', bytes, nodes, processesPerNode: 1 },
  ...{ calls, totalUs: 0, timesUs: new Map(numbers.map((number) => [number, [1]])) },
})
const callOf = (bytes: number, nodes: number) => sizeOf(bytes, nodes, 0, []).call

describe('settings that runs may draw', () => {
  it('are all of them after few calls, also those that no run has tried', () => {
    expect(drawnSettings([], 3)(callOf(8, 2))).toEqual([1, 2, 3])
    expect(drawnSettings([sizeOf(8, 2, 339, [2])], 3)(callOf(8, 2))).toEqual([1, 2, 3])
  })

  it('are those that were tried after many calls: of the size, of the place, of the collective', () => {
    const drawn = drawnSettings(
      [sizeOf(8, 2, 340, [2, 3]), sizeOf(64, 2, 9, [1, 2]), sizeOf(8, 4, 9, [4])],
      5,
    )
    expect(drawn(callOf(8, 2))).toEqual([2, 3])
    expect(drawn(callOf(64, 2))).toEqual([1, 2, 3])
    expect(drawn(callOf(8, 4))).toEqual([1, 2, 3, 4])
    expect(drawn(callOf(8, 16))).toEqual([1, 2, 3, 4])
  })
})

describe('what next runs try', () => {
  const axes = cellAxes({ nodes: 4, processesPerNode: 1 })
  const place = { nodes: 4, processesPerNode: 1 }
  const application = applicationAt('transform', placesOf([4], [1]))
  const next = (runs: number, calls: number) => {
    const conditions = { ...usualConditions, calls, tunedCalls: calls }
    const { files, grids } = trained([application], twoLevels, axes, {
      ...{ iterations: 1, runs, seed: 3, conditions },
    })
    const history = new CallHistory(simulatedTable)
    for (const file of files) history.add(file)
    const learned = grids.get('alltoall')!
    return callGains('alltoall', learned, history.of('alltoall'), tuningLogic())
  }
  const served = servedNumbers(simulatedTable, twoLevels, 'alltoall', place)

  it('has settings that a size has not tried yet', () => {
    const gains = next(1, 40)
    expect(gains.length).toBeGreaterThan(1)
    for (const gain of gains)
      expect([...gain.next.keys()].sort((a, b) => a - b)).toEqual(expect.arrayContaining(served))
  })

  it('is what they draw from after many calls', () => {
    for (const gain of next(4, 1000).filter(({ calls }) => calls >= 400))
      expect([...gain.next.keys()].sort((a, b) => a - b)).toEqual(served)
  })
})
