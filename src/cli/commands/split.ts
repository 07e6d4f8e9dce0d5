import * as z from 'zod'
import { checkSplitOptions, planSplit, splitOptions } from '../../comm/split/split-plan.js'
import { RankweaveError } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { addFlags, flagValues } from '../input/option-flags.js'
import { parseOptions, whole } from '../input/options.js'
import { readSplitFile, type SplitInput } from '../input/split-input.js'
import { addWorldOptions, fabricOf, reportOf, worldSchema } from '../input/world-options.js'
import { exitCodes } from '../output/exit-codes.js'
import { figure, type Reporter } from '../output/reporter.js'
import { splitOutcome, splitText } from '../output/split-report.js'
import { runOwnProgram } from '../program/run-own-program.js'
import main, { hosted, type SplitProblem, type SplitShare, splitProblem } from '../program/split-program.js'
import type { AddCommand } from './command.js'

const help = `
Rank r gets color r modulo --colors and a random key, or the color (or -) and key in line r + 1 of --file.
Every rank's new rank and its communicator's size are checked, and the address of another member is looked up. The
expected values come from a sort that shares no code with the split.

Examples:
  rankweave split -n 1000000                                       a million ranks in one process
  rankweave split -n 100000 --processes 64 --table distributed     by parallel sort, 1/64 of the table per process
  rankweave split -n 1000 --processes 16 --algorithm parallel-sort --sorters 4 --table-group 8 --explain
  rankweave split -n 64 --fabric threads --processes 2 --json`

const schema = z.object({
  ...worldSchema,
  colors: whole(1, 2 ** 31 - 1).optional(),
  file: z.string().optional(),
  explain: z.boolean(),
})

export const splitCommand: AddCommand = (command, act) => {
  addWorldOptions(command)
    .option('--colors <number>', 'number of colors, dealt to the ranks in turn (default: 1)')
    .option('--file <path>', 'file with one line per rank: color and key; - is standard input')
  addFlags(command, splitOptions)
    .option('--explain', 'report time, messages and bytes of every phase', false)
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = parseOptions(schema, raw)
        const { ranks } = options
        const fabric = fabricOf(options)
        const given = flagValues(splitOptions, raw)
        const problem = splitProblem(inputOf(options, fabric), given)
        // The options are checked before the world starts. Processes without ranks take no part in the split.
        const taking = Math.min(fabric.processes, ranks)
        checkSplitOptions(problem.options, taking)
        planSplit(ranks, taking, problem.options)
        report.step(`splitting ${figure(ranks)} ranks`)
        const world = { ranks, fabric, args: problem, hosted, report: reportOf(options) }
        const shares = await runOwnProgram<SplitShare | undefined, SplitProblem>('split-program', main, world)
        if (shares === null) return exitCodes.ok
        const took = shares.filter((share) => share !== undefined)
        const outcome = splitOutcome(took, { ranks, fabric: fabric.kind, explain: options.explain })
        report.result(outcome, splitText(outcome))
        return outcome.verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

function inputOf({ file, colors, ranks }: z.infer<typeof schema>, fabric: FabricFactory): SplitInput {
  if (file === undefined) return { kind: 'generated', colors: colors ?? 1 }
  if (colors === undefined) return readSplitFile(file, ranks, fabric)
  const message = '--colors: the colors are in the file: expected --file or --colors, got both'
  throw new RankweaveError('ERR_USAGE', message)
}
