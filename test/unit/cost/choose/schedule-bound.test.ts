import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { gridOfMachine } from '../../../../src/collective/ways/machine-grid.js'
import { ScheduleBounds } from '../../../../src/cost/choose/schedule-bound.js'
import { placesOf } from '../../../../src/cost/simulate/costs.js'
import { simulate } from '../../../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'

const machines = [
  'cluster:nodes=4,cores=4,profile=simgrid-fast',
  'cluster:cores=3+5+1+7,profile=niagara',
  'torus:dims=4x2x2,profile=bluegene-p',
  'clos:radix=8,levels=2,taper=3,nodes=16,profile=simgrid-slow',
]

describe('ScheduleBounds', () => {
  it.each(machines)(
    'is no longer than what the simulator says of any algorithm, and often close: %s',
    (text) => {
      const machine = parseMachine(text)
      const bounds = new ScheduleBounds(machine, placesOf(machine, 16))
      let [close, all] = [0, 0]
      for (const family of algorithms) {
        const wide = family.followsGrid === true ? [family, family.with!({ ports: 2 })] : [family]
        for (const algorithm of wide)
          for (const [ranks, root, segments, bytes] of [
            [16, 0, 2, 8],
            [13, 5, 4, 5000],
            [16, 15, 4, 300_000],
            [1, 0, 2, 64],
          ] as const) {
            const grid = gridOfMachine(machine, null, ranks)!
            const shape = { ranks, root, segments, grid }
            if ((algorithm.refuses?.(shape) ?? null) !== null) continue
            const schedule = scheduleOf(algorithm, shape)
            const leastUs = bounds.of(schedule, bytes)
            const { timeUs } = simulate(schedule, machine, { bytes })
            expect(leastUs, `${algorithm.id} ${ranks} ${segments} ${bytes}`).toBeLessThanOrEqual(timeUs)
            all++
            if (leastUs > 0.7 * timeUs) close++
          }
      }
      // It would be of no use if it were far below.
      expect(close).toBeGreaterThan(all / 3)
    },
  )
})
