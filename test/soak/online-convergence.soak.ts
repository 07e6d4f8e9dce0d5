import { describe, expect, it } from 'vitest'
import { ruleOf } from '../../src/calls/plan/default-rule.js'
import { tuningLogic } from '../../src/tuning/online/grid-selection.js'
import { NumberedSettings } from '../../src/tuning/online/numbered-settings.js'
import { arrivalPatterns, usualConditions } from '../../src/tuning/online/simulated-application.js'
import {
  simulatedApplications,
  simulatedCollectives,
  simulatedLevels,
} from '../../src/tuning/online/simulated-applications.js'
import { formulaMachine } from '../../src/tuning/online/simulated-machine.js'
import { cellAxes } from '../../src/tuning/settings/call-cells.js'
import { simulateIterations } from '../support/simulated-iterations.js'
import { sampled } from '../support/soak.js'

const machine = formulaMachine('two levels', simulatedLevels, simulatedCollectives, ruleOf)
const table = new NumberedSettings(machine.settings)
const axes = cellAxes({ nodes: 32, processesPerNode: 32 })
/** A case of every application and of every pattern is in each fifth. */
const cases = simulatedApplications.flatMap((application) =>
  arrivalPatterns.map((arrival) => ({ application, name: application.name, arrival })),
)

/** @see Steiner 2023 §5.4.7 */
describe('30 iterations with noise of 10%', () => {
  it.each(sampled(cases, 5))(
    '$name, processes that arrive $arrival: frequent calls are within 5% of the best, exploring costs at most 15%',
    ({ application, arrival }) => {
      const { iterations, cost } = simulateIterations(application, machine, table, axes, {
        ...{ iterations: 30, runsPerIteration: 10, logic: tuningLogic(), seed: 7 },
        conditions: { ...usualConditions, arrival },
      })
      const frequent = iterations.at(-1)!.convergence.filter(({ share }) => share >= 0.01)
      expect(frequent.length).toBeGreaterThan(20)
      expect(frequent.filter(({ ratio }) => ratio > 1.05)).toEqual([])
      expect(cost).toBeLessThan(1.15)
    },
  )
})
