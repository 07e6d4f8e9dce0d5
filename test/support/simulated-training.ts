import { mulberry32 } from '../../src/base/random.js'
import { ruleOf } from '../../src/calls/plan/default-rule.js'
import type { Collective } from '../../src/schedule/specification.js'
import type { CellAxes } from '../../src/tuning/models/decision-grid.js'
import type { CallFile } from '../../src/tuning/online/call-file.js'
import { CallHistory, emptyGrids, withSlowSettings } from '../../src/tuning/online/call-history.js'
import { tuningLogic } from '../../src/tuning/online/grid-selection.js'
import type { LearnedGrid } from '../../src/tuning/online/learn-grid.js'
import { readCallFile } from '../../src/tuning/online/read-call-file.js'
import {
  formulaMachine,
  type SimulatedApplication,
  type SimulatedConditions,
  type SimulatedMachine,
  type SimulatedPlace,
  simulatedApplications,
  simulatedCollectives,
  simulatedLevels,
  simulateRun,
  usualConditions,
} from '../../src/tuning/online/simulated-application.js'
import { NumberedSettings } from '../../src/tuning/settings/setting.js'

/** The machine of `learn --simulate`. */
export const twoLevels = formulaMachine('two levels', simulatedLevels, simulatedCollectives, ruleOf)

/** Another one: a slow network, where a message costs six times as much and a byte a tenth. */
export const slowNetwork = formulaMachine(
  'slow network',
  {
    memory: simulatedLevels.memory,
    network: {
      model: 'loggp',
      ...{ latencyNs: 9000, overheadNs: 2400, gapNs: 4200, nsPerByte: 0.01, reduceNsPerByte: 0.1 },
    },
  },
  simulatedCollectives,
  ruleOf,
)

export const simulatedTable = new NumberedSettings(twoLevels.settings)

/** A simulated application by name, at other places. */
export function applicationAt(name: string, places: readonly SimulatedPlace[]): SimulatedApplication {
  return { ...simulatedApplications.find((each) => each.name === name)!, places }
}

/** Every pair of them. */
export function placesOf(nodes: readonly number[], perNode: readonly number[]): SimulatedPlace[] {
  return nodes.flatMap((count) => perNode.map((processesPerNode) => ({ nodes: count, processesPerNode })))
}

export interface Training {
  readonly iterations: number
  readonly runs: number
  readonly seed: number
  readonly conditions?: Partial<SimulatedConditions>
  /** Settings that are left out, by how many times the fastest they take in every size. */
  readonly slowerThan?: number
}

/**
 * What iterations teach whose runs are of these applications in turn, the files of their runs, and what the calls of each
 * iteration cost over the default.
 */
export function trained(
  applications: readonly SimulatedApplication[],
  machine: SimulatedMachine,
  axes: CellAxes,
  { iterations, runs, seed, conditions, slowerThan }: Training,
): {
  readonly grids: ReadonlyMap<Collective, LearnedGrid>
  readonly files: readonly CallFile[]
  readonly costs: readonly number[]
} {
  const next = mulberry32(seed)
  const history = new CallHistory(simulatedTable)
  const files: CallFile[] = []
  const costs: number[] = []
  let grids = emptyGrids(simulatedTable, axes)
  for (let i = 0; i < iterations; i++) {
    const model = i === 0 ? '' : i.toString(16).padStart(16, '0')
    const sums = { chosenUs: 0, defaultUs: 0 }
    for (let j = 0; j < runs; j++) {
      const run = simulateRun(
        applications[files.length % applications.length],
        machine,
        grids,
        simulatedTable,
        tuningLogic(),
        { ...usualConditions, calls: usualConditions.tunedCalls, ...conditions },
        next(),
        model,
      )
      const file = readCallFile(`run ${files.length}`, run.file)
      files.push(file)
      history.add(file)
      sums.chosenUs += run.chosenUs
      sums.defaultUs += run.chosenDefaultUs
    }
    costs.push(sums.chosenUs / sums.defaultUs)
    grids = history.learn(axes, {}, withSlowSettings(history, new Map(), slowerThan))
  }
  return { grids, files, costs }
}
