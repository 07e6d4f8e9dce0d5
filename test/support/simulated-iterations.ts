import { mulberry32 } from '../../src/base/random.js'
import type { Collective } from '../../src/schedule/specification.js'
import { bestNumber } from '../../src/tuning/models/decision-grid.js'
import { readCallFile } from '../../src/tuning/online/call-file.js'
import type { SelectionLogic } from '../../src/tuning/online/grid-selection.js'
import type { GridLearning, LearnedGrid } from '../../src/tuning/online/learn-grid.js'
import { CallHistory, emptyGrids } from '../../src/tuning/online/learn-runs.js'
import type { NumberedSettings } from '../../src/tuning/online/numbered-settings.js'
import {
  type SimulatedApplication,
  type SimulatedConditions,
  servedNumbers,
  simulateRun,
} from '../../src/tuning/online/simulated-application.js'
import type { SimulatedMachine } from '../../src/tuning/online/simulated-machine.js'
import type { CellAxes } from '../../src/tuning/settings/call-cells.js'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'

/** A call of an application at one of its places, and what was learned about it. */
export interface CallConvergence {
  readonly call: TuningCall
  /** Part of all calls, 0 to 1. */
  readonly share: number
  /** True time of the setting that is chosen over that of the best one that serves; of the default where none is. */
  readonly ratio: number
}

export interface SimulatedIteration {
  /** True time of the runs of this iteration over that by default, all of their calls. */
  readonly cost: number
  /** The same of the calls that were chosen. */
  readonly chosenCost: number
  /** After learning. */
  readonly convergence: readonly CallConvergence[]
}

export interface SimulatedIterations {
  readonly iterations: readonly SimulatedIteration[]
  readonly grids: ReadonlyMap<Collective, LearnedGrid>
  /** True time of the runs of all iterations over that by default. */
  readonly cost: number
}

export interface IterationOptions {
  readonly iterations: number
  readonly runsPerIteration: number
  readonly conditions: SimulatedConditions
  readonly logic: SelectionLogic
  readonly learning?: GridLearning
  readonly seed: number
}

/**
 * What batches of runs of an application learn on a machine whose true times are known. Each iteration has some runs
 * that explore and then learns from all runs so far.
 *
 * @see Steiner 2023 §5.4.3, §5.4.7
 */
export function simulateIterations(
  application: SimulatedApplication,
  machine: SimulatedMachine,
  table: NumberedSettings,
  axes: CellAxes,
  options: IterationOptions,
): SimulatedIterations {
  const { iterations, runsPerIteration, conditions, logic, learning, seed } = options
  const nextSeed = mulberry32(seed)
  const history = new CallHistory(table)
  let grids = emptyGrids(table, axes)
  const done: SimulatedIteration[] = []
  const all = { timeUs: 0, defaultUs: 0 }
  for (let i = 0; i < iterations; i++) {
    const sums = { timeUs: 0, defaultUs: 0, chosenUs: 0, chosenDefaultUs: 0 }
    for (let j = 0; j < runsPerIteration; j++) {
      const run = simulateRun(application, machine, grids, table, logic, conditions, nextSeed())
      for (const name of ['timeUs', 'defaultUs', 'chosenUs', 'chosenDefaultUs'] as const)
        sums[name] += run[name]
      history.add(readCallFile(`run ${j} of iteration ${i}`, run.file))
    }
    grids = history.learn(axes, learning)
    all.timeUs += sums.timeUs
    all.defaultUs += sums.defaultUs
    done.push({
      cost: sums.timeUs / sums.defaultUs,
      chosenCost: sums.chosenUs / sums.chosenDefaultUs,
      convergence: convergenceOf(application, machine, table, grids),
    })
  }
  return { iterations: done, grids, cost: all.timeUs / all.defaultUs }
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
