import type { Command } from 'commander'
import * as z from 'zod'
import { modelLimits } from '../../cost/models/check-input.js'
import { modeledAlgorithms } from '../../cost/models/modeled-algorithms.js'
import { networkCollectives, predictNetwork } from '../../cost/models/network-cost.js'
import { type ModelPrediction, predictAlgorithms } from '../../cost/models/predict.js'
import type { CostModel } from '../../cost/models/terms.js'
import { htmlOf } from '../../document/html.js'
import { RankweaveError, shown } from '../../errors.js'
import { cluster, type Machine } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { profileOf, profileOrigin } from '../../machine/network.js'
import { type Level, levels, type Profile } from '../../machine/profile.js'
import type { Collective } from '../../schedule/specification.js'
import { modelDocument } from '../../study/model-document.js'
import { percentText } from '../../text/printable.js'
import {
  type ChoiceReport,
  compareModels,
  elected,
  type ModelComparison,
  votingModels,
} from '../../tuning/measured/compare-models.js'
import { measuredData } from '../../tuning/measured/measured-data.js'
import {
  type FormulaName,
  formulaPredictor,
  modelOfLevel,
  simulatorPredictor,
} from '../../tuning/measured/predictors.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { machineCheck, readProfile } from '../input/machine-input.js'
import { readMeasurementFiles } from '../input/measured-input.js'
import {
  addOptions,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  required,
  whole,
} from '../input/options.js'
import { withoutFormula, withoutSchedule } from '../output/algorithm-list.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { columns, counted, figure, type ResultColumn, significant } from '../output/result-rows.js'

const modeled = [...new Set(modeledAlgorithms.map(({ collective }) => collective))]

const help = `
COLLECTIVE is one of ${modeled.join(', ')}.
BYTES is what MPI's count describes: the vector of bcast, reduce, allreduce, scan and exscan, the block of one rank of the
others. --model takes the parameters that a paper prints, in nanoseconds and nanoseconds per byte, instead of a profile:
hockney:alpha=A,beta=B or loggp:L=L,o=O,g=G,G=G, and gamma=C,delta=D for a byte combined and copied. --model vote names the
algorithm that most of the three models take for the fastest; where all disagree, that of plogp. --machine lists the buckets and
reordered doublings of allgather, reduce-scatter and allreduce, which share links, by their closed costs. Formulas assume one rank per node and no contention, and are not measured; rankweave simulate runs the schedule.

With --compare, the times of a file of measurements stand beside those of each model and of the simulator, all calls of it or
those of COLLECTIVE: the error of each, and how often it finds the setting that was measured as the fastest. Formulas take level
network for calls on several nodes, else level node. Of --machine, the profile and the network count.

Examples:
  rankweave models bcast --profile simgrid-fast --ranks 64 --bytes 1048576
  rankweave models bcast --model hockney:alpha=47600,beta=4.4 --ranks 4 --bytes 65536
  rankweave models allreduce --profile threads.json --level node --ranks 8 --bytes 8 --model plogp --json
  rankweave models allgather --machine torus:dims=32x32x32,profile=bluegene-p --bytes 16384
  rankweave models --compare data.jsonl --profile cluster.json -o compared.html`

const optionTable = {
  profile: option(
    '--profile <name>',
    'a built-in profile, or a file that calibrate wrote (-: standard input)',
  ),
  ranks: option('--ranks <number>', 'participants', whole(1, modelLimits.ranks)),
  bytes: option('--bytes <number>', 'length of the data', whole(0, modelLimits.bytes), '0'),
  level: option(
    '--level <name>',
    `distance between ranks: ${levels.join(', ')}`,
    oneOf(...levels),
    'network',
  ),
  model: option(
    '--model <name>',
    'loggp, hockney or plogp; one with its parameters; or vote',
    z.string(),
    'loggp',
  ),
  compare: option('--compare <file>', 'a file of measurements, to compare with all models and the simulator'),
  machine: option(
    '--machine <text>',
    'a machine with a profile: algorithms along its network; with --compare instead of --profile',
    machineCheck,
  ),
  output: option('-o, --output <file>', 'with --compare: write tables and pictures as a page (*.html)'),
  json,
}

type Options = OptionValues<typeof optionTable>

export const modelsCommand: AddCommand = (command, act) => {
  addOptions(command.argument('[collective]', 'the collective, e.g. bcast'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, collective: string | undefined, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        if (options.compare !== undefined) {
          refuseGiven(command, ['ranks', 'bytes', 'level', 'model'], 'is not for --compare')
          return await compareFile(report, collective, options, options.compare)
        }
        refuseGiven(command, ['output'], 'is for --compare')
        if (options.machine !== undefined) {
          const reason = 'is not for --machine, which has a rank on every node'
          refuseGiven(command, ['profile', 'ranks', 'level', 'model'], reason)
          return listNetwork(report, collective, options, options.machine)
        }
        if (options.model.includes(':'))
          refuseGiven(command, ['profile', 'level'], 'is not for a model with its parameters')
        if (options.model === 'vote') voteOf(report, collective, options)
        else listAlgorithms(report, collective, options)
      }),
    )
}

function listAlgorithms(report: Reporter, collective: string | undefined, options: Options): void {
  const { profile: name, level, model } = options
  const { ranks, bytes } = callOf(collective, options)
  const { parameters, profile, where } = model.includes(':')
    ? { parameters: printedModel(model), profile: null, where: '' }
    : modelOfProfile(name, level, model)
  const algorithms = predictAlgorithms(collective as Collective, parameters, { ranks, bytes })
  const title = `${collective} of ${counted(bytes, 'byte', 'bytes')} on ${counted(ranks, 'rank', 'ranks')}, predicted by ${model}${where}`
  const missing = withoutFormula().filter((each) => each.collective === collective)
  const unscheduled = withoutSchedule().filter((each) => each.collective === collective)
  const lines = [...missing, ...unscheduled].map(({ id, why }) => `  ${id}: ${why}`)
  report.result(
    {
      ...{ collective, ranks, bytes, profile, level: profile && level, parameters, algorithms },
      ...{ withoutFormula: missing, withoutSchedule: unscheduled },
    },
    [title, columns(algorithms, [algorithmColumn(''), ...predictionColumns]), ...lines].join('\n'),
  )
}

/** @throws ERR_USAGE if either is missing */
function callOf(collective: string | undefined, { ranks, bytes }: Options) {
  if (collective === undefined) throw new RankweaveError('ERR_USAGE', 'expected a collective, or --compare')
  if (ranks === undefined) throw new RankweaveError('ERR_USAGE', 'expected --ranks')
  return { ranks, bytes }
}

const algorithmColumn = (title: string): ResultColumn<{ readonly algorithm: string }> => [
  title,
  ({ algorithm }) => algorithm,
]

const predictionColumns: readonly ResultColumn<ModelPrediction>[] = [
  ['predicted', ({ timeUs }) => `${timeUs.toFixed(1)} us`],
  [
    'segments',
    ({ segmentBytes, segments }) =>
      segmentBytes === null ? 'one' : `${figure(segments)} of ${counted(segmentBytes, 'byte', 'bytes')}`,
  ],
]

/** Lists algorithms along the dimensions of a network, by their closed costs. */
function listNetwork(
  report: Reporter,
  collective: string | undefined,
  { bytes }: Options,
  machine: Machine,
): void {
  const known = networkCollectives.find((name) => name === collective)
  if (known === undefined)
    throw new RankweaveError(
      'ERR_USAGE',
      `--machine: expected a collective among ${networkCollectives.join(', ')}, got ${shown(collective)}`,
    )
  const algorithms = predictNetwork(known, machine, bytes)
  const table = columns(algorithms, [
    algorithmColumn(''),
    ['predicted', ({ timeUs }) => `${timeUs.toFixed(1)} us`],
    ['messages', ({ messages }) => figure(messages)],
    ['blocks on the busiest links', ({ units }) => units.toFixed(1)],
  ])
  const on = `${formatMachine(machine)}, ${profileOf(machine).name}`
  const title = `${collective} of ${counted(bytes, 'byte', 'bytes')}, a rank on every node of ${on}, predicted by closed costs`
  report.result({ collective, bytes, machine: formatMachine(machine), algorithms }, `${title}\n${table}`)
}

/** Reports the fastest algorithm by each model, and the choice of most models. */
function voteOf(report: Reporter, collective: string | undefined, options: Options): void {
  const { ranks, bytes } = callOf(collective, options)
  const { profile: name, level } = options
  const votes = votingModels.map((model) => {
    const { parameters } = modelOfProfile(name, level, model)
    return { model, ...predictAlgorithms(collective as Collective, parameters, { ranks, bytes })[0] }
  })
  const algorithm = elected(votes.map((vote) => vote.algorithm))
  const title = `${collective} of ${counted(bytes, 'byte', 'bytes')} on ${counted(ranks, 'rank', 'ranks')}, by a vote of models: ${algorithm}`
  const table = columns(votes, [['', ({ model }) => model], algorithmColumn('fastest'), ...predictionColumns])
  report.result({ collective, ranks, bytes, profile: name, level, algorithm, votes }, `${title}\n${table}`)
}

function modelOfProfile(name: string | undefined, level: Level, text: string) {
  const model = readOptions(namedModel, { model: text }).model
  if (name === undefined)
    throw new RankweaveError('ERR_USAGE', 'expected --profile, or --model with parameters')
  const profile = readProfile(name)
  const where = `, ${profile.name} (${level}${tablesText(profile, level, model)})`
  return { parameters: modelOfLevel(profile, level, model), profile: profile.name, where }
}

const namedModel = {
  model: required('--model <name>', 'a model by its name alone', oneOf('loggp', 'hockney', 'plogp')),
}

const memorySymbols = { gamma: 'reduceNsPerByte', delta: 'copyNsPerByte' } as const
const printedSymbols = {
  hockney: { alpha: 'latencyNs', beta: 'nsPerByte' },
  loggp: { L: 'latencyNs', o: 'overheadNs', g: 'gapNs', G: 'nsPerByte' },
} as const

/** Returns a model from the symbols of papers, `hockney:alpha=47600,beta=4.4`. @throws ERR_USAGE */
function printedModel(text: string): CostModel {
  const kind = text.slice(0, text.indexOf(':'))
  const symbols: Readonly<Record<string, string>> | undefined = new Map(Object.entries(printedSymbols)).get(
    kind,
  )
  if (symbols === undefined) failModel('hockney or loggp before the colon', kind)
  const names = new Map(Object.entries({ ...symbols, ...memorySymbols }))
  const model: Record<string, string | number> = { model: kind }
  for (const each of text.slice(kind.length + 1).split(',')) {
    const [symbol, value = '', ...more] = each.split('=')
    const name = names.get(symbol)
    if (
      name === undefined ||
      more.length > 0 ||
      !/^\d+(\.\d+)?(e-?\d+)?$/i.test(value) ||
      !(Number(value) <= 1e15)
    )
      failModel(`${[...names.keys()].join('=, ')}= with a number from 0 to 1e15 each`, each)
    if (name in model) failModel('every parameter once', each)
    model[name] = Number(value)
  }
  for (const [symbol, name] of Object.entries(symbols))
    if (!(name in model)) failModel(`${symbol}= among the parameters`, text)
  return model as unknown as CostModel
}

function failModel(expected: string, got: string): never {
  throw new RankweaveError('ERR_USAGE', `--model: expected ${expected}, got ${shown(got)}`)
}

function tablesText(profile: Profile, level: Level, model: FormulaName): string {
  return model === 'plogp' && profile.levels[level].plogp === undefined ? ', no tables: from LogGP' : ''
}

async function compareFile(
  report: Reporter,
  collective: string | undefined,
  { profile: name, machine: given, output }: Options,
  file: string,
): Promise<void> {
  if ((name === undefined) === (given === undefined))
    throw new RankweaveError('ERR_USAGE', '--compare: expected --profile or --machine, one of them')
  if (output !== undefined && !isStandardOutput(output) && !output.endsWith('.html'))
    throw new RankweaveError('ERR_USAGE', `--output: expected a name that ends in .html, got '${output}'`)
  await checkOutputs(report, output)
  const machine: Machine = given ?? cluster({ nodes: 1, cores: 1, profile: readProfile(name!) })
  const profile = profileOf(machine)
  const data = measuredData(
    readMeasurementFiles([file]).filter(
      (one) => one.algorithm !== 'default' && (collective === undefined || one.collective === collective),
    ),
  )
  const models = (['hockney', 'loggp', 'plogp'] as const).map((model) => formulaPredictor(profile, model))
  const comparison = compareModels(data, [...models, simulatorPredictor(machine)], (index, all) =>
    report.progress(() => `predicting: ${figure(index)} of ${figure(all)} times`),
  )
  const on = given === undefined ? '' : ` on ${formatMachine(given)}`
  const predictedFor = `profile ${profileOrigin(profile)}${on}${tablesText(profile, 'network', 'plogp')}`
  if (output !== undefined) {
    await writeOutput(report, output, htmlOf(modelDocument(comparison, predictedFor)))
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  const object = { ...comparison, profile: profile.name, file: output ?? null }
  reportBeside(report, output, object, comparisonText(comparison, predictedFor))
}

/** The most times that are printed; `--json` and the page have all. */
const mostShown = 60

/** Returns the text of `rankweave models --compare`: a row per predictor, then a row per time. */
function comparisonText({ source, predictors, vote, times }: ModelComparison, predictedFor: string): string {
  const calls = new Set(times.map(({ call }) => callText(call))).size
  const ofPredictor = (text: (one: (typeof predictors)[number]) => string) => (one: Chooser) =>
    'predictor' in one ? text(one) : ''
  type Chooser = (typeof predictors)[number] | ChoiceReport
  const summary = columns<Chooser>(
    [...predictors, vote],
    [
      ['', (one) => ('predictor' in one ? one.predictor : 'vote')],
      ['times', ofPredictor((one) => figure(one.times))],
      ['median error', ofPredictor((one) => percent(one.medianError))],
      ['largest', ofPredictor((one) => percent(one.maxError))],
      ['predicted / measured', ofPredictor((one) => ratio(one.medianRatio))],
      ['winner', ({ winners, calls: of }) => `${figure(winners)} of ${figure(of)}`],
      ['mean penalty', ({ meanPenaltyPercent }) => percent(meanPenaltyPercent / 100)],
      ['largest', ({ maxPenaltyPercent }) => percent(maxPenaltyPercent / 100)],
    ],
  )
  const listed = times.slice(0, mostShown)
  const left = times.length - listed.length
  return [
    `${counted(times.length, 'time', 'times')} of ${counted(calls, 'call', 'calls')}: ${source.kind} ${source.name}, ${source.machine}`,
    `predicted: ${predictedFor}`,
    summary,
    '',
    columns(listed, [
      [
        'us; * fastest measured',
        ({ call, setting, isBest }) => `${callText(call)}: ${setting}${isBest ? ' *' : ''}`,
      ],
      ['measured', ({ measuredUs }) => microseconds(measuredUs)],
      ...predictors.map(
        ({ predictor }): ResultColumn<(typeof times)[number]> => [
          predictor,
          ({ predictedUs }) => microseconds(predictedUs[predictor] ?? null),
        ],
      ),
    ]),
    ...(left === 0 ? [] : [`  and ${figure(left)} more: -o FILE.html and --json have all`]),
  ].join('\n')
}

function microseconds(timeUs: number | null): string {
  return timeUs === null ? '–' : timeUs.toFixed(1)
}

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : percentText(share, 1)
}

function ratio(value: number): string {
  return Number.isNaN(value) ? '–' : significant(value)
}
