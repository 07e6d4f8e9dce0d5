import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { modelFileName } from '../../launch/processes/load-online.js'
import { callFileEnding } from '../../launch/processes/recorded-calls.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { packedEnding, packedTuning } from '../../shim/packed-files.js'
import { shellWord } from '../../text/printable.js'
import { fileError, makeDirectory, readRegularFileIfThere } from '../../text/whole-file.js'
import type { MeasurementSource } from '../../tuning/measured/measurement.js'
import { cellAxes, closedGrid } from '../../tuning/models/decision-grid.js'
import { formatTuningFile, readTuningFile, tuningFileLimits } from '../../tuning/models/read-tuning-file.js'
import type { CallFile } from '../../tuning/online/call-file.js'
import { callGains } from '../../tuning/online/call-gains.js'
import {
  type Blacklists,
  CallHistory,
  settingsOfRuns,
  withSlowSettings,
} from '../../tuning/online/call-history.js'
import { tunedLogic, tuningLogic } from '../../tuning/online/grid-selection.js'
import type { LearnedGrid } from '../../tuning/online/learn-grid.js'
import { learningReport } from '../../tuning/online/learning-report.js'
import { arrivalPatterns, simulatedApplications } from '../../tuning/online/simulated-application.js'
import { NumberedSettings, settingLine, type TuningSetting } from '../../tuning/settings/setting.js'
import { callLimits, type TuningCall } from '../../tuning/settings/tuning-call.js'
import { readCallFolder } from '../input/measured-input.js'
import {
  addOptions,
  flag,
  json,
  number,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  whole,
} from '../input/options.js'
import { blacklistsOf, type SimulationOptions, simulateRuns } from '../input/simulated-runs.js'
import { learnOutcome, learnReportOutcome, learnReportText, learnText } from '../output/learn-report.js'
import { checkOutputs, reportBeside, writeBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted } from '../output/result-rows.js'

const help = `
FOLDER has what runs recorded, one file of each run. All runs that explored are learned from, in any order; runs of mode
'tuned' are for evaluation only. The model is a tuning file; the next simulated runs learn from the same files.

A setting needs --least-calls calls, and a collective --least-settings settings that have them, before anything is trusted.
Until then runs try all settings alike.

--simulate first adds runs of an application on a machine whose times are known: to see how many runs it takes, without a
cluster.

Examples:
  rankweave learn runs --simulate refinement --runs 10     ten simulated runs, then a model
  rankweave learn runs --simulate refinement --evaluate    ten more, which use what was learned, and ten by default
  rankweave learn runs --report                            what was gained, and how choices moved
  rankweave run program.ts -n 8 --fabric threads --processes 4 --tuning online:runs && rankweave learn runs
  rankweave learn runs -o tuning.json --best-only --without bcast-linear`

const applicationNames = simulatedApplications.map(({ name }) => name) as [string, ...string[]]

const optionTable = {
  output: option('-o, --output <file>', 'the model to write (default: model.json in the folder)'),
  leastCalls: option('--least-calls <number>', 'calls that a setting needs', whole(1, 2 ** 20), '10'),
  leastSettings: option(
    '--least-settings <number>',
    'settings with so many calls that a collective needs',
    whole(1, 4095),
    '5',
  ),
  bestOnly: flag('--best-only', 'a smaller model, with the best settings only, for runs that do not explore'),
  with: option(
    '--with <text...>',
    'have the next runs try these settings, too: bcast-knomial:radix=3,segment=4096',
    z.array(z.string()),
  ),
  without: option(
    '--without <text...>',
    'never choose these settings: bcast-linear, or bcast-chain:segment=1024',
    z.array(z.string()),
  ),
  withoutSlower: option(
    '--without-slower <factor>',
    'leave out, too, what took so many times the fastest setting in every size',
    number(1.1, 1e6),
  ),
  nodes: option('--nodes <number>', 'nodes of the machine (default: the most of any run)', whole(1, 2 ** 22)),
  perNode: option(
    '--per-node <number>',
    'processes per node (default: the most of any run)',
    whole(1, 2 ** 22),
  ),
  simulate: option(
    '--simulate <application>',
    `first simulate runs of ${applicationNames.join(', ')}`,
    oneOf(...applicationNames),
  ),
  runs: option('--runs <number>', 'of --simulate: how many', whole(1, 1000), '10'),
  arrival: option(
    '--arrival <pattern>',
    `of --simulate: ${arrivalPatterns.join(', ')}`,
    oneOf(...arrivalPatterns),
    'together',
  ),
  noise: option(
    '--noise <deviation>',
    'of --simulate: standard deviation of the logarithm of a time',
    number(0, 2),
    '0.1',
  ),
  evaluate: flag('--evaluate', 'of --simulate: use what was learned, each run followed by one by default'),
  seed: option('--seed <number>', 'of --simulate', whole(0, 2 ** 32 - 1), '1'),
  report: flag('--report', 'how learning went, what evaluation runs gained, what comes next; writes nothing'),
  call: option('--call <call>', 'of --report: follow this call, allreduce:bytes=16,nodes=24,per-node=32'),
  json,
}

/** The options of simulated runs only. */
const ofSimulation = ['runs', 'arrival', 'noise', 'evaluate', 'seed']

/** The options that a report does not have, because it writes nothing. */
const notOfReport = [...ofSimulation, 'simulate', 'output', 'bestOnly']

/** The options of a report that a model does not have. */
const notOfModel = ['report', 'call', 'json']

export const learnCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<folder>', 'where runs record their calls'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, folder: string, raw: unknown, command) => {
        const options = readOptions(optionTable, raw)
        if (options.report) {
          refuseGiven(command, notOfReport, 'is not for --report, which writes nothing')
          reportLearning(report, folder, options, learnLine(command, folder))
          return
        }
        refuseGiven(command, ['call'], 'is for --report')
        if (options.simulate === undefined) refuseGiven(command, ofSimulation, 'is for --simulate')
        const output = options.output ?? join(folder, modelFileName)
        if (output.endsWith(callFileEnding))
          throw wrongValue(
            'ERR_USAGE',
            `-o: expected a model, not a file of calls (*${callFileEnding})`,
            output,
          )
        if (options.simulate === undefined) requireFolder(folder)
        else makeFolder(folder)
        await checkOutputs(report, output)
        if (options.simulate !== undefined) {
          const ratio = await simulateRuns(folder, options as SimulationOptions, report.step)
          const runs = counted(options.runs, 'run', 'runs')
          report.note(`simulated ${runs}: ${ratio.toFixed(3)} times the true time by default`)
        }
        const { files, refused } = readRuns(report, folder)
        report.step('learning')
        const history = historyOf(files, options.with)
        const named = blacklistsOf(history.table, options.without ?? [])
        const blacklists = withSlowSettings(history, named, options.withoutSlower)
        const without = noteLeftOut(report, options, history, blacklists)
        const axes = cellAxes(limitsOf(files, options.nodes, options.perNode))
        const { leastCalls, leastSettings, bestOnly } = options
        const grids = history.learn(
          axes,
          { leastCalls, leastSettings, hasPerformances: !bestOnly },
          blacklists,
        )
        const logic = bestOnly ? tunedLogic : tuningLogic()
        const { source } = files[0]
        const model = formatTuningFile(source, decisionsOf(grids))
        await writeOutput(report, output, [model])
        if (source.kind === 'mpi')
          await writeBeside(output, packedEnding, packedTuning(readTuningFile(model)))
        report.note(`wrote ${output}`)
        const learnedOnes = [...grids].map(([collective, learned]) => ({
          ...{ collective, learned },
          gains: callGains(collective, learned, history.of(collective), logic),
        }))
        const evaluating = files.length - history.runs
        const counts = {
          ...{ runs: history.runs, calls: history.calls, skippedCalls: history.skipped },
          ...{ evaluationRuns: evaluating, refusedFiles: refused },
        }
        reportBeside(
          report,
          output,
          { source, ...counts, leftOut: without, collectives: learnOutcome(learnedOnes), file: output },
          `${headText(files, history)}\n\n${learnText(learnedOnes)}`,
        )
      }),
    )
}

/**
 * Returns the runs of a folder, in the order of their names, and the number of files that are not used.
 *
 * @throws ERR_MEASUREMENT
 */
function readRuns(report: Reporter, folder: string): { files: readonly CallFile[]; refused: number } {
  report.step('reading runs')
  const { runs, refused } = readCallFolder(folder)
  for (const reason of refused) report.note(`not used: ${reason}`)
  if (runs.size === 0)
    throw new RankweaveError(
      'ERR_MEASUREMENT',
      `${folder}: expected files of calls (*${callFileEnding}), got none that can be used`,
    )
  return { files: [...runs.values()], refused: refused.length }
}

function headText(files: readonly CallFile[], { runs, calls }: CallHistory): string {
  const [{ source }] = files
  const evaluating = counted(files.length - runs, 'evaluation run', 'evaluation runs')
  return `${counted(runs, 'run', 'runs')} of ${source.name} on ${source.machine}, ${counted(calls, 'call', 'calls')}; ${evaluating}`
}

type ReportedOptions = Pick<
  OptionValues<typeof optionTable>,
  'leastCalls' | 'leastSettings' | 'with' | 'without' | 'withoutSlower' | 'nodes' | 'perNode' | 'call'
>

/** Runs `learn --report`, which only reads. */
function reportLearning(report: Reporter, folder: string, options: ReportedOptions, line: string): void {
  const { leastCalls, leastSettings, without = [], nodes, perNode } = options
  const call = options.call === undefined ? undefined : callOf(options.call)
  const { files, refused } = readRuns(report, folder)
  report.step('learning')
  const history = historyOf(files, options.with)
  const { table } = history
  if (call !== undefined && table.of(call.collective).length === 0)
    throw wrongValue('ERR_USAGE', `--call: expected one of ${table.collectives.join(', ')}`, options.call)
  const named = blacklistsOf(table, without)
  const withSlow = (runs: CallHistory) => withSlowSettings(runs, named, options.withoutSlower)
  const left = noteLeftOut(report, options, history, withSlow(history))
  const learned = learningReport(files, table, {
    axes: cellAxes(limitsOf(files, nodes, perNode)),
    learning: { leastCalls, leastSettings },
    blacklists: withSlow,
    ...(call === undefined ? {} : { call }),
  })
  noteModel(
    report,
    join(folder, modelFileName),
    formatTuningFile(files[0].source, decisionsOf(learned.grids)),
    line,
  )
  const clocks = [...new Map(files.map(({ clock }) => [JSON.stringify(clock), clock])).values()]
  const counts = { runs: history.runs, calls: history.calls, skippedCalls: history.skipped }
  const evaluationRuns = files.length - history.runs
  report.result(
    {
      ...{ source: files[0].source, ...counts, evaluationRuns, refusedFiles: refused, clocks, leftOut: left },
      ...learnReportOutcome(learned),
    },
    `${headText(files, history)}\n${learnReportText(learned, files, call)}`,
  )
}

/** Notes the settings that options leave out, by collective, if there are such options. */
function noteLeftOut(
  report: Reporter,
  { without = [], withoutSlower }: Pick<ReportedOptions, 'without' | 'withoutSlower'>,
  { table }: CallHistory,
  blacklists: Blacklists,
): Record<string, readonly string[]> {
  const names = leftOut(table, blacklists)
  const isAsked = without.length > 0 || withoutSlower !== undefined
  if (isAsked) for (const line of leftOutNotes(names)) report.note(line)
  return names
}

function decisionsOf(grids: ReadonlyMap<Collective, LearnedGrid>) {
  return Object.fromEntries([...grids].map(([name, { grid }]) => [name, closedGrid(grid)]))
}

/** Notes if the next runs use another model than these runs give, or refuse it. */
function noteModel(report: Reporter, path: string, expected: string, line: string): void {
  try {
    const text = readRegularFileIfThere(path, tuningFileLimits.bytes)?.toString()
    if (text === undefined) report.note(`${path}: there is none, so the next runs try all settings alike`)
    else if (text !== expected)
      report.note(`${path}: the next runs use it, and these runs and options give another one: ${line}`)
  } catch (error) {
    report.note(`the next runs refuse the model: ${reasonText(error)}`)
  }
}

/** Returns the line that writes the model of a report: the folder, and the options that a model has. */
function learnLine(command: Command, folder: string): string {
  const given = command.options.flatMap((option) => {
    const name = option.attributeName()
    const isOwn = !notOfModel.includes(name) && command.getOptionValueSource(name) === 'cli'
    return isOwn ? [option.long!, ...[command.getOptionValue(name)].flat().map(String)] : []
  })
  return ['rankweave', 'learn', folder, ...given].map(shellWord).join(' ')
}

/** Returns a call from a user's text. @throws ERR_USAGE */
function callOf(text: string): TuningCall {
  const [, collective, ...numbers] =
    /^([a-z-]+):bytes=(\d{1,13}),nodes=(\d{1,7}),per-node=(\d{1,7})$/.exec(text) ?? []
  const [bytes, nodes, processesPerNode] = numbers.map(Number)
  const isKnown = (collectives as readonly string[]).includes(collective)
  if (isKnown && bytes <= callLimits.bytes && nodes >= 1 && processesPerNode >= 1)
    if (nodes * processesPerNode <= callLimits.processes)
      return { collective: collective as Collective, bytes, nodes, processesPerNode }
  throw wrongValue('ERR_USAGE', '--call: expected allreduce:bytes=16,nodes=24,per-node=32', text)
}

function historyOf(files: readonly CallFile[], added: readonly string[] = []): CallHistory {
  const history = new CallHistory(withAdded(settingsOfRuns(files), added, files[0].source))
  for (const file of files) history.add(file)
  return history
}

/** Returns the size of the machine: as stated, else the largest that a run used. */
function limitsOf(files: readonly CallFile[], nodes: number | undefined, perNode: number | undefined) {
  const most = { nodes: 1, processesPerNode: 1 }
  for (const { communicators } of files)
    for (const communicator of communicators) {
      most.nodes = Math.max(most.nodes, communicator.nodes)
      most.processesPerNode = Math.max(most.processesPerNode, communicator.processesPerNode)
    }
  return { nodes: nodes ?? most.nodes, processesPerNode: perNode ?? most.processesPerNode }
}

/** Checks the folder before its model turns out to be unwritable. @throws ERR_FILE */
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

/**
 * Returns the settings of runs followed by those of `--with`, so that no number changes. Settings that runs already
 * have are not added again.
 *
 * @throws ERR_ARGUMENT for an unknown algorithm; ERR_USAGE for one of a collective without settings, for parameters
 *   that are not integers, and for runs of another library
 */
export function withAdded(
  table: NumberedSettings,
  texts: readonly string[],
  { kind, name }: MeasurementSource,
): NumberedSettings {
  if (texts.length === 0) return table
  if (kind !== 'rankweave')
    throw wrongValue('ERR_USAGE', '--with: expected runs of a world of Rankweave, not simulated ones', name)
  const settings = table.collectives.flatMap((collective) => table.of(collective))
  const added = texts.map((text) => addedSetting(text, table)).filter((one) => table.numberOf(one) === 0)
  return new NumberedSettings([...settings, ...added])
}

function addedSetting(text: string, table: NumberedSettings): TuningSetting {
  const { collective } = parseAlgorithm(text).algorithm
  if (!table.collectives.includes(collective))
    throw wrongValue('ERR_USAGE', `--with: expected an algorithm of ${table.collectives.join(', ')}`, text)
  const [algorithm, values = ''] = text.split(':')
  const parameters: Record<string, number> = {}
  for (const each of values === '' ? [] : values.split(',')) {
    const [name, value] = each.split('=')
    if (name === 'segments' || !/^\d+$/.test(value))
      throw wrongValue('ERR_USAGE', '--with: expected integer parameters, and segment= in bytes', each)
    parameters[name] = Number(value)
  }
  return { collective, algorithm, parameters }
}

/** The most settings of a collective that are named. */
const mostNamed = 12

/** Returns the settings that a model never chooses, by collective, those first that the user has named. */
function leftOut(table: NumberedSettings, blacklists: Blacklists): Record<string, readonly string[]> {
  const lines = table.collectives.map((collective) => {
    const settings = table.of(collective)
    const numbers = [...(blacklists.get(collective) ?? [])]
    return [collective, numbers.map((number) => settingLine(settings[number - 1]))] as const
  })
  return Object.fromEntries(lines.filter(([, names]) => names.length > 0))
}

/** Returns the settings that are left out as text, a line for each collective. */
function leftOutNotes(names: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const lines = Object.entries(names).map(([collective, own]) => {
    const left = own.length - mostNamed
    const more = left > 0 ? ` and ${counted(left, 'other', 'others')}` : ''
    const listed = own.slice(0, mostNamed).join(' ')
    return `left out of ${collective}: ${counted(own.length, 'setting', 'settings')}, ${listed}${more}`
  })
  return lines.length > 0 ? lines : ['left out: no setting']
}
