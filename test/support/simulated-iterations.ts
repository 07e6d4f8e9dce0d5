import type { Collective } from '../../src/schedule/specification.js'
import { bestNumber } from '../../src/tuning/models/decision-grid.js'
import type { LearnedGrid } from '../../src/tuning/online/learn-grid.js'
import type { NumberedSettings } from '../../src/tuning/online/numbered-settings.js'
import { type SimulatedApplication, servedNumbers } from '../../src/tuning/online/simulated-application.js'
import type { SimulatedMachine } from '../../src/tuning/online/simulated-machine.js'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'

/** A call of an application at one of its places, and what was learned about it. */
export interface CallConvergence {
  readonly call: TuningCall
  /** Part of all calls, 0 to 1. */
  readonly share: number
  /** True time of the setting that is chosen over that of the best one that serves; of the default where none is. */
  readonly ratio: number
}

/** How good what was learned is for every call of an application, at each of its places. */
export function convergenceOf(
  application: SimulatedApplication,
  machine: SimulatedMachine,
  table: NumberedSettings,
  grids: ReadonlyMap<Collective, LearnedGrid>,
): CallConvergence[] {
  const total = application.calls.reduce((sum, { weight }) => sum + weight, 0) * application.places.length
  return application.places.flatMap((place) =>
    application.calls.map(({ collective, bytes, weight }) => {
      const call = { collective, bytes, ...place }
      const timeOf = (number: number) => machine.timeUs(table.settingOf(collective, number), call)
      const served = servedNumbers(table, machine, collective, place)
      const bestUs = Math.min(...served.map(timeOf))
      const grid = grids.get(collective)?.grid
      const chosen = grid?.isTrained ? bestNumber(grid, bytes, place.nodes, place.processesPerNode) : 0
      const chosenUs = served.includes(chosen)
        ? timeOf(chosen)
        : machine.timeUs({ collective, algorithm: 'default', parameters: {} }, call)
      return { call, share: weight / total, ratio: chosenUs / bestUs }
    }),
  )
}
