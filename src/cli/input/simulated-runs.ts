import { join } from 'node:path'
import { mulberry32 } from '../../base/random.js'
import { ruleOf } from '../../calls/plan/default-rule.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { callFileEnding } from '../../launch/processes/recorded-calls.js'
import type { Collective } from '../../schedule/specification.js'
import { writeWholeFile } from '../../text/whole-file.js'
import type { MeasurementSource } from '../../tuning/measured/measurement.js'
import { cellAxes, closedGrid } from '../../tuning/models/decision-grid.js'
import { formatTuningFile, readTuningFile } from '../../tuning/models/read-tuning-file.js'
import type { CallFile } from '../../tuning/online/call-file.js'
import { CallHistory, emptyGrids, withSlowSettings } from '../../tuning/online/call-history.js'
import { defaultLogic, tunedLogic, tuningLogic } from '../../tuning/online/grid-selection.js'
import type { GridLearning, LearnedGrid } from '../../tuning/online/learn-grid.js'
import {
  type ArrivalPattern,
  formulaMachine,
  simulatedApplications,
  simulatedCollectives,
  simulatedLevels,
  simulateRun,
  usualConditions,
} from '../../tuning/online/simulated-application.js'
import { NumberedSettings, settingLine } from '../../tuning/settings/setting.js'
import { readCallFolder } from './measured-input.js'

/** The runs to simulate. */
export interface SimulationOptions {
  /** The name of the application. */
  readonly simulate: string
  readonly runs: number
  readonly arrival: ArrivalPattern
  readonly noise: number
  /** Whether they use the learned model, each followed by the same run by default. */
  readonly evaluate: boolean
  readonly seed: number
  readonly leastCalls: number
  readonly leastSettings: number
  readonly without?: readonly string[] | undefined
  readonly withoutSlower?: number | undefined
}

/**
 * Adds simulated runs, which use the model learned from the existing runs.
 *
 * @param step shows what comes next
 * @returns their true time over that by default
 * @throws ERR_FILE; ERR_MEASUREMENT for a folder with other runs, in which nothing is written
 */
export async function simulateRuns(
  folder: string,
  options: SimulationOptions,
  step: (line: string) => void,
): Promise<number> {
  const application = simulatedApplications.find(({ name }) => name === options.simulate)!
  const machine = formulaMachine('two levels', simulatedLevels, simulatedCollectives, ruleOf)
  const { runs: before } = readCallFolder(folder)
  const source = { kind: 'simulator', name: application.name, machine: machine.name } as const
  requireRunsOf(folder, source, before)
  const table = new NumberedSettings(machine.settings)
  const axes = cellAxes({ nodes: 32, processesPerNode: 32 })
  const history = new CallHistory(table)
  for (const file of before.values()) history.add(file)
  const { leastCalls, leastSettings } = options
  const learning: GridLearning = { leastCalls, leastSettings }
  const named = blacklistsOf(table, options.without ?? [])
  const blacklists = withSlowSettings(history, named, options.withoutSlower)
  const isFirst = history.runs === 0 && named.size === 0
  const grids = isFirst ? emptyGrids(table, axes) : history.learn(axes, learning, blacklists)
  const model = isFirst ? '' : checksumOf(source, grids)
  const conditions = { ...usualConditions, arrival: options.arrival, noise: options.noise }
  const next = mulberry32(options.seed ^ before.size)
  const sums = { timeUs: 0, defaultUs: 0 }
  let written = before.size
  for (let i = 0; i < options.runs; i++) {
    step(`simulating run ${i + 1} of ${options.runs}`)
    const seed = next()
    for (const logic of options.evaluate ? [tunedLogic, defaultLogic] : [tuningLogic()]) {
      const used = logic === defaultLogic ? emptyGrids(table, axes) : grids
      const named = logic === defaultLogic ? '' : model
      const run = simulateRun(application, machine, used, table, logic, conditions, seed, named)
      if (logic !== defaultLogic) {
        sums.timeUs += run.timeUs
        sums.defaultUs += run.defaultUs
      }
      const name = `simulated-${String(written++).padStart(4, '0')}${callFileEnding}`
      await writeWholeFile(join(folder, name), run.file)
    }
  }
  return sums.timeUs / sums.defaultUs
}

/** Requires runs of this source; `rankweave learn` would refuse a mixture. @throws ERR_MEASUREMENT */
function requireRunsOf(
  folder: string,
  { kind, name, machine }: MeasurementSource,
  before: ReadonlyMap<string, CallFile>,
): void {
  for (const [file, { source }] of before) {
    if (source.kind === kind && source.name === name && source.machine === machine) continue
    const got = `${file} of ${source.kind} '${source.name}' on '${source.machine}'`
    const message = `${folder}: expected simulated runs of ${name}, got ${got}: take another folder`
    throw new RankweaveError('ERR_MEASUREMENT', message)
  }
}

/** Returns the checksum that identifies runs of one model. */
function checksumOf(source: MeasurementSource, grids: ReadonlyMap<Collective, LearnedGrid>): string {
  const decisions = Object.fromEntries([...grids].map(([name, { grid }]) => [name, closedGrid(grid)]))
  return readTuningFile(formatTuningFile(source, decisions)).checksum
}

/**
 * Returns the numbers of the settings of `--without`: an algorithm with all of its settings, or one of them.
 *
 * @throws ERR_USAGE for a text that names none
 */
export function blacklistsOf(
  table: NumberedSettings,
  texts: readonly string[],
): Map<Collective, Set<number>> {
  const lists = new Map<Collective, Set<number>>()
  for (const text of texts) {
    let found = 0
    for (const collective of table.collectives)
      for (const [i, setting] of table.of(collective).entries()) {
        if (settingLine(setting) !== text && setting.algorithm !== text) continue
        found++
        lists.set(collective, (lists.get(collective) ?? new Set()).add(i + 1))
      }
    if (found === 0) throw wrongValue('ERR_USAGE', '--without: expected a setting that runs have', text)
  }
  return lists
}
