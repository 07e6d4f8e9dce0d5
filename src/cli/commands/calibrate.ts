import { cpus } from 'node:os'
import type { Command } from 'commander'
import {
  type Calibration,
  calibratedRanksPerProcess,
  calibratedSizes,
  isWide,
  type MeasuredFigure,
  type MeasuredMessages,
} from '../../calibrate/calibrate.js'
import { calibratedProfile } from '../../calibrate/calibrated-profile.js'
import { type FittedProfile, fittedProfile } from '../../calibrate/fitted-profile.js'
import { RankweaveError } from '../../errors.js'
import type { MessageTables, Profile } from '../../machine/profile.js'
import { formatProfile } from '../../machine/profile-file.js'
import { ownVersion } from '../../package-paths.js'
import { percentText } from '../../text/printable.js'
import { readProfile } from '../input/machine-input.js'
import { readMeasurementFiles } from '../input/measured-input.js'
import {
  addOptions,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  whole,
  wholeList,
} from '../input/options.js'
import { measuredFabricOf, measuredWorldOptions, reportOf } from '../input/world-options.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { columns, counted } from '../output/result-rows.js'
import main from '../program/calibrate-program.js'
import { runOwnProgram } from '../program/run-program.js'

const help = `
Measures between process 0 and the next process on its node, and between process 0 and a process of another node if there
is one: overheads, latency, gap and time per byte of frames. Measures in process 0: copies and combinations.
What is measured, and how: docs/cost-models.md of the package.
With --fit nothing is measured: L and g of PLogP follow from times in a file of measurements, those of broadcasts along a
chain (bcast-chain, without segments) and of flat barriers (barrier-linear) on several numbers of processes, one per node or all
on one node; overheads are those of --profile.

Examples:
  rankweave calibrate --fabric threads -o threads.json
  mpirun -n 2 rankweave calibrate --fabric mpi --name cluster -o cluster.json
  rankweave calibrate --fit data.jsonl --profile cluster.json -o fitted.json`

const optionTable = {
  ...measuredWorldOptions,
  runs: option('--runs <number>', 'runs of every measurement', whole(3, 999), '11'),
  sizes: option(
    '--sizes <list>',
    'lengths that PLogP is measured at besides 8 bytes',
    wholeList(65, 2 ** 24, 64),
    calibratedSizes.join(),
  ),
  fit: option('--fit <file>', 'fit PLogP to a file of measurements instead'),
  profile: option('--profile <name>', 'with --fit: a built-in profile or a file, which has the overheads'),
  fanIn: option(
    '--fan-in <name>',
    'with --fit: messages of a barrier to one rank arrive together or in-turn',
    oneOf('together', 'in-turn'),
    'together',
  ),
  name: option('--name <name>', 'of the profile (default: calibrated-FABRIC; with --fit that of --profile)'),
  output: option('-o, --output <file>', 'write the profile (-: to standard output)'),
  json,
}

const sampling = { sampleMs: 2, samplesPerRun: 7 }
/** The limit of worlds that do not state another. */
const eagerLimitBytes = 65_536

export const calibrateCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        requireName(options.name)
        if (options.fit !== undefined) return await fitFile(report, command, options, options.fit)
        refuseGiven(command, ['profile', 'fanIn'], 'is for --fit')
        const { output, runs, sizes, name = `calibrated-${options.fabric}` } = options
        const fabric = measuredFabricOf(options)
        await checkOutputs(report, output)
        report.step(`measuring ${runs} runs on ${fabric.kind}`)
        const ranks = calibratedRanksPerProcess * fabric.processes
        const sizesBytes = sizes.toSorted((a, b) => a - b)
        const args = { runs, sizesBytes, ...sampling }
        const world = { ranks, fabric, args, report: reportOf(options) }
        const results = await runOwnProgram('calibrate-program', main, world)
        const calibration = results?.[0]
        if (calibration === undefined || calibration === null) return
        const source = sourceText(fabric.kind, fabric.processes)
        const profile = calibratedProfile(calibration, { name, source, eagerLimitBytes })
        if (output !== undefined) {
          await writeOutput(report, output, [formatProfile(profile)])
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        const object = { profile, measured: calibration, file: output ?? null }
        reportBeside(report, output, object, `${name}: ${source}\n${calibrationText(calibration, profile)}`)
      }),
    )
}

/** @throws ERR_USAGE for a name that a machine line could not hold */
function requireName(name: string | undefined): void {
  if (name === undefined || /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(name)) return
  throw new RankweaveError('ERR_USAGE', `--name: expected letters, digits and hyphens, got '${name}'`)
}

async function fitFile(
  report: Reporter,
  command: Command,
  { output, profile, name, fanIn }: OptionValues<typeof optionTable>,
  file: string,
): Promise<void> {
  refuseGiven(command, measuringOptions, 'is not for --fit, which measures nothing')
  if (profile === undefined)
    throw new RankweaveError('ERR_USAGE', '--fit: expected --profile with the overheads')
  await checkOutputs(report, output)
  const fitted = fittedProfile(readProfile(profile), readMeasurementFiles([file]), { name, fanIn })
  if (output !== undefined) {
    await writeOutput(report, output, [formatProfile(fitted.profile)])
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  reportBeside(report, output, { ...fitted, file: output ?? null }, fitText(fitted))
}

const measuringOptions = [...Object.keys(measuredWorldOptions), 'runs', 'sizes']

/** Returns the machine, the library and the date, as a profile's source. */
function sourceText(fabric: string, processes: number): string {
  const cores = cpus()
  const machine = `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown processor'}`
  const date = new Date().toISOString().slice(0, 10)
  return `rankweave ${ownVersion()} calibrate, ${date}: ${fabric}, ${processes} processes; ${machine}; Node ${process.version}`
}

/** Returns the text of `rankweave calibrate`: a row per figure, then the tables of PLogP that the profile has. */
function calibrationText(
  { node, network, nodeTables, networkTables, ...memory }: Calibration,
  { levels }: Profile,
): string {
  const { copyBlockNs, copyNsPerByte, reduceNsPerByte } = memory
  const figures = columns(
    [
      ...(node === null ? [] : messageRows('node', node)),
      ...(network === null ? [] : messageRows('network', network)),
      row('copy of a block', copyBlockNs),
      row('copy of a byte', copyNsPerByte),
      row('combination of a byte', reduceNsPerByte),
    ],
    [
      ['', ({ label }) => label],
      ['median', ({ median }) => median],
      ['quartiles', ({ quartiles }) => quartiles],
      ['', ({ unit }) => unit],
    ],
  )
  const tables = [
    ...(nodeTables === null ? [] : [tablesText('node, by length', levels.node.plogp!)]),
    ...(networkTables === null ? [] : [tablesText('network, by length', levels.network.plogp!)]),
  ]
  const wide = Object.entries({ node, network }).flatMap(([level, measured]) =>
    measured !== null && isWide(measured.latencyNs) ? [level] : [],
  )
  const warning = `Quartiles of the latency (${wide.join(', ')}) are far apart: other work ran. Calibrate again on a quiet machine.`
  return [figures, ...tables, ...(wide.length === 0 ? [] : [warning])].join('\n\n')
}

/** Returns the text of `rankweave calibrate --fit`: the tables of each level, with the errors of the fit. */
function fitText({ profile, levels }: FittedProfile): string {
  const texts = levels.map(({ level, tables, chains, barriers, worstError, medianError, heldSizes }) => {
    const times = `${counted(chains, 'broadcast', 'broadcasts')} and ${counted(barriers, 'barrier', 'barriers')}`
    const errors = `median error ${percentText(medianError, 1)}, largest ${percentText(worstError, 1)}`
    const held = heldSizes.map((size) => counted(size, 'byte', 'bytes')).join(', ')
    const notes = [
      ...(held === ''
        ? []
        : [`\n  g of ${held} is the longer overhead: the times alone would have it below`]),
      ...(profile.levels[level].latencyNs > 0
        ? []
        : ['\n  L of LogGP is 0: a message is no longer than its overheads']),
    ]
    return `${level}: fitted to ${times}; ${errors}\n${tablesText(`${level}, by length`, tables)}${notes.join('')}`
  })
  return [profile.name, ...texts].join('\n\n')
}

function tablesText(label: string, tables: MessageTables): string {
  const { sizesBytes, latencyNs, gapNs, sendOverheadNs, receiveOverheadNs } = tables
  const table = columns(sizesBytes, [
    [label, (size) => counted(size, 'byte', 'bytes')],
    ['g', (_, i) => shown(gapNs[i])],
    ['o of a send', (_, i) => shown(sendOverheadNs[i])],
    ['o of a receive', (_, i) => shown(receiveOverheadNs[i])],
    ['', () => 'ns'],
  ])
  return `${table}\n  L of PLogP: ${shown(latencyNs)} ns`
}

interface FigureRow {
  readonly label: string
  readonly median: string
  readonly quartiles: string
  readonly unit: string
}

function messageRows(level: string, measured: MeasuredMessages): readonly FigureRow[] {
  return [
    row(`${level}: latency`, measured.latencyNs),
    row(`${level}: overhead of a send`, measured.sendOverheadNs),
    row(`${level}: overhead of a receive`, measured.receiveOverheadNs),
    row(`${level}: gap`, measured.gapNs, measured.gapNs.median === 0 ? 'ns, hidden by overheads' : 'ns'),
    row(`${level}: per byte`, measured.nsPerByte),
    { label: `${level}: alpha, beta`, median: alphaBeta(measured), quartiles: '', unit: 'ns' },
  ]
}

/** Returns the figures of Hockney's model: the whole way of a message without bytes, and a byte. */
function alphaBeta({ latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte }: MeasuredMessages): string {
  const alpha = latencyNs.median + sendOverheadNs.median + receiveOverheadNs.median
  return `${shown(alpha)}, ${shown(nsPerByte.median)}`
}

function row(label: string, { median, low, high }: MeasuredFigure, unit = 'ns'): FigureRow {
  return { label, median: shown(median), quartiles: `${shown(low)}-${shown(high)}`, unit }
}

function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
