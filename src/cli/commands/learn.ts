import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { mulberry32 } from '../../base/random.js'
import { ruleOf } from '../../calls/plan/default-rule.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { callFileEnding } from '../../launch/processes/call-files.js'
import type { Collective } from '../../schedule/specification.js'
import { fileError, makeDirectory, writeWholeFile } from '../../text/whole-file.js'
import { cellAxes } from '../../tuning/call-cells.js'
import { closedGrid } from '../../tuning/decision-grid.js'
import type { CallFile } from '../../tuning/online/call-file.js'
import { callGains } from '../../tuning/online/call-gains.js'
import { tunedLogic, tuningLogic } from '../../tuning/online/grid-selection.js'
import type { LearnedGrid } from '../../tuning/online/learn-grid.js'
import { CallHistory, emptyGrids, settingsOfRuns } from '../../tuning/online/learn-runs.js'
import { NumberedSettings } from '../../tuning/online/numbered-settings.js'
import { arrivalPatterns, simulateRun, usualConditions } from '../../tuning/online/simulated-application.js'
import {
  simulatedApplications,
  simulatedCollectives,
  simulatedLevels,
} from '../../tuning/online/simulated-applications.js'
import { formulaMachine } from '../../tuning/online/simulated-machine.js'
import { formatTuningFile } from '../../tuning/read-tuning-file.js'
import { settingLine } from '../../tuning/setting.js'
import { readCallFolder } from '../input/call-folder.js'
import { number, oneOf, parseOptions, refuseGiven, whole } from '../input/options.js'
import { learnOutcome, learnText } from '../output/learn-text.js'
import { checkOutputs, reportBeside, writeOutput } from '../output/output-file.js'
import { counted, type Reporter } from '../output/reporter.js'
import type { AddCommand } from './command.js'

const help = `
FOLDER has what runs recorded, one file of each run. All runs that explored are learned from, in any order; runs of mode
'tuned' are for evaluation only. The model is a tuning file; the next simulated runs learn from the same files.

A setting needs --least-calls calls, and a collective --least-settings settings that have them, before anything is trusted.
Until then runs try all settings alike.

--simulate first adds runs of an application on a machine whose times are known: to see how many runs it takes, without a
cluster.

Examples:
  rankweave learn runs --simulate refinement --runs 10     ten simulated runs, then a model
  rankweave learn runs --simulate refinement --evaluate    ten more, which use what was learned
  rankweave run program.ts -n 8 --fabric threads --processes 4 --tuning online:runs && rankweave learn runs
  rankweave learn runs -o tuning.json --best-only --without bcast-linear`

const applicationNames = simulatedApplications.map(({ name }) => name) as [string, ...string[]]

const schema = z.object({
  output: z.string().optional(),
  leastCalls: whole(1, 2 ** 20),
  leastSettings: whole(1, 4095),
  bestOnly: z.boolean(),
  without: z.array(z.string()).optional(),
  nodes: whole(1, 2 ** 22).optional(),
  perNode: whole(1, 2 ** 22).optional(),
  simulate: oneOf(...applicationNames).optional(),
  runs: whole(1, 1000),
  arrival: oneOf(...arrivalPatterns),
  noise: number(0, 2),
  evaluate: z.boolean(),
  seed: whole(0, 2 ** 32 - 1),
})

/** What only simulated runs have. */
const ofSimulation = ['runs', 'arrival', 'noise', 'evaluate', 'seed']

/** `rankweave learn`: a model from what runs recorded. */
export const learnCommand: AddCommand = (command, act) => {
  command
    .argument('<folder>', 'where runs record their calls')
    .option('-o, --output <file>', 'the model to write (default: model.json in the folder)')
    .option('--least-calls <number>', 'calls that a setting needs', '10')
    .option('--least-settings <number>', 'settings with so many calls that a collective needs', '5')
    .option('--best-only', 'a model for runs that do not explore, a fiftieth of the size', false)
    .option('--without <text...>', 'never choose these settings: bcast-linear, or bcast-chain:segment=1024')
    .option('--nodes <number>', 'nodes of the machine (default: the most of any run)')
    .option('--per-node <number>', 'processes per node (default: the most of any run)')
    .option('--simulate <application>', `first simulate runs of ${applicationNames.join(', ')}`)
    .option('--runs <number>', 'of --simulate: how many', '10')
    .option('--arrival <pattern>', `of --simulate: ${arrivalPatterns.join(', ')}`, 'together')
    .option('--noise <deviation>', 'of --simulate: standard deviation of the logarithm of a time', '0.1')
    .option('--evaluate', 'of --simulate: use what was learned, without exploring', false)
    .option('--seed <number>', 'of --simulate', '1')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, folder: string, raw: unknown, command) => {
        const options = parseOptions(schema, raw)
        if (options.simulate === undefined) refuseGiven(command, ofSimulation, 'is for --simulate')
        const output = options.output ?? join(folder, 'model.json')
        if (output.endsWith(callFileEnding))
          throw wrongValue(
            'ERR_USAGE',
            `-o: expected a model, not a file of calls (*${callFileEnding})`,
            output,
          )
        if (options.simulate === undefined) requireFolder(folder)
        else makeFolder(folder)
        await checkOutputs(report, output)
        if (options.simulate !== undefined) await simulate(report, folder, options as SimulationOptions)
        report.step('reading runs')
        const { runs, refused } = readCallFolder(folder)
        for (const reason of refused) report.note(`not used: ${reason}`)
        if (runs.size === 0)
          throw new RankweaveError(
            'ERR_MEASUREMENT',
            `${folder}: expected files of calls (*${callFileEnding}), got none that can be used`,
          )
        report.step('learning')
        const files = [...runs.values()]
        const history = historyOf(files)
        const blacklists = blacklistsOf(history.table, options.without ?? [])
        const axes = cellAxes(limitsOf(files, options.nodes, options.perNode))
        const { leastCalls, leastSettings, bestOnly } = options
        const grids = history.learn(
          axes,
          { leastCalls, leastSettings, hasPerformances: !bestOnly },
          blacklists,
        )
        const decisions = Object.fromEntries([...grids].map(([name, { grid }]) => [name, closedGrid(grid)]))
        const logic = bestOnly ? tunedLogic : tuningLogic()
        const { source } = files[0]
        await writeOutput(report, output, [formatTuningFile(source, decisions)])
        report.note(`wrote ${output}`)
        const collectives = [...grids].map(([collective, learned]) => ({
          ...{ collective, learned },
          gains: callGains(collective, learned, history.of(collective), logic),
        }))
        const evaluating = files.length - history.runs
        const counts = {
          ...{ runs: history.runs, calls: history.calls, skippedCalls: history.skipped },
          ...{ evaluationRuns: evaluating, refusedFiles: refused.length },
        }
        const head = `${counted(history.runs, 'run', 'runs')} of ${source.name} on ${source.machine}, ${counted(history.calls, 'call', 'calls')}; ${counted(evaluating, 'evaluation run', 'evaluation runs')}`
        reportBeside(
          report,
          output,
          { source, ...counts, collectives: learnOutcome(collectives), file: output },
          `${head}\n\n${learnText(collectives)}`,
        )
      }),
    )
}

function historyOf(files: readonly CallFile[]): CallHistory {
  const history = new CallHistory(settingsOfRuns(files))
  for (const file of files) history.add(file)
  return history
}

/** How large the machine is: as stated, else the most that a run used. */
function limitsOf(files: readonly CallFile[], nodes: number | undefined, perNode: number | undefined) {
  const most = { nodes: 1, processesPerNode: 1 }
  for (const { communicators } of files)
    for (const communicator of communicators) {
      most.nodes = Math.max(most.nodes, communicator.nodes)
      most.processesPerNode = Math.max(most.processesPerNode, communicator.processesPerNode)
    }
  return { nodes: nodes ?? most.nodes, processesPerNode: perNode ?? most.processesPerNode }
}

/** Settings by what the user named: an algorithm with all of its settings, or one of them. */
function blacklistsOf(table: NumberedSettings, texts: readonly string[]): Map<Collective, Set<number>> {
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

interface SimulationOptions {
  readonly simulate: string
  readonly runs: number
  readonly arrival: (typeof arrivalPatterns)[number]
  readonly noise: number
  readonly evaluate: boolean
  readonly seed: number
}

/** Adds simulated runs, which use what was learned from the runs that are there. */
async function simulate(report: Reporter, folder: string, options: SimulationOptions): Promise<void> {
  const application = simulatedApplications.find(({ name }) => name === options.simulate)!
  const machine = formulaMachine('two levels', simulatedLevels, simulatedCollectives, ruleOf)
  const before = [...readCallFolder(folder).runs.values()]
  const table = new NumberedSettings(machine.settings)
  const axes = cellAxes({ nodes: 32, processesPerNode: 32 })
  const history = new CallHistory(table)
  for (const file of before) history.add(file)
  const grids: ReadonlyMap<Collective, LearnedGrid> =
    history.runs === 0 ? emptyGrids(table, axes) : history.learn(axes)
  const logic = options.evaluate ? tunedLogic : tuningLogic()
  const conditions = { ...usualConditions, arrival: options.arrival, noise: options.noise }
  const next = mulberry32(options.seed ^ before.length)
  const sums = { timeUs: 0, defaultUs: 0 }
  for (let i = 0; i < options.runs; i++) {
    report.step(`simulating run ${i + 1} of ${options.runs}`)
    const run = simulateRun(application, machine, grids, table, logic, conditions, next())
    sums.timeUs += run.timeUs
    sums.defaultUs += run.defaultUs
    const name = `simulated-${String(before.length + i).padStart(4, '0')}${callFileEnding}`
    await writeWholeFile(join(folder, name), run.file)
  }
  const ratio = (sums.timeUs / sums.defaultUs).toFixed(3)
  report.note(`simulated ${counted(options.runs, 'run', 'runs')}: ${ratio} times the true time by default`)
}

/** Before its model is found to be unwritable. @throws ERR_FILE */
function requireFolder(folder: string): void {
  try {
    readdirSync(folder)
  } catch (cause) {
    throw fileError('read', folder, cause)
  }
}

function makeFolder(folder: string): void {
  try {
    makeDirectory(folder)
  } catch (cause) {
    throw fileError('make', folder, cause)
  }
}
