import { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import { parseStrategy } from '../../neighborhood/plan/strategy-text.js'
import { longestBlockBytes } from '../../simulate/engine/block-lengths.js'
import { markdownOf } from '../../study/document/markdown.js'
import { makeStudy } from '../../study/make-study.js'
import { studyDocument } from '../../study/study-document.js'
import { buildTopology } from '../../topology/spec/topology-from-spec.js'
import { readMachine } from '../input/machine-input.js'
import { openInput } from '../input/open-input.js'
import { parseOptions, wholeList } from '../input/options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { type Reporter, readProgress } from '../output/reporter.js'
import { fastestRows } from '../output/study-report.js'
import type { AddCommand } from './command.js'

const help = `${specHelp}
${machineHelp}
The machine needs a profile, which says what messages cost.

Examples:
  rankweave study moore:16x16:r=2 --machine cluster:nodes=16,cores=16,profile=simgrid-fast -o study.md`

const schema = z.object({
  machine: z
    .string()
    .transform((text) => readMachine(text).machine)
    .optional(),
  bytes: wholeList(0, longestBlockBytes).optional(),
  strategies: z.array(z.string()).optional(),
  output: z.string().optional(),
})

/** `rankweave study`: what the strategies of a topology cost on a machine, by block length. */
export const studyCommand: AddCommand = (program, act) => {
  program
    .command('study')
    .description('Compare the strategies of a topology on a machine, by block length, in tables and plots.')
    .argument('<spec>', 'the topology, e.g. moore:64x64:r=4')
    .option(
      '--machine <text>',
      'nodes, cores and profile, e.g. cluster:nodes=16,cores=16,profile=simgrid-fast',
    )
    .option('--bytes <list>', 'lengths of a block, separated by commas')
    .option('--strategies <text...>', 'strategies to study besides direct sends')
    .option('-o, --output <file>', 'FILE.md (- : Markdown on standard output)')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const options = parseOptions(schema, raw)
        const { machine, bytes, strategies, output } = options
        await checkOutputs(report, output)
        if (machine === undefined) throw new RankweaveError('ERR_USAGE', 'expected --machine with a profile')
        report.step(`building ${spec}`)
        const topology = buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
        const study = makeStudy(topology, machine, {
          name: spec,
          ...(bytes === undefined ? {} : { bytes }),
          ...(strategies === undefined ? {} : { strategies: strategies.map(parseStrategy) }),
          onStrategy: (strategy) => report.step(`studying ${strategy}`),
        })
        const markdown = [...markdownOf(studyDocument(study))]
        if (output !== undefined) {
          await writeOutput(report, output, markdown)
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        reportBeside(report, output, study, output === undefined ? markdown.join('') : fastestRows(study))
        return exitCodes.ok
      }),
    )
}
