import * as z from 'zod'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { autoHelp } from '../../neighborhood/choose/auto.js'
import type { ReportedChoice } from '../../neighborhood/choose/comparison.js'
import { type PlanReport, understand } from '../../neighborhood/choose/plan-request.js'
import { strategiesHelp } from '../../neighborhood/strategies/strategies.js'
import type { Strategy } from '../../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../../neighborhood/strategies/strategy-text.js'
import { addMapOption, mapSchema } from '../input/map-option.js'
import { oneOf, refuseGiven, whole } from '../input/options.js'
import { addServerOptions, serverOf, serverSchema } from '../input/server-options.js'
import { machineHelp, mapHelp, specHelp } from '../input/spec-help.js'
import {
  addStrategyOptions,
  parseStrategyOptions,
  spelledBy,
  strategySchema,
} from '../input/strategy-options.js'
import { choiceRows } from '../output/choice-report.js'
import { exitCodes } from '../output/exit-codes.js'
import { mappingRow } from '../output/mapping-report.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { change, figure, type Reporter, secondsText, table } from '../output/reporter.js'
import type { AddCommand } from './command.js'
import { planHere, servedPlan } from './planned-topology.js'

const help = `${specHelp}
${machineHelp}
${mapHelp}
With --strategy auto, --map auto moves ranks only where the chosen strategy takes less simulated time for it.

The plan is a schedule: for every rank, which blocks it sends to whom, and in which step. It is verified before it is
printed or written. A plan with violations is not written, and the exit code is 1.

Strategies:
${strategiesHelp}
  ${autoHelp}

Examples:
  rankweave plan moore:64x64:r=4 --k 4
  rankweave plan moore:64x64:r=4 --k 4 --machine cluster:nodes=103,cores=40 -o plan.jsonl
  rankweave plan er:256:d=0.2:seed=1 --k 3 --json
  rankweave plan moore:16x16:r=2 --strategy auto --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 256 --compare
  rankweave verify plan.jsonl
  rankweave plan moore:16x16:r=2 --strategy auto --map auto --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 256
  rankweave plan moore:64x64:r=4 --k 4 --server http://127.0.0.1:7878 -o plan.jsonl
  rankweave plan moore:64x64:r=4 -o - | rankweave verify -`

const schema = z.object({
  ...strategySchema,
  ...serverSchema,
  ...mapSchema,
  bytes: whole(0, longestBlockBytes).optional(),
  compare: z.boolean(),
  output: z.string().optional(),
  cache: z.string().min(1).optional(),
  scheduleVersion: oneOf('1', '2').transform((text) => (text === '1' ? 1 : 2)),
})

export const planCommand: AddCommand = (command, act) => {
  command.argument('<spec>', 'the topology, e.g. moore:64x64:r=4')
  addServerOptions(addMapOption(addStrategyOptions(command, ['auto'])))
    .option('--bytes <number>', 'bytes of every block, 0 to 2^40, for --strategy auto and --compare')
    .option('--compare', 'compare the simulated times of the best strategies', false)
    .option('-o, --output <file>', 'write the plan as JSON Lines (.gz: compressed, -: to standard output)')
    .option('--cache <dir>', 'retain plans in a directory, and use those that are there')
    .option('--schedule-version <number>', 'version of the schedule format, 1 or 2', '2')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const options = parseStrategyOptions(schema, raw)
        await checkOutputs(report, options.output)
        const request = understand(options, spelledBy(command))
        const server = serverOf(options)
        if (server !== null)
          refuseGiven(command, ['cache', 'compare'], 'is for plans that are made here, not for --server')
        const planned =
          server === null
            ? await planHere(report, spec, request, options)
            : await servedPlan(report, server, spec, options)
        const { verified, cachedMs } = planned
        const { cache, output } = options
        if (verified && output !== undefined) {
          await writeOutput(report, output, await planned.text(options.scheduleVersion))
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        const object = {
          topology: spec,
          ...planned.report,
          ...(cache === undefined ? {} : { cache: { directory: cache, cachedMs } }),
          verified,
          ...(output === undefined ? {} : { file: verified ? output : null }),
        }
        // If the strategy was chosen, the report names it.
        const strategy = object.chosen ?? formatStrategy(request.strategy as Strategy)
        const rows = hasChoice(planned.report) ? [choiceRows(planned.report)] : []
        const heading = `${spec}: ${headingOf(strategy, object)}`
        reportBeside(report, output, object, [text(heading, object), ...rows].join('\n'))
        return verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

function hasChoice(report: PlanReport): report is PlanReport & ReportedChoice {
  return report.chosen !== undefined
}

/** Returns the strategy with its parameters, for friend groups also theta, which has a default. */
function headingOf(strategy: string, { k, theta, mode }: PlanReport): string {
  if (mode === null) return strategy
  return `${strategy.split(':')[0]}, k=${k}, theta=${theta}, ${mode}`
}

function text(
  heading: string,
  planned: PlanReport & {
    readonly verified: boolean
    readonly cache?: { readonly cachedMs: number | null }
  },
): string {
  const { direct } = planned
  const { k, groups, steps, messages } = planned
  const cachedMs = planned.cache?.cachedMs ?? null
  const compared = (before: number, after: number) =>
    `${figure(before)} direct, ${figure(after)} planned (${change(after, before)})`
  return [
    heading,
    table([
      ['mapping', planned.mapping === undefined ? null : mappingRow(planned.mapping)],
      [
        'friend groups',
        k === null ? null : `${figure(groups)} in ${steps} ${steps === 1 ? 'step' : 'steps'}`,
      ],
      ['messages', compared(messages.direct, messages.planned)],
      ['per rank, mean', compared(direct.meanPerRank, messages.meanPerRank)],
      ['per rank, max', compared(direct.maxPerRank, messages.maxPerRank)],
      [
        'between nodes',
        messages.interNode === null ? null : compared(direct.interNode ?? 0, messages.interNode),
      ],
      ['blocks sent', compared(direct.volumeBlocks, planned.volumeBlocks)],
      ['planning time', `${secondsText(planned.planMs / 1000)}, measured`],
      ['read from cache', cachedMs === null ? null : `in ${secondsText(cachedMs / 1000)}, verified`],
      [
        'verified',
        planned.verified
          ? 'all blocks delivered exactly once, deadlock-free'
          : 'NO, the violations are on standard error',
      ],
    ]),
  ].join('\n')
}
