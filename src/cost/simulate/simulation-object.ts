import { levels } from '../../machine/profile.js'
import type { Simulation } from './simulation.js'

/** The JSON object holds no more steps of the critical path than this: the last ones. */
export const mostPathSteps = 10_000

/** What a simulation's JSON object says besides its input. */
export function simulationObject({ criticalPath, timeUs, traffic, waitUs }: Simulation) {
  return {
    timeUs,
    waitUs: { mean: meanOf(waitUs), max: waitUs.reduce((most, us) => Math.max(most, us), 0) },
    messages: Object.fromEntries(levels.map((level) => [level, traffic[level].messages])),
    bytes: Object.fromEntries(levels.map((level) => [level, traffic[level].bytes])),
    pathSteps: criticalPath.length,
    criticalPath: criticalPath.slice(-mostPathSteps),
  }
}

function meanOf(values: Float64Array): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
