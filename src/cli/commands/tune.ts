import type { Command } from 'commander'
import * as z from 'zod'
import { ruleOf } from '../../calls/plan/default-rule.js'
import { RankweaveError } from '../../errors.js'
import { tuningReport } from '../../report/tuning-report.js'
import type { Collective } from '../../schedule/specification.js'
import { packedEnding, packedTuning } from '../../shim/packed-files.js'
import { readRegularFile } from '../../text/whole-file.js'
import {
  defaultTolerancePercent,
  type LearnedDecisions,
  learnDecisions,
} from '../../tuning/learning/learn-decisions.js'
import { defaultConfidencePercent, defaultMinCases } from '../../tuning/learning/learn-tree.js'
import { defaultGainPercent } from '../../tuning/learning/least-penalty-tree.js'
import {
  decideByQuadtree,
  type Quadtree,
  quadtreeBytes,
  quadtreeStatistics,
} from '../../tuning/learning/quadtree.js'
import {
  type Measurement,
  type MeasurementSource,
  unmeasuredTexts,
  withoutSettings,
} from '../../tuning/measured/measurement.js'
import type { PenaltyReport } from '../../tuning/measured/penalty.js'
import { treeLimits } from '../../tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { cDecisions, cQuadtree, typescriptDecisions } from '../../tuning/texts/decision-code.js'
import {
  type RuleAssumption,
  ruleAssumptions,
  type WrittenLayout,
  type WrittenRules,
} from '../../tuning/texts/decision-steps.js'
import { mpichSelection, ownMpichSelection } from '../../tuning/texts/mpich-selection.js'
import { openMpiJsonRules, openMpiRules } from '../../tuning/texts/open-mpi-rules.js'
import { readMeasurementFiles } from '../input/measured-input.js'
import {
  addOptions,
  type CommandOption,
  flag,
  json,
  negation,
  number,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  whole,
  wordList,
} from '../input/options.js'
import { parseOsuName, readOsuFiles } from '../input/osu-files.js'
import {
  checkOutputs,
  isStandardOutput,
  reportBeside,
  requireDistinctFiles,
  writeBeside,
  writeOutput,
} from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { columns, counted } from '../output/result-rows.js'

const help = `
DATA are files of measured times, as rankweave measure writes them, of one source. A tree is learned for each collective.

--osu takes the output of a latency test of the OSU micro-benchmarks as well, with what it does not state: COLLECTIVE
SETTING nodes=N per-node=P FILE; SETTING is an algorithm of the library, with parameters, or 'default'. With the tests' -f the time is
that of the slowest rank, else the mean of ranks. Several files for one setting and layout are repetitions. Tests are
osu_allgather, allreduce, alltoall, barrier, bcast, gather, reduce and scatter, on host memory.

Penalties are what decisions lose against the best measured setting of each call: on the training set, on held-out points,
which are decided by what was learned without their number of processes, and by default, where nothing decides. The default
is the setting that was measured as 'default', else the rule of this library. Calls whose chosen setting was not measured
count with the default; they are missing where that was not measured either.

Open MPI's rules see neither the operation of a reduction nor the arguments of other ranks. Where a setting breaks programs
that depend on these, the library chooses, unless --assume states of all programs that use the rules: 'commutative', their
reductions are by commutative operations; 'equal-arguments', the ranks of a call pass equal counts and datatypes, in place
also those that MPI ignores.

--ompi-json writes these rules as JSON, with requests in flight, apart for communicators on one node, with one rank a node,
and others, for which --per-node decides. MPI_COMM_WORLD is never taken for one with one rank a node. Open MPI reads JSON
from 6.0 on: in its branches v6.0.x and main, not in 4.1 and 5.0, which read --ompi-rules. Its published schema lacks
seg_size, which it reads.

The tuning file is for rankweave run --tuning and RANKWEAVE_TUNING; of a library of MPI, for RANKWEAVE_SHIM=tune:FILE.

Examples:
  rankweave tune data.jsonl -o tuning.json
  rankweave tune threads.jsonl more.jsonl -o tuning.json --report tuning.html
  rankweave tune data.jsonl -o tuning.json -m 8 --gain 1     fewer leaves
  rankweave tune openmpi.jsonl -o rules.json --ompi-rules rules.txt --per-node 4 --without knomial:radix=2
  rankweave tune openmpi.jsonl -o tuning.json --ompi-rules rules.txt --assume commutative,equal-arguments
  rankweave tune data.jsonl -o tuning.json --learner quadtree --depth 4 --c decisions.c
  rankweave tune -o tuning.json --osu-source 'Open MPI 4.1.4 on grig' \\
    --osu 'allreduce default nodes=4 per-node=8 default.txt' --osu 'allreduce ring nodes=4 per-node=8 ring.txt'`

const optionTable = {
  output: option('-o, --output <file>', 'the tuning file to write (-: to standard output)'),
  learner: option(
    '--learner <name>',
    'least-penalty, c45, or quadtree: processes and bytes only',
    oneOf('least-penalty', 'c45', 'quadtree'),
    'least-penalty',
  ),
  minCases: option(
    '-m, --min-cases <number>',
    'of trees: calls in two outcomes of every test',
    whole(1, 2 ** 20),
    String(defaultMinCases),
  ),
  gain: option(
    '--gain <percent>',
    'of least-penalty: points of the mean penalty that a further leaf saves',
    number(0, 1000),
    String(defaultGainPercent),
  ),
  confidence: option(
    '-c, --confidence <percent>',
    'of c45: lower prunes more',
    number(0, 50),
    String(defaultConfidencePercent),
  ),
  prune: negation('--no-prune', 'of c45: no pruning'),
  together: flag('--together', 'of c45: one tree over all collectives, of which each gets its part'),
  tolerance: option(
    '--tolerance <percent>',
    `of the others: settings so much slower than the best may stand for it (default: ${defaultTolerancePercent}; of a quadtree none)`,
    number(0, 1000),
  ),
  attributes: option(
    '--attributes <name>',
    'of trees: composite, with products of sizes, or plain',
    oneOf('composite', 'plain'),
    'composite',
  ),
  depth: option(
    '--depth <number>',
    'tests on a path; of a quadtree its levels (default: no limit)',
    whole(0, treeLimits.depth),
  ),
  threshold: option(
    '--threshold <share>',
    'of a quadtree: cells of a square that agree (default: 1)',
    number(0, 1),
  ),
  folds: option(
    '--folds <number>',
    'parts of the numbers of processes for held-out points (default: at most 5)',
    whole(2, 4096),
  ),
  without: option(
    '--without <text...>',
    'learn without these settings: knomial, or knomial:radix=2 with all segments',
    z.array(z.string()),
  ),
  osu: option(
    '--osu <text...>',
    "outputs of OSU micro-benchmarks: 'allreduce ring nodes=4 per-node=8 FILE'",
    z.array(z.string()),
  ),
  osuSource: option('--osu-source <text>', "of --osu: library and machine, 'Open MPI 4.1.4 on grig'"),
  ...outputOptions(),
  perNode: option(
    '--per-node <number>',
    'of rules: processes per node (default: what was measured)',
    whole(1, 2 ** 22),
  ),
  mpichLib: option(
    '--mpich-lib <file>',
    'of --mpich: libmpich.so, whose own selection stands where nothing was decided',
  ),
  assume: option(
    '--assume <words>',
    `of Open MPI's rules: what holds of all programs, of ${ruleAssumptions.join(', ')} (default: nothing)`,
    wordList(ruleAssumptions),
  ),
  json,
}

/** The options that a learner does not have. */
const notOf = {
  'least-penalty': ['confidence', 'prune', 'together', 'tolerance', 'threshold'],
  c45: ['gain', 'threshold'],
  quadtree: ['gain', 'minCases', 'confidence', 'prune', 'together', 'attributes'],
} as const

export const tuneCommand: AddCommand = (command, act) => {
  addOptions(command.argument('[data...]', 'files of measured times (-: standard input)'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, files: readonly string[], raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        const { output, learner, depth, threshold, folds } = options
        if (output === undefined) throw new RankweaveError('ERR_USAGE', 'expected -o and the file to write')
        const { osu: osuTexts = [], osuSource } = options
        const osu = osuTexts.map(parseOsuName)
        if (files.length + osu.length === 0)
          throw new RankweaveError('ERR_USAGE', 'expected files of measured times, or --osu')
        if (osu.length > 0 !== (osuSource !== undefined))
          throw new RankweaveError('ERR_USAGE', '--osu and --osu-source: expected both or neither')
        refuseGiven(command, notOf[learner], `is not for learner ${learner}`)
        if (!options.prune) refuseGiven(command, ['confidence'], 'is for pruning, not for --no-prune')
        if (options.together) refuseGiven(command, ['folds'], 'is not for --together')
        if (options.mpich === undefined) refuseGiven(command, ['mpichLib'], 'is for --mpich')
        const openMpi = options.ompiRules ?? options.ompiJson
        if (openMpi === undefined) refuseGiven(command, ['assume'], 'is for --ompi-rules and --ompi-json')
        if ((options.mpich ?? openMpi) === undefined)
          refuseGiven(command, ['perNode'], 'is for --ompi-rules, --ompi-json and --mpich')
        const outputs = tuningOutputs().flatMap((each) => {
          const file = options[each.name]
          return file === undefined ? [] : [{ ...each, file }]
        })
        await checkOutputs(report, output, ...outputs.map(({ file }) => file))
        const written = outputs.map(({ flags, file }) => ({ option: flags.split(' ')[0], file }))
        const library =
          options.mpichLib === undefined ? [] : [{ option: '--mpich-lib', file: options.mpichLib }]
        requireDistinctFiles(
          [{ option: '-o', file: output }, ...written],
          [
            ...files.map((file) => ({ option: 'data', file })),
            ...osu.map(({ file }) => ({ option: '--osu', file })),
            ...library,
          ],
        )
        report.step(`reading ${counted(files.length + osu.length, 'file', 'files')}`)
        const { without = [] } = options
        const ofOsu = osuSource === undefined ? [] : readOsuFiles(osu, osuSource)
        const read = [...readMeasurementFiles(files), ...ofOsu]
        const measurements = withoutSettings(read, without)
        for (const text of unmeasuredTexts(read, without))
          report.note(`--without ${text} leaves nothing out: no such setting was measured`)
        report.step('learning')
        const source: MeasurementSource | undefined = measurements[0]?.source
        const learned = learnDecisions(measurements, {
          ...{ learner, attributes: options.attributes, minCases: options.minCases },
          ...{ gainPercent: options.gain, tolerancePercent: options.tolerance },
          ...{ confidencePercent: options.prune ? options.confidence : null, isTogether: options.together },
          ...(depth === undefined ? {} : { maxDepth: depth }),
          ...(threshold === undefined ? {} : { threshold }),
          ...(folds === undefined ? {} : { folds }),
          ...(source?.kind === 'mpi' ? {} : { ruleOf }),
        })
        if (folds !== undefined && learned.every(({ heldOut }) => heldOut === null)) {
          const reason = 'every collective was measured on one number of processes: none can be held out'
          throw new RankweaveError('ERR_ARGUMENT', `--folds ${folds}: ${reason}`)
        }
        const decisions = Object.fromEntries(learned.map(({ collective, tree }) => [collective, tree]))
        const content = formatTuningFile(source!, decisions)
        const rules = {
          processesPerNode: options.perNode,
          ...{ mpichLibrary: options.mpichLib, assumed: options.assume },
        }
        const tuned = { file: readTuningFile(content), learned, measurements, rules }
        // All texts are made before the first file is written: an output may be unable to express the decisions.
        const texts: readonly { file: string; text: string; note?: string }[] = [
          { file: output, text: content },
          ...outputs.map(({ file, written }) => ({ file, ...written(tuned) })),
        ]
        for (const { file, text } of texts) await writeOutput(report, file, [text])
        if (source?.kind === 'mpi') await writeBeside(output, packedEnding, packedTuning(tuned.file))
        for (const { file } of texts) if (!isStandardOutput(file)) report.note(`wrote ${file}`)
        for (const { file, note } of texts) if (note !== undefined) report.note(`${file} ${note}`)
        const standard = texts.map(({ file }) => file).find(isStandardOutput)
        const { kind, name, machine } = source!
        const title = `measured: ${kind} '${name}' on '${machine}'`
        reportBeside(
          report,
          standard,
          { source, collectives: tuningOutcome(learned), file: output },
          `${title}\n\n${tuningText(learned)}`,
        )
      }),
    )
}

/** Returns the decisions, and their penalties, as lines of text. */
function tuningText(learned: readonly LearnedDecisions[]): string {
  const [{ combined } = { combined: null }] = learned
  const texts = learned.map(collectiveText)
  if (combined === null) return texts.join('\n\n')
  const { cases, leavesBeforePruning, leaves, trainingErrors, predictedErrors } = combined
  const shape = `${counted(leavesBeforePruning, 'leaf', 'leaves')} before pruning, ${counted(leaves, 'leaf', 'leaves')} after`
  const errors = `${counted(trainingErrors, 'error', 'errors')} in ${counted(cases, 'case', 'cases')}, ${predictedErrors.toFixed(1)} expected`
  return [`one tree: ${shape}; ${errors}`, ...texts].join('\n\n')
}

function collectiveText({ collective, data, leaves, quadtree, ...penalties }: LearnedDecisions): string {
  const { training, heldOut, default: byDefault } = penalties
  const counts = [
    counted(data.calls.length, 'call', 'calls'),
    counted(data.settings.length, 'setting', 'settings'),
    counted(leaves, 'leaf', 'leaves'),
  ]
  type PenaltyRow = readonly [name: string, report: PenaltyReport | null]
  const rows: readonly PenaltyRow[] = [
    ['training set', training],
    [
      heldOut === null ? 'held-out points' : `held-out points, ${heldOut.folds.length} folds`,
      heldOut?.heldOut ?? null,
    ],
    ['default', byDefault],
  ]
  const percent = (of: (report: PenaltyReport) => number) => (row: PenaltyRow) => {
    const value = row[1] === null ? Number.NaN : of(row[1])
    return Number.isNaN(value) ? '-' : `${value.toFixed(1)}%`
  }
  const table = columns(rows, [
    ['penalty', ([name]) => name],
    ['min', percent(({ minPercent }) => minPercent)],
    ['mean', percent(({ meanPercent }) => meanPercent)],
    ['median', percent(({ medianPercent }) => medianPercent)],
    ['max', percent(({ maxPercent }) => maxPercent)],
    ['missing', ([, report]) => (report === null ? '-' : String(report.missing))],
  ])
  const worst = heldOut?.heldOut.worst ?? training.worst
  const where = worst === null ? '' : `\n  most is lost at ${callText(worst)}`
  const decided = heldOut?.heldOut ?? training
  const isWorse = byDefault !== null && decided.meanPercent > byDefault.meanPercent
  const warning = isWorse ? `\n  the tree loses more than the default: ${remedy}` : ''
  const shape = quadtree === null ? '' : `\n  ${quadtreeText(quadtreeOutcome(quadtree))}`
  return `${collective}: ${counts.join(', ')}\n${table}${where}${warning}${shape}`
}

/**
 * Returns a quadtree by the tables of its source: its shape, its bytes there, its C and the time of a decision here.
 */
function quadtreeOutcome(tree: Quadtree) {
  const statistics = quadtreeStatistics(tree)
  return {
    ...{ side: tree.side, ...statistics },
    memoryBytes: quadtreeBytes(statistics.nodes, tree.side, tree.settings.length),
    codeBytes: cQuadtree(tree, 'decide').length,
    nsPerDecision: nsPerDecision(tree),
  }
}

function quadtreeText(of: ReturnType<typeof quadtreeOutcome>): string {
  const shape = `${counted(of.leaves, 'leaf', 'leaves')}, ${counted(of.nodes, 'node', 'nodes')}, depth ${of.minDepth} to ${of.maxDepth}, mean ${of.meanDepth.toFixed(2)}`
  const bytes = `${counted(of.memoryBytes, 'byte', 'bytes')}, ${counted(of.codeBytes, 'byte', 'bytes')} of C`
  return `quadtree of ${of.side} x ${of.side} cells: ${shape}; ${bytes}; ${of.nsPerDecision.toFixed(1)} ns a decision`
}

/** Returns the least of several rounds of decisions over the values of both axes, in this process. */
function nsPerDecision(tree: Quadtree): number {
  const { processes, bytes } = tree
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 9; round++) {
    let decisions = 0
    const begin = performance.now()
    while (decisions < 10_000)
      for (const P of processes) {
        for (const m of bytes) decideByQuadtree(tree, P, m)
        decisions += bytes.length
      }
    least = Math.min(least, (1e6 * (performance.now() - begin)) / decisions)
  }
  return least
}

/** Advice for noisy times, or few calls. */
const remedy = 'measure more calls, for longer'

/** Returns the decisions as plain data. */
function tuningOutcome(learned: readonly LearnedDecisions[]) {
  return learned.map(
    ({ collective, data, leaves, quadtree, combined, training, heldOut, default: byDefault }) => ({
      ...{ collective, calls: data.calls.length, settings: data.settings.length, leaves, training },
      heldOut:
        heldOut === null
          ? null
          : { ...heldOut.heldOut, folds: heldOut.folds.map(({ processes }) => processes) },
      default: byDefault,
      ...(quadtree === null ? {} : { quadtree: quadtreeOutcome(quadtree) }),
      ...(combined === null ? {} : { combined: { ...combined, tree: undefined } }),
    }),
  )
}

/** An output of `rankweave tune` with decisions, besides the tuning file. */
interface TuningOutput {
  readonly name: 'c' | 'ts' | 'ompiRules' | 'ompiJson' | 'mpich' | 'report'
  readonly flags: string
  readonly help: string
  /** @throws ERR_TUNING if it cannot express the decisions */
  written(tuned: Tuned): WrittenOutput
}

/** The content of an output, with a note for its user. */
interface WrittenOutput {
  readonly text: string
  /** A line without the name of the file. */
  readonly note?: string
}

/** The input of an output. */
interface Tuned {
  readonly file: TuningFile
  readonly learned: readonly LearnedDecisions[]
  /** The measurements of one source from which the decisions were learned. */
  readonly measurements: readonly Measurement[]
  readonly rules: RuleOptions
}

/** The further input of files of rules: rules know ranks, but no nodes. */
interface RuleOptions {
  /** The number that layouts have. Default: the measured one, if there was only one. */
  readonly processesPerNode?: number | undefined
  /** The file of MPICH's library, whose own selection stands where nothing was decided. */
  readonly mpichLibrary?: string | undefined
  /** The statements about all programs that use Open MPI's rules. */
  readonly assumed?: readonly RuleAssumption[] | undefined
}

/** The outputs by option, in the order of help. */
function tuningOutputs(): readonly TuningOutput[] {
  return [
    {
      name: 'c',
      flags: '--c <file>',
      help: 'write a C99 function for each collective: rankweave_bcast(...)',
      written: ({ learned }) => ({
        text: learned
          .map(({ collective, tree, quadtree }) => {
            const name = `rankweave_${collective.replaceAll('-', '_')}`
            return quadtree === null ? cDecisions(tree, name) : cQuadtree(quadtree, name)
          })
          .join('\n'),
      }),
    },
    {
      name: 'ts',
      flags: '--ts <file>',
      help: 'write a TypeScript function for each collective: decideBcast(...)',
      written: ({ learned }) => ({
        text: learned
          .map(({ collective, tree }) => typescriptDecisions(tree, decideName(collective)))
          .join('\n'),
      }),
    },
    {
      name: 'ompiRules',
      flags: '--ompi-rules <file>',
      help: "write Open MPI's file of dynamic rules",
      written: (tuned) => withLeft(openMpiRules(tuned.file, layoutOf(tuned), tuned.rules.assumed)),
    },
    {
      name: 'ompiJson',
      flags: '--ompi-json <file>',
      help: "write Open MPI 6's rules, as JSON",
      written: (tuned) => {
        const { layouts, processesPerNode } = layoutsOf(tuned)
        return withLeft(openMpiJsonRules(tuned.file, layouts, processesPerNode, tuned.rules.assumed))
      },
    },
    {
      name: 'mpich',
      flags: '--mpich <file>',
      help: "write MPICH's selection, as JSON; needs --mpich-lib",
      written: (tuned) => {
        const { mpichLibrary } = tuned.rules
        if (mpichLibrary === undefined)
          throw new RankweaveError('ERR_USAGE', '--mpich: expected --mpich-lib and the file of libmpich.so')
        const own = ownMpichSelection(readRegularFile(mpichLibrary, longestLibrary))
        return { text: `${JSON.stringify(mpichSelection(tuned.file, own, layoutOf(tuned)), null, 1)}\n` }
      },
    },
    {
      name: 'report',
      flags: '--report <file>',
      help: 'write pictures of who wins where, and what decisions lose, as one HTML file',
      written: ({ learned, measurements }) => ({ text: [...tuningReport(measurements, learned)].join('') }),
    },
  ]
}

/** Adds a note on the rules that the library decides. */
function withLeft({ text, left }: WrittenRules): WrittenOutput {
  const reasons = ruleAssumptions.filter((name) => left[name] > 0)
  if (reasons.length === 0) return { text }
  const count = reasons.reduce((sum, name) => sum + left[name], 0)
  const each = reasons.map((name) => `${left[name]} unless --assume ${name}`).join(', ')
  return { text, note: `leaves ${counted(count, 'rule', 'rules')} to the library: ${each}` }
}

function outputOptions() {
  const entries = tuningOutputs().map(({ name, flags, help }) => [name, option(flags, help)])
  return Object.fromEntries(entries) as Readonly<
    Record<TuningOutput['name'], CommandOption<string | undefined>>
  >
}

/** The most bytes of a shared library; MPICH's has 20 MB. */
const longestLibrary = 2 ** 28

function decideName(collective: Collective): string {
  return `decide${collective.replace(/(?:^|-)./g, (start) => start.at(-1)!.toUpperCase())}`
}

/** Returns all measured layouts, and the processes per node that decide for several nodes. */
function layoutsOf({ measurements, rules }: Tuned) {
  const pairs = measurements.map(({ nodes, processesPerNode }) => ({ nodes, processesPerNode }))
  const layouts = [...new Map(pairs.map((one) => [`${one.nodes} ${one.processesPerNode}`, one])).values()]
  const several = layouts.filter(({ nodes }) => nodes > 1)
  const perNode = [...new Set(several.map((one) => one.processesPerNode))].sort((a, b) => a - b)
  const { processesPerNode = perNode[0] ?? 1 } = rules
  if (rules.processesPerNode === undefined && perNode.length > 1)
    throw new RankweaveError('ERR_USAGE', `--ompi-json: expected --per-node, one of ${perNode.join(', ')}`)
  if (several.length > 0 && !perNode.includes(processesPerNode)) {
    const message = `--per-node: expected one of ${perNode.join(', ')}, got ${processesPerNode}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return { layouts, processesPerNode }
}

/** Returns the layouts that were measured, with one number of processes per node. */
function layoutOf({ measurements, rules }: Tuned): WrittenLayout {
  const perNode = [...new Set(measurements.map((one) => one.processesPerNode))].sort((a, b) => a - b)
  const processesPerNode = rules.processesPerNode ?? perNode[0]
  if (rules.processesPerNode === undefined && perNode.length > 1) {
    const message = `rules know no nodes: expected --per-node, one of ${perNode.join(', ')}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  const measured = measurements.filter((one) => one.processesPerNode === processesPerNode)
  const nodes = [...new Set(measured.map((one) => one.nodes))].sort((a, b) => a - b)
  if (nodes.length === 0) {
    const message = `--per-node: expected one of ${perNode.join(', ')}, got ${processesPerNode}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return { nodes, processesPerNode }
}
