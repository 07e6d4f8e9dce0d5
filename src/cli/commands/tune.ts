import type { Command } from 'commander'
import * as z from 'zod'
import { ruleOf } from '../../calls/plan/default-rule.js'
import { RankweaveError } from '../../errors.js'
import { defaultTolerancePercent, learnDecisions } from '../../tuning/learning/learn-decisions.js'
import { defaultConfidencePercent, defaultMinCases } from '../../tuning/learning/learn-tree.js'
import { defaultGainPercent } from '../../tuning/learning/least-penalty-tree.js'
import {
  type MeasurementSource,
  unmeasuredTexts,
  withoutSettings,
} from '../../tuning/measured/measurement.js'
import { treeLimits } from '../../tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../../tuning/models/read-tuning-file.js'
import { ruleAssumptions } from '../../tuning/texts/decision-steps.js'
import { readMeasurementFiles } from '../input/measurement-files.js'
import { number, oneOf, parseOptions, refuseGiven, whole, wordList } from '../input/options.js'
import { requireDistinctFiles } from '../output/distinct-files.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { counted, type Reporter } from '../output/reporter.js'
import { tuningOutputs } from '../output/tuning-outputs.js'
import { tuningOutcome, tuningText } from '../output/tuning-text.js'
import type { AddCommand } from './command.js'

const help = `
DATA are files of measured times, as rankweave measure writes them, of one source. A tree is learned for each collective.

Penalties are what decisions lose against the best measured setting of each call: on the training set, on held-out points,
which are decided by what was learned without their number of processes, and by default, where nothing decides. The default
is the setting that was measured as 'default', else the rule of this library. Calls whose chosen setting was not measured
count with the default; they are missing where that was not measured either.

Open MPI's rules see neither the operation of a reduction nor the arguments of other ranks. Where a setting breaks programs
that depend on these, the library chooses, unless --assume states of all programs that use the rules: 'commutative', their
reductions are by commutative operations; 'equal-arguments', the ranks of a call pass equal counts and datatypes, in place
also those that MPI ignores.

The tuning file is for rankweave run --tuning and RANKWEAVE_TUNING; of a library of MPI, for RANKWEAVE_SHIM=tune:FILE.

Examples:
  rankweave tune data.jsonl -o tuning.json
  rankweave tune threads.jsonl more.jsonl -o tuning.json --report tuning.html
  rankweave tune data.jsonl -o tuning.json -m 8 --gain 1     fewer leaves
  rankweave tune openmpi.jsonl -o rules.json --ompi-rules rules.txt --per-node 4 --without knomial:radix=2
  rankweave tune openmpi.jsonl -o tuning.json --ompi-rules rules.txt --assume commutative,equal-arguments
  rankweave tune data.jsonl -o tuning.json --learner quadtree --depth 4 --c decisions.c`

const schema = z.object({
  output: z.string().optional(),
  learner: oneOf('least-penalty', 'c45', 'quadtree'),
  minCases: whole(1, 2 ** 20),
  gain: number(0, 1000),
  confidence: number(0, 50),
  prune: z.boolean(),
  together: z.boolean(),
  tolerance: number(0, 1000).optional(),
  attributes: oneOf('composite', 'plain'),
  depth: whole(0, treeLimits.depth).optional(),
  threshold: number(0, 1).optional(),
  folds: whole(2, 4096).optional(),
  without: z.array(z.string()).optional(),
  perNode: whole(1, 2 ** 22).optional(),
  mpichLib: z.string().optional(),
  assume: wordList(ruleAssumptions).optional(),
  mpich: z.string().optional(),
  ompiRules: z.string().optional(),
})

/** The options that a learner does not have. */
const notOf = {
  'least-penalty': ['confidence', 'prune', 'together', 'tolerance', 'threshold'],
  c45: ['gain', 'threshold'],
  quadtree: ['gain', 'minCases', 'confidence', 'prune', 'together', 'attributes'],
} as const

export const tuneCommand: AddCommand = (command, act) => {
  command
    .argument('<data...>', 'files of measured times (-: standard input)')
    .option('-o, --output <file>', 'the tuning file to write (-: to standard output)')
    .option('--learner <name>', 'least-penalty, c45, or quadtree: processes and bytes only', 'least-penalty')
    .option(
      '-m, --min-cases <number>',
      'of trees: calls in two outcomes of every test',
      String(defaultMinCases),
    )
    .option(
      '--gain <percent>',
      'of least-penalty: points of the mean penalty that a further leaf saves',
      String(defaultGainPercent),
    )
    .option('-c, --confidence <percent>', 'of c45: lower prunes more', String(defaultConfidencePercent))
    .option('--no-prune', 'of c45: no pruning')
    .option('--together', 'of c45: one tree over all collectives, of which each gets its part', false)
    .option(
      '--tolerance <percent>',
      `of the others: settings so much slower than the best may stand for it (default: ${defaultTolerancePercent}; of a quadtree none)`,
    )
    .option('--attributes <name>', 'of trees: composite, with products of sizes, or plain', 'composite')
    .option('--depth <number>', 'tests on a path; of a quadtree its levels (default: no limit)')
    .option('--threshold <share>', 'of a quadtree: cells of a square that agree (default: 1)')
    .option('--folds <number>', 'parts of the numbers of processes for held-out points (default: at most 5)')
  command.option(
    '--without <text...>',
    'learn without these settings: knomial, or knomial:radix=2 with all segments',
  )
  for (const { flags, help: line } of tuningOutputs) command.option(flags, line)
  command
    .option('--per-node <number>', 'of rules: processes per node (default: what was measured)')
    .option(
      '--mpich-lib <file>',
      'of --mpich: libmpich.so, whose own selection stands where nothing was decided',
    )
    .option(
      '--assume <words>',
      `of --ompi-rules: what holds of all programs, of ${ruleAssumptions.join(', ')} (default: nothing)`,
    )
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, files: readonly string[], raw: unknown, command: Command) => {
        const options = parseOptions(schema, raw)
        const { output, learner, depth, threshold, folds } = options
        if (output === undefined) throw new RankweaveError('ERR_USAGE', 'expected -o and the file to write')
        refuseGiven(command, notOf[learner], `is not for learner ${learner}`)
        if (!options.prune) refuseGiven(command, ['confidence'], 'is for pruning, not for --no-prune')
        if (options.together) refuseGiven(command, ['folds'], 'is not for --together')
        if (options.mpich === undefined) refuseGiven(command, ['mpichLib'], 'is for --mpich')
        if (options.ompiRules === undefined) refuseGiven(command, ['assume'], 'is for --ompi-rules')
        if ((options.mpich ?? options.ompiRules) === undefined)
          refuseGiven(command, ['perNode'], 'is for --ompi-rules and --mpich')
        const given = raw as Readonly<Record<string, string | undefined>>
        const outputs = tuningOutputs.flatMap((each) => {
          const file = given[each.name]
          return file === undefined ? [] : [{ ...each, file }]
        })
        await checkOutputs(report, output, ...outputs.map(({ file }) => file))
        const written = outputs.map(({ flags, file }) => ({ option: flags.split(' ')[0], file }))
        const library =
          options.mpichLib === undefined ? [] : [{ option: '--mpich-lib', file: options.mpichLib }]
        requireDistinctFiles(
          [{ option: '-o', file: output }, ...written],
          [...files.map((file) => ({ option: 'data', file })), ...library],
        )
        report.step(`reading ${counted(files.length, 'file', 'files')}`)
        const { without = [] } = options
        const read = readMeasurementFiles(files)
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
