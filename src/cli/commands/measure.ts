import { mkdtempSync, rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { quantile } from '../../base/search.js'
import { laterTurn } from '../../base/turn.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import {
  formulaMeter,
  machineSpread,
  requireOneLevel,
  simulatorMeter,
} from '../../measure/computed-meters.js'
import {
  type CallGrid,
  defaultSpreads,
  type EvenSpread,
  gridCalls,
  type MeasuredOrder,
  requireSpreads,
  spreadText,
} from '../../measure/grid.js'
import { libraryMeter } from '../../measure/library-meter.js'
import type { WrongPoint } from '../../measure/measure-calls.js'
import { type MeasuredPoints, measureInto, progressLines } from '../../measure/measure-calls.js'
import { openMeasurementFile } from '../../measure/measurement-file.js'
import { compileMeasuring, startMeasuring } from '../../measure/measuring-job.js'
import type { Meter } from '../../measure/meter.js'
import { requireAlgorithms, requireNamed, restrictedTo } from '../../measure/meter.js'
import { worldAlgorithms } from '../../measure/world-meter.js'
import type { Collective } from '../../schedule/specification.js'
import { compilerOfCommand } from '../../shim/mpi-command.js'
import { shellWord } from '../../text/printable.js'
import { fileError } from '../../text/whole-file.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import { dimsCreate } from '../../topology/generate/cartesian.js'
import {
  checkGuidelines,
  type GuidelineBase,
  type GuidelineViolation,
  guidelineBases,
  guidelineBaseText,
} from '../../tuning/measured/guidelines.js'
import { type MeasuredData, measuredData } from '../../tuning/measured/measured-data.js'
import type { MeasurementSource, MeasuringConditions } from '../../tuning/measured/measurement.js'
import { modelOfLevel } from '../../tuning/measured/predictors.js'
import { settingLine } from '../../tuning/settings/setting.js'
import { callText, isReduction } from '../../tuning/settings/tuning-call.js'
import { readMachine, readProfile, requireMachine } from '../input/machine-input.js'
import {
  libraryLaunch,
  type MeasureFlags,
  measuredCollectives,
  measureOptions,
  overviewOptions,
  requireInstalled,
} from '../input/measure-options.js'
import { readMeasurementFiles } from '../input/measured-input.js'
import { openInputOn } from '../input/open-input.js'
import { addOptions, readOptions, refuseGiven } from '../input/options.js'
import {
  fabricOf,
  measuredFabricOf,
  measuredWorldOptions,
  reportOf,
  tuningOf,
} from '../input/world-options.js'
import { type ExitCode, exitCodes, WorldFailure } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput } from '../output/output-file.js'
import type { AddCommand } from '../output/reporter.js'
import { type Reporter, readProgress } from '../output/reporter.js'
import { columns, counted, figure, significant, table } from '../output/result-rows.js'
import type { MeasureProblem } from '../program/measure-program.js'
import main from '../program/measure-program.js'
import type { OverviewFigure } from '../program/overview-program.js'
import overviewMain from '../program/overview-program.js'
import { runOwnProgram } from '../program/run-program.js'

const help = `
Collectives: ${measuredCollectives.join(', ')}.
Every point is a call and a setting: an algorithm with its parameters. A point is verified once, then repeated until its median is
known precisely or its budget is used up. Settings of a call take turns. The time of a repetition is that of the call and a barrier,
in the process that takes longest, less the median of the barrier alone.

The file grows by a line with every point; the same command continues a file that is there. Ctrl-C ends it, and the file keeps what
was measured (exit code 130).

With --ranks nothing is written. The overview has median, least and most over runs of about 0.1 s by the clock of rank 0, of
  ping-pong            a message from rank 0 to the last rank and back: half a round trip, and bandwidth one way
  allreduce            the sum of 8 bytes of every rank, on all ranks
  neighbor allgather   8 bytes from every neighbor of the topology, planned by direct and by common-neighbor (k=2)

Sources:
  rankweave   the algorithms of this library on a fabric, one rank per process
  mpi         the algorithms of Open MPI or MPICH, by a program that is compiled with mpicc and started by --launch
  simulator   the algorithms of this library on --machine, as the simulator predicts them
  formula     those with a formula, from --profile

Examples:
  rankweave measure allreduce bcast --fabric threads --processes 4 -o threads.jsonl
  mpirun -n 16 rankweave measure allreduce --fabric mpi -o ours.jsonl
  rankweave measure allreduce bcast --source mpi --launch 'mpirun -n 16' --bytes 8:1MiB -o library.jsonl
  rankweave measure alltoall --source simulator --machine cluster:nodes=8,cores=4,profile=simgrid-fast -o simulated.jsonl
  rankweave measure --check library.jsonl
  rankweave measure -n 64 --processes 2 --topology moore:8x8:r=2
  mpirun -n 4 rankweave measure -n 4 --fabric mpi --runs 9 --json`

export const measureCommand: AddCommand = (command, act) => {
  addOptions(command.argument('[collectives...]', 'what to measure'), measureOptions)
    .addHelpText('after', help)
    .action(
      act(
        async (
          report: Reporter,
          words: readonly string[],
          raw: unknown,
          command: Command,
        ): Promise<ExitCode> => {
          const flags = readOptions(measureOptions, raw)
          refuseUnused(command, words, flags)
          if (flags.ranks !== undefined) return measureRanks(report, flags, flags.ranks)
          if (flags.check !== undefined) return checkMeasurementFile(report, flags.check, flags.of)
          const collectives = collectivesNamed(words)
          if (flags.output === undefined) throw new RankweaveError('ERR_USAGE', 'expected --output')
          if (isStandardOutput(flags.output))
            throw new RankweaveError('ERR_USAGE', '--output: expected a file, which can be continued, got -')
          await checkOutputs(report, flags.output)
          const interrupt = new AbortController()
          const onSignal = () => interrupt.abort()
          for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal)
          try {
            const measure = sources[flags.source]
            return await measure(report, { flags, collectives, file: flags.output, signal: interrupt.signal })
          } catch (error) {
            // A signal that has ended the compiler arrives in a later turn of the event loop.
            for (let turn = 0; turn < 2; turn++) await laterTurn()
            if (!interrupt.signal.aborted) throw error
            report.note(`interrupted: ${flags.output} keeps what was measured`)
            return exitCodes.interrupted
          } finally {
            for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal)
          }
        },
      ),
    )
}

interface Work {
  readonly flags: MeasureFlags
  readonly collectives: readonly Collective[]
  readonly file: string
  readonly signal: AbortSignal
}

type Measure = (report: Reporter, work: Work) => Promise<ExitCode>

const sources: Readonly<Record<MeasureFlags['source'], Measure>> = {
  rankweave: measureWorld,
  mpi: measureLibrary,
  simulator: measureSimulator,
  formula: measureFormula,
}

/** The options of one source only. */
const ofSource: Readonly<Record<MeasureFlags['source'], readonly string[]>> = {
  rankweave: Object.keys(measuredWorldOptions),
  mpi: ['launch', 'mpicc'],
  simulator: ['machine'],
  formula: ['profile', 'level', 'model'],
}

/** Computed times are exact, and their machine is the one for which they are computed. */
const ofMeasured = ['precision', 'repetitions', 'budget', 'site']
const ofReductions = ['order', 'type']

/** @throws ERR_USAGE for options that have no effect beside the others */
function refuseUnused(
  command: Command,
  words: readonly string[],
  { check, ranks, source }: MeasureFlags,
): void {
  const exceptFor = (...own: readonly string[]) =>
    Object.keys(measureOptions).filter((name) => name !== 'json' && !own.includes(name))
  if (check === undefined) refuseGiven(command, ['of'], 'is for --check')
  else {
    refuseGiven(command, exceptFor('check', 'of'), 'is for measuring, not for --check')
    if (words.length > 0)
      throw wrongValue('ERR_USAGE', '--check: expected no collectives, which the file names', words[0])
  }
  if (ranks === undefined) refuseGiven(command, Object.keys(overviewOptions), 'is for --ranks')
  else {
    const own = [...Object.keys(measuredWorldOptions), ...Object.keys(overviewOptions)]
    refuseGiven(command, exceptFor('ranks', ...own), 'is for measuring into a file, not for --ranks')
    if (words.length > 0) throw wrongValue('ERR_USAGE', '--ranks: expected no collectives', words[0])
  }
  for (const [name, options] of Object.entries(ofSource))
    if (name !== source) refuseGiven(command, options, `is for --source ${name}, not for ${source}`)
  if (source === 'simulator' || source === 'formula')
    refuseGiven(command, ofMeasured, `is for measured times, not for --source ${source}`)
  if (words.length > 0 && !measuredCollectives.some((name) => words.includes(name) && isReduction(name)))
    refuseGiven(command, ofReductions, `is for reductions, not for ${words.join(', ')}`)
}

function collectivesNamed(words: readonly string[]): readonly Collective[] {
  const named = words.map((word) => {
    const collective = measuredCollectives.find((name) => name === word)
    if (collective !== undefined) return collective
    throw wrongValue('ERR_USAGE', `expected collectives among ${measuredCollectives.join(', ')}`, word)
  })
  if (named.length === 0)
    throw new RankweaveError('ERR_USAGE', 'expected a collective, --ranks NUMBER or --check FILE')
  return [...new Set(named)]
}

/** Measures on a world, whose rank 0 writes the file: it may be in another thread or process than this code. */
async function measureWorld(report: Reporter, { flags, collectives, file, signal }: Work): Promise<ExitCode> {
  const fabric = measuredFabricOf(flags)
  const source: MeasurementSource = { kind: 'rankweave', name: fabric.kind, machine: siteOf(flags) }
  const grid = gridOf(flags, collectives, ['tree', 'any'])
  // The grid is checked before a world starts, whose errors would be its failure.
  gridCalls({ ...grid, spreads: flags.spreads ?? [smallestSpread] })
  requireAlgorithms(worldAlgorithms, flags.algorithm ?? [], collectives)
  if ((mpiLauncher()?.process ?? 0) === 0) openHere(report, file, { source, elementType: flags.type })
  report.step(`measuring on ${fabric.kind}`)
  const args: MeasureProblem = {
    ...{ file: resolve(file), source, ...ruleOf(flags), elementType: flags.type, segments: flags.segments },
    grid: { ...grid, spreads: flags.spreads ?? null },
    algorithms: flags.algorithm ?? null,
    showsProgress: report.streams.showsProgress,
  }
  // The default is measured by the rule, not by a tuning file.
  const world = { ranks: fabric.processes, fabric, args, tuning: null, report: reportOf(flags), signal }
  const measured = (await runOwnProgram('measure-program', main, world))?.[0]
  if (measured === undefined || measured === null) return exitCodes.ok
  const { largest, points, refusal, idle } = measured
  requireSpreads(flags.spreads ?? [], largest)
  if (refusal !== null) throw new RankweaveError('ERR_MEASUREMENT', refusal)
  noteUnused(report, idle)
  noteIdle(report, fabric.processes, largest)
  return finish(report, { file, source, points: points! })
}

/** The smallest spread that a world measures. */
const smallestSpread: EvenSpread = { nodes: 1, processesPerNode: 2 }

async function measureLibrary(
  report: Reporter,
  { flags, collectives, file, signal }: Work,
): Promise<ExitCode> {
  const launch = libraryLaunch(flags)
  // This check finds a grid that leaves nothing to measure in any job.
  gridCalls({ ...gridOf(flags, collectives, ['any']), spreads: flags.spreads ?? [smallestSpread] })
  requireInstalled(launch[0])
  const mpicc = flags.mpicc ?? compilerOfCommand(launch)
  const folder = temporaryFolder(file)
  try {
    report.step(`compiling with ${mpicc}`)
    const program = compileMeasuring(folder, mpicc)
    report.step(`starting the job, which introduces itself: ${launch.join(' ')}`)
    const job = await startMeasuring(launch, program, signal)
    try {
      const { elementType, segments } = { elementType: flags.type, segments: flags.segments }
      const options = { machine: siteOf(flags), collectives, elementType, segments }
      const meter = await libraryMeter(job, options)
      for (const collective of meter.unnamed)
        report.note(`${meter.source.name} names no algorithms of ${collective}: only its default is measured`)
      noteIdle(report, job.nodes.length, meter.spread)
      const work = { flags, collectives, file, signal }
      const code = await measureHere(report, work, meter, meter.spread, ['any'])
      await job.end()
      return code
    } catch (error) {
      const isOfJob = error === job.failure()
      await job.stop()
      throw isOfJob ? new WorldFailure('the measured job failed', { cause: error }) : error
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureSimulator(report: Reporter, work: Work): Promise<ExitCode> {
  const { machine: text, segments } = work.flags
  const { machine } = readMachine(requireMachine(text))
  const meter = simulatorMeter(machine, segments)
  return await measureHere(report, work, meter, machineSpread(machine), ['tree', 'any'])
}

async function measureFormula(report: Reporter, work: Work): Promise<ExitCode> {
  const { profile: name, level, model, segments, spreads } = work.flags
  if (name === undefined) throw new RankweaveError('ERR_USAGE', 'expected --profile')
  if (spreads === undefined) throw new RankweaveError('ERR_USAGE', 'expected --spreads')
  requireOneLevel(spreads, level)
  const parametersOf = modelOfLevel(readProfile(name), level, model)
  const meter = formulaMeter({ profile: name, level, parametersOf, segments })
  return await measureHere(report, work, meter, null, ['tree', 'any'])
}

/** Measures in this process. @param largest spread that contains all others; null for no limit */
async function measureHere(
  report: Reporter,
  { flags, collectives, file, signal }: Work,
  meter: Meter,
  largest: EvenSpread | null,
  orders: readonly MeasuredOrder[],
): Promise<ExitCode> {
  if (largest !== null) requireSpreads(flags.spreads ?? [], largest)
  const spreads = flags.spreads ?? defaultSpreads(largest!)
  const calls = gridCalls({ ...gridOf(flags, collectives, orders), spreads })
  noteUnused(report, requireNamed(meter, flags.algorithm ?? null, calls))
  openHere(report, file, { source: meter.source, elementType: flags.type })
  const { showsProgress } = report.streams
  const points = await measureInto(file, restrictedTo(meter, flags.algorithm ?? null), calls, {
    ...ruleOf(flags),
    elementType: flags.type,
    signal,
    ...(showsProgress ? { onCall: progressLines(report.note) } : {}),
  })
  return finish(report, { file, source: meter.source, points })
}

/** Checks the file, and cuts off the unfinished line that a crash left. @throws ERR_MEASUREMENT, ERR_FILE */
function openHere(report: Reporter, file: string, conditions: MeasuringConditions): void {
  const { cutBytes } = openMeasurementFile(file, conditions)
  if (cutBytes > 0)
    report.note(`${file}: cut off a last line without its end, ${counted(cutBytes, 'byte', 'bytes')}`)
}

function ruleOf({ precision, repetitions, budget }: MeasureFlags) {
  return { rule: { precision: precision / 100, repetitions, budgetMs: budget } }
}

function gridOf(
  { bytes, type, order, longest }: MeasureFlags,
  collectives: readonly Collective[],
  orders: readonly MeasuredOrder[],
): Omit<CallGrid, 'spreads'> {
  return { collectives, bytes, elementType: type, orders: order ?? orders, longestArrayBytes: longest }
}

function siteOf({ site }: Pick<MeasureFlags, 'site'>): string {
  if (site !== undefined) return site
  const cores = cpus()
  return `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown processor'}`
}

function noteUnused(report: Reporter, algorithms: readonly string[]): void {
  for (const algorithm of algorithms) report.note(`${algorithm} serves no call of the grid`)
}

function noteIdle(report: Reporter, processes: number, largest: EvenSpread): void {
  const used = largest.nodes * largest.processesPerNode
  if (used === processes) return
  const idle = counted(processes - used, 'process is', 'processes are')
  report.note(`${idle} left out: ${spreadText(largest)} is the largest even spread of ${processes}`)
}

/** Makes a folder next to the output, which the processes can also read. */
function temporaryFolder(output: string): string {
  const folder = dirname(resolve(output))
  try {
    return mkdtempSync(join(folder, '.rankweave-measure-'))
  } catch (cause) {
    throw fileError('write', folder, cause)
  }
}

interface Finished {
  readonly file: string
  readonly source: MeasurementSource
  readonly points: MeasuredPoints
}

function finish(report: Reporter, { file, source, points }: Finished): ExitCode {
  for (const wrong of points.wrong) report.note(wrongText(wrong))
  const outcome = { file, source, ...points }
  report.result(outcome, measureText(outcome))
  return points.wrong.length > 0 ? exitCodes.checkFailed : exitCodes.ok
}

/**
 * Reports the guidelines that a file of measurements violates.
 *
 * @param of which setting of each call is checked. Default: of each collective the default, if the file has it.
 * @throws ERR_MEASUREMENT for a damaged file, and for one without the default that `of` names
 */
function checkMeasurementFile(report: Reporter, file: string, of: MeasureFlags['of']): ExitCode {
  const data = measuredData(readMeasurementFiles([file]))
  const { bases, select } = guidelineBases(data, of)
  if (bases.every(({ checked }) => checked === 0))
    throw new RankweaveError('ERR_MEASUREMENT', `--of default: expected a file with a default, got ${file}`)
  const violations = checkGuidelines(data, select)
  const object = {
    ...{ file, source: data.source, of: bases, calls: data.calls.length },
    violations: violations.map((violation) => violationObject(data, violation)),
  }
  report.result(object, violationsText(data, bases, violations))
  return violations.length > 0 ? exitCodes.checkFailed : exitCodes.ok
}

interface MeasureOutcome extends MeasuredPoints {
  readonly file: string
  readonly source: object
}

function measureText({ file, calls, measured, skipped, refused, wrong, points }: MeasureOutcome): string {
  return table([
    ['file', file],
    ['calls', figure(calls)],
    ['measured', counted(measured, 'point', 'points')],
    ['in the file before', skipped === 0 ? null : counted(skipped, 'point', 'points')],
    ['refused', refused === 0 ? null : counted(refused, 'point', 'points')],
    ['wrong', wrong.length === 0 ? null : counted(wrong.length, 'point', 'points')],
    ['points of the file', figure(points)],
    ['next', `rankweave measure --check ${shellWord(file)}`],
  ])
}

function wrongText({ call, setting }: WrongPoint): string {
  return `wrong result, not measured: ${settingLine(setting)}, ${callText(call)}`
}

function violationObject({ settings }: MeasuredData, violation: GuidelineViolation): object {
  const line = (index: number) => settingLine(settings[index])
  const { setting, remedy, ...rest } = violation
  return {
    ...rest,
    setting: line(setting),
    remedy: remedy === null ? null : { ...remedy, settings: remedy.settings.map(line) },
  }
}

function violationsText(
  data: MeasuredData,
  bases: readonly GuidelineBase[],
  violations: readonly GuidelineViolation[],
): string {
  const calls = counted(data.calls.length, 'call', 'calls')
  const checked = bases.map((base) => `  checked of ${guidelineBaseText(base)}`)
  if (violations.length === 0) return [`${calls}, no guideline is violated`, ...checked].join('\n')
  const lines = violations.flatMap((violation) => [
    `  ${violation.factor.toFixed(2)}  ${violationText(data, violation)}`,
    ...remedyLines(data, violation),
  ])
  return [`${calls}, ${counted(violations.length, 'violation', 'violations')}`, ...checked, ...lines].join(
    '\n',
  )
}

function violationText({ settings }: MeasuredData, violation: GuidelineViolation): string {
  const { call, setting, guideline, timeUs, boundUs } = violation
  const what = `${callText(call)}, ${settingLine(settings[setting])}`
  return `${what}: ${timeUs.toFixed(1)} us, bound ${boundUs.toFixed(1)} us (${guideline})`
}

function remedyLines({ settings }: MeasuredData, { remedy, by }: GuidelineViolation): string[] {
  if (remedy === null) return []
  const parts = remedy.settings.map((index, i) => {
    const line = settingLine(settings[index])
    return remedy.kind === 'setting' ? line : `${by[i].collective} of ${by[i].bytes} B, ${line}`
  })
  return [`        avoided by ${remedy.kind}: ${parts.join(' + ')}: ${remedy.timeUs.toFixed(1)} us`]
}

/** Prints what messages, an allreduce and neighbor allgathers take on a world. */
async function measureRanks(report: Reporter, flags: MeasureFlags, ranks: number): Promise<ExitCode> {
  const { runs, topology: spec = `moore:${dimsCreate(ranks, 2).join('x')}:r=2` } = flags
  const fabric = fabricOf({ ...flags, ranks: undefined })
  const topology = buildTopology(spec, { open: openInputOn(fabric), onProgress: readProgress(report, spec) })
  if (topology.ranks !== ranks) {
    const message = `--topology: expected a topology of ${ranks} ranks, got one of ${topology.ranks}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  const tuning = await tuningOf(flags, fabric.kind)
  report.step(`measuring ${runs} runs of every operation`)
  const world = { ranks, fabric, args: { runs, runMs, topology }, tuning, report: reportOf(flags) }
  const figures = (await runOwnProgram('overview-program', overviewMain, world))?.[0]
  if (figures === undefined || figures === null) return exitCodes.ok
  const results = figures.map(({ microseconds, ...figure }) => ({
    ...figure,
    microseconds: spreadOf(microseconds),
    /** The bandwidth of a ping-pong, one way. */
    gigabytesPerSecond:
      figure.operation === 'ping-pong' ? spreadOf(microseconds.map((us) => figure.bytes / us / 1000)) : null,
  }))
  const { processes, kind } = fabric
  const { node, cpu } = { node: process.version, cpu: siteOf({}) }
  const outcome = { ranks, processes, fabric: kind, node, cpu, topology: spec, runs, results }
  const where = `${counted(ranks, 'rank', 'ranks')}, ${counted(processes, 'process', 'processes')}, ${kind} fabric`
  const heading = `${where}, ${counted(runs, 'run', 'runs')}; neighbors of ${spec}`
  report.result(outcome, [heading, `Node ${node}, ${cpu}`, '', overviewText(results)].join('\n'))
  return exitCodes.ok
}

/** The approximate time of one run of one operation. */
const runMs = 100

/** The median, the least and the most over the runs. */
interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), min: sorted[0], max: sorted[sorted.length - 1] }
}

interface OverviewResult extends Pick<OverviewFigure, 'operation' | 'bytes'> {
  readonly microseconds: Spread
  readonly gigabytesPerSecond: Spread | null
}

function overviewText(results: readonly OverviewResult[]): string {
  const rows = results.flatMap(({ operation, bytes, microseconds, gigabytesPerSecond }) => {
    const isPingPong = gigabytesPerSecond !== null
    const name = isPingPong ? 'ping-pong, half round trip' : operation
    const time = { name, bytes, spread: microseconds, unit: 'us' }
    if (!isPingPong || bytes <= 1024) return [time]
    return [time, { name: 'ping-pong, bandwidth', bytes, spread: gigabytesPerSecond, unit: 'GB/s' }]
  })
  return columns(rows, [
    ['operation', ({ name }) => name],
    ['bytes', ({ bytes }) => (bytes === 2 ** 20 ? '1 MiB' : `${bytes} B`)],
    ['median', ({ spread, unit }) => `${significant(spread.median)} ${unit}`],
    ['min', ({ spread, unit }) => `${significant(spread.min)} ${unit}`],
    ['max', ({ spread, unit }) => `${significant(spread.max)} ${unit}`],
  ])
}
