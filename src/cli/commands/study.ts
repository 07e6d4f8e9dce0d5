import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod'
import { processorMs } from '../../base/clock.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { type Document, plotsOf } from '../../document/document.js'
import { htmlOf } from '../../document/html.js'
import { markdownOf } from '../../document/markdown.js'
import { svgOf } from '../../document/picture.js'
import { plotPicture } from '../../document/plot-picture.js'
import { RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { mpiLauncher } from '../../fabric/mpi/mpi-launcher.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { mappedTopology } from '../../neighborhood/choose/mapped-topology.js'
import { parseStrategy } from '../../neighborhood/strategies/strategies.js'
import { defaultLengths, defaultPlanSeconds, makeStudy, mostLengths } from '../../study/make-study.js'
import { closeEnough } from '../../study/sensitivity.js'
import {
  type Fastest,
  type FourWays,
  hasNoGain,
  type Measurements,
  measurableLengths,
  measurementsOf,
  type StudiedMapping,
  type Study,
  type Way,
} from '../../study/study.js'
import {
  fastestText,
  inColumns,
  inProgramText,
  operationTexts,
  productText,
  programText,
  studyDocument,
  wayNames,
} from '../../study/study-document.js'
import type { OpenSource } from '../../text/source-file.js'
import { fileError, makeDirectory, requireWritable } from '../../text/whole-file.js'
import { openMatrixMarket } from '../../topology/files/matrix-market.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { machineCheck, requireMachine } from '../input/machine-input.js'
import { openInput, openInputOn } from '../input/open-input.js'
import {
  addOptions,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  seconds,
  whole,
  wholeList,
} from '../input/options.js'
import { mapOption, operationOption } from '../input/plan-options.js'
import { machineHelp, mapHelp, specHelp } from '../input/spec-help.js'
import { fabricOf } from '../input/world-options.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand } from '../output/reporter.js'
import { type Reporter, readProgress } from '../output/reporter.js'
import { columns, counted, figure, type ResultColumn } from '../output/result-rows.js'
import { mappingRow } from '../output/simulation-report.js'
import { runOwnProgram } from '../program/run-program.js'
import type { NamedStrategy } from '../program/study-program.js'
import main from '../program/study-program.js'
import { recordedIn } from '../source/planned-topology.js'

const help = `${specHelp}
A.mtx alone is the row exchange of a product with that matrix, on as many ranks as the machine has cores.
${machineHelp}
The machine needs a profile, which says what messages cost: cluster:nodes=16,cores=16,profile=simgrid-fast.
${mapHelp}
The study then begins with four columns: neither, mapping only, combining only, both.
Of edges:FILE that rankweave record wrote, the study is of the program's operation, and its block lengths are marked.

Messages and bytes are counted, times are simulated on the machine; choosing and planning are measured on this computer. With --fabric the
strategies also run with their data, in sections of their own: simulated and measured times never share a table.

Without -o a summary is printed. -o *.md writes Markdown without pictures (- : to standard output), *.html one page with everything in it, and any other name
a folder: README.md, study.html, study.json and a picture (SVG) per plot.

Examples:
  rankweave study moore:16x16:r=2 --machine cluster:nodes=16,cores=16,profile=simgrid-fast
  rankweave study moore:64x64:r=4 --machine cluster:nodes=103,cores=40,profile=niagara -o study
  rankweave study moore:8x8:r=2 --machine cluster:nodes=4,cores=16,profile=simgrid-slow --fabric threads -o study.html
  rankweave study moore:16x16:r=2 --map auto --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 64,4096
  rankweave study er:256:d=0.2:seed=1 --machine cluster:nodes=16,cores=16,profile=graham --bytes 4,1024 \\
    --strategies common-neighbor:k=3,mode=aware hierarchical:between=4.4,inside=16,first=between --json`

const optionTable = {
  ...operationOption,
  ...mapOption,
  machine: option(
    '--machine <text>',
    'nodes, cores and profile, e.g. cluster:nodes=16,cores=16,profile=simgrid-fast',
    machineCheck,
  ),
  bytes: option(
    '--bytes <list>',
    `lengths of a block, separated by commas (default: ${defaultLengths.join()}, and those recorded in edges:FILE)`,
    wholeList(0, longestBlockBytes, mostLengths),
  ),
  strategies: option(
    '--strategies <text...>',
    'strategies besides direct sends, as rankweave plan takes them (default: the best of every kind)',
    z.array(z.string()),
  ),
  planSeconds: option(
    '--plan-seconds <seconds>',
    'leave out a strategy whose friend groups take longer',
    seconds(1e6).refine((given) => given > 0, 'expected seconds above 0, got 0'),
    String(defaultPlanSeconds),
  ),
  fabric: option(
    '--fabric <name>',
    'measure the strategies on local, threads, websocket or mpi, too',
    oneOf('local', 'threads', 'websocket', 'mpi'),
  ),
  processes: option('--processes <number>', 'of the fabric', whole(1, 4096)),
  runs: option('--runs <number>', 'measured runs of every strategy and length', whole(1, 999), '5'),
  output: option('-o, --output <name>', '*.md, *.html or a folder'),
  json,
}

type Options = OptionValues<typeof optionTable>

const allTables =
  'all strategies, their messages and plots: -o NAME, a folder, *.html, *.md or - for Markdown here'

/** The approximate time of one measured run of one strategy. */
const runMs = 20

export const studyCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<spec>', 'the topology, e.g. moore:64x64:r=4, or A.mtx'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        if (options.fabric === undefined) refuseGiven(command, ['processes', 'runs'], 'is for --fabric')
        const { output } = options
        const machine = requireMachine(options.machine)
        await checkStudyOutput(report, output)
        const study = await studyOf(report, spec, machine, options)
        if (study === null) return
        const document = studyDocument(study)
        if (output !== undefined) await writeStudy(report, output, study, document)
        const text = [
          ...[fastestRows(study), ...(output === undefined ? [allTables] : [])],
          study.verdict,
        ].join('\n')
        reportBeside(report, output, study, text)
      }),
    )
}

/**
 * Returns the rows of B of the rank that has most, for a matrix file. Null for another topology, and for standard
 * input, which can be read only once.
 */
function blockRowsOf(spec: string, ranks: number, open: OpenSource): number | null {
  const file = /^mtx:([^:]+)/.exec(spec)?.[1] ?? '-'
  if (file === '-') return null
  const { head, close } = openMatrixMarket(file, open)
  close()
  return Math.ceil(head.header.cols / ranks)
}

/** Returns the study; null in the other processes of a job, which measure and report nothing. */
async function studyOf(
  report: Reporter,
  spec: string,
  machine: Machine,
  options: Options,
): Promise<Study | null> {
  const { fabric: kind, bytes, strategies, planSeconds, map } = options
  const fabric = kind === undefined ? undefined : fabricOf({ fabric: kind, processes: options.processes })
  const recorded = recordedIn(spec)
  const operation = options.operation ?? recorded?.operation ?? 'neighbor-allgather'
  if (fabric !== undefined && operation !== 'neighbor-allgather')
    throw new RankweaveError(
      'ERR_USAGE',
      `--fabric is for --operation neighbor-allgather, not for ${operation}`,
    )
  const open = fabric === undefined ? openInput : openInputOn(fabric)
  report.step(`building ${spec}`)
  const cores = machine.firstRank[machine.cores.length]
  const text = /^[^:]+\.mtx(\.gz)?$/.test(spec) ? `mtx:${spec}:ranks=${cores}` : spec
  const given = buildTopology(text, { open, onProgress: readProgress(report, spec) })
  if (map !== undefined) report.step(`mapping ${spec}`)
  const mapped =
    map === undefined ? null : mappedTopology(given, map, { machine, nodes: nodeOf(machine, given.ranks) })
  const topology = mapped?.topology ?? given
  const blockRows = blockRowsOf(text, topology.ranks, open)
  const isFollower = fabric?.isJob === true && (mpiLauncher(process.env)?.process ?? 0) > 0
  const settings = {
    ...{
      name: text,
      operation,
      recordedBytes: recorded?.operation === operation ? (recorded.blocks ?? []) : [],
    },
    planSeconds,
    now: () => processorMs('process'),
    ...(mapped === null ? {} : { mappedFrom: { topology: given, mapping: mapped.mapping } }),
    ...(blockRows === null ? {} : { blockRows }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(strategies === undefined ? {} : { strategies: strategies.map(parseStrategy) }),
    onStrategy: (strategy: string) => report.step(`studying ${strategy}`),
  }
  const study = isFollower ? null : makeStudy(topology, machine, settings)
  if (fabric === undefined) return study
  const named = study?.strategies.map(({ strategy: text }) => ({ text, strategy: parseStrategy(text) })) ?? []
  const measurements = await measured(report, topology, machine, named, fabric, options)
  return study === null || measurements === null ? null : { ...study, measurements }
}

async function measured(
  report: Reporter,
  topology: ProcessTopology,
  machine: Machine,
  strategies: readonly NamedStrategy[],
  fabric: FabricFactory,
  { runs, bytes: given }: Options,
): Promise<Measurements | null> {
  const asked = [...new Set(given ?? defaultLengths)].sort((a, b) => a - b)
  const { bytes, tooLong } = measurableLengths(topology.outRank.length, asked)
  report.step(`measuring ${strategies.length} strategies on ${fabric.kind}`)
  const args = { topology, machine, strategies, bytes, runs, runMs }
  const results = await runOwnProgram('study-program', main, {
    ranks: topology.ranks,
    fabric,
    args,
    report: {},
  })
  const found = results?.[0]
  if (found === undefined || found === null) return null
  return measurementsOf(found, {
    fabric: fabric.kind,
    processes: fabric.processes,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: availableParallelism(),
    runs,
    bytes,
    tooLong,
  })
}

/** The form of a study: one page, or a folder with both pages, the object and a picture per plot. */
type Target = 'markdown' | 'html' | 'folder'

/** The files of a folder, besides a picture per plot. */
const pages = ['README.md', 'study.html', 'study.json']

function targetOf(output: string): Target {
  if (isStandardOutput(output) || output.endsWith('.md')) return 'markdown'
  return output.endsWith('.html') ? 'html' : 'folder'
}

/** Checks the output before the study is made, and makes the folder. @throws ERR_USAGE, ERR_FILE */
export async function checkStudyOutput(report: Reporter, output: string | undefined): Promise<void> {
  if (output === undefined) return
  if (targetOf(output) !== 'folder') return await checkOutputs(report, output)
  try {
    makeDirectory(output)
  } catch (cause) {
    throw fileError('make', output, cause)
  }
  for (const name of pages) await requireWritable(join(output, name))
}

/**
 * Writes a study.
 *
 * @param object of `--json`
 * @throws ERR_FILE
 */
export async function writeStudy(
  report: Reporter,
  output: string,
  object: unknown,
  document: Document,
): Promise<void> {
  const target = targetOf(output)
  if (target === 'html') await writeOutput(report, output, htmlOf(document))
  else if (target === 'markdown') await writeOutput(report, output, markdownOf(document))
  else {
    for (const plot of plotsOf(document))
      await writeOutput(report, join(output, `${plot.name}.svg`), svgOf(plotPicture(plot)))
    const plotFile = ({ name }: { readonly name: string }) => `${name}.svg`
    await writeOutput(report, join(output, 'README.md'), markdownOf(document, { plotFile }))
    await writeOutput(report, join(output, 'study.html'), htmlOf(document))
    await writeOutput(report, join(output, 'study.json'), [`${JSON.stringify(object, null, 1)}\n`])
  }
  if (!isStandardOutput(output)) report.note(`wrote ${output}`)
}

/** Summarizes a study: the fastest of the strategies studied for every length, and the calls until it pays. */
function fastestRows({ subject, fastest, strategies, leftOut, sensitivity, mapped }: Study): string {
  const left = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`
  return [
    operationTexts[subject.operation],
    `${subject.topology} on ${subject.machine}: ${counted(strategies.length, 'strategy', 'strategies')}${left}`,
    `times are simulated with profile ${subject.profile.origin}; choosing and planning are measured`,
    ...(subject.product === null ? [] : [productText(subject.product)]),
    ...(subject.remark === null ? [] : [subject.remark]),
    ...(mapped === undefined ? [] : fourColumns(mapped)),
    columns(fastest, [
      [
        'bytes',
        ({ bytes }) => `${figure(bytes)}${subject.recordedBytes.includes(bytes) ? ', recorded' : ''}`,
      ],
      [`fastest of those studied${mapped === undefined ? '' : ', of mapped ranks'}`, fastestText],
      ['simulated', ({ timeUs }) => `${figure(timeUs)} us`],
      ['direct sends / this', ({ speedup }) => figure(speedup)],
      ...(fastest.every(({ speedupOverAllgather: over }) => over === null) ? [] : [overAllgather]),
      ['breaks even after', (each) => (hasNoGain(each) ? 'never' : callsText(each.breakEvenStarts))],
      ['in an MPI program', programText],
    ]),
    ...withoutMapping(fastest, mapped),
    inProgramText(subject),
    ...fastest
      .filter(({ auto, strategy }) => auto !== null && auto !== strategy)
      .map(({ bytes, auto }) => `for ${figure(bytes)} bytes auto chooses ${auto}`),
    sensitivityText(sensitivity),
  ].join('\n')
}

const overAllgather: ResultColumn<Fastest> = [
  'allgather / this',
  ({ speedupOverAllgather: over }) => (over === null ? '–' : figure(over)),
]

/** Names the lengths for which combining without the mapping is faster than all on mapped ranks. */
function withoutMapping(fastest: Study['fastest'], mapped: StudiedMapping | undefined): string[] {
  const ways = mapped?.ways.filter(({ combining }, i) => combining.timeUs < fastest[i].timeUs) ?? []
  if (ways.length === 0) return []
  const lengths = ways.map(({ bytes }) => figure(bytes)).join(', ')
  return [`do not map for blocks of ${lengths} bytes: combining only is faster`]
}

/** Returns the mapping, and the times of mapping and combining, each alone and together. */
function fourColumns({ mapping, ways }: StudiedMapping): string[] {
  const cell = ({ timeUs, messages, betweenNodes }: Way) =>
    `${figure(timeUs)} us, ${figure(betweenNodes)} of ${figure(messages)}`
  return [
    `mapping ${mappingRow(mapping)}`,
    'simulated time, and messages between nodes of all:',
    columns(ways, [
      ['bytes', ({ bytes }) => figure(bytes)],
      ...Object.values(wayNames).map(
        (name, i): ResultColumn<FourWays> => [name, (each) => inColumns(each, cell)[i]],
      ),
    ]),
  ]
}

/** Prints two digits: choosing and planning are measured. */
function callsText(calls: number | null): string {
  return calls === null ? 'never' : counted(Number(calls.toPrecision(2)), 'call', 'calls')
}

function sensitivityText(sensitivity: Study['sensitivity']): string {
  const ratios = sensitivity.flatMap(({ variations }) => variations.map(({ ratio }) => ratio))
  const close = ratios.filter((ratio) => ratio <= 1 + closeEnough).length
  return `with latency, overhead or bandwidth halved or doubled, these stay within ${100 * closeEnough}% of the fastest compared in ${close} of ${ratios.length} cases`
}
