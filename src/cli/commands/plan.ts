import { z } from 'zod'
import { planDirectory } from '../../launch/plan-directory.js'
import { autoHelp } from '../../neighborhood/choose/auto.js'
import { type PlanStore, storedPlan } from '../../neighborhood/plan/plan-store.js'
import { strategiesHelp } from '../../neighborhood/plan/strategies.js'
import type { Plan, PlanStatistics, Strategy } from '../../neighborhood/plan/strategy.js'
import { formatStrategy } from '../../neighborhood/plan/strategy-text.js'
import { requestedPlan, understand } from '../../neighborhood/request/plan-request.js'
import { scheduleText } from '../../schedule/file/schedule-file.js'
import { longestBlockBytes } from '../../simulate/engine/block-lengths.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { buildTopology } from '../../topology/spec/topology-from-spec.js'
import { openInput } from '../input/open-input.js'
import { oneOf, parseOptions, whole } from '../input/options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { addStrategyOptions, refuseNeedlessFriends, strategySchema } from '../input/strategy-options.js'
import { choiceRows } from '../output/choice-report.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import {
  change,
  figure,
  groupProgress,
  type Reporter,
  readProgress,
  seconds,
  table,
} from '../output/reporter.js'
import { noteViolations } from '../output/violations.js'
import type { AddCommand } from './command.js'

const help = `${specHelp}
${machineHelp}

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
  rankweave plan moore:64x64:r=4 -o - | rankweave verify -`

const schema = z.object({
  ...strategySchema,
  bytes: whole(0, longestBlockBytes).optional(),
  compare: z.boolean(),
  output: z.string().optional(),
  cache: z.string().min(1).optional(),
  scheduleVersion: oneOf('1', '2').transform((text) => (text === '1' ? 1 : 2)),
})

/** `rankweave plan`: a verified plan, and its messages. */
export const planCommand: AddCommand = (program, act) => {
  const command = program
    .command('plan')
    .description('Plan a neighbor allgather over a topology, verify the plan and count its messages.')
    .argument('<spec>', 'the topology, e.g. moore:64x64:r=4')
  addStrategyOptions(command, ['auto'])
    .option('--bytes <number>', 'bytes of every block, for --strategy auto and --compare')
    .option('--compare', 'compare the predicted times of the best strategies', false)
    .option('-o, --output <file>', 'write the plan as JSON Lines (.gz: compressed, -: to standard output)')
    .option('--cache <dir>', 'retain plans in a directory, and use those that are there')
    .option('--schedule-version <number>', 'version of the schedule format, 1 or 2', '2')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const options = parseOptions(schema, raw)
        await checkOutputs(report, options.output)
        refuseNeedlessFriends(command, options.strategy)
        const request = understand(options)
        report.step(`building ${spec}`)
        const topology = buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
        const { cache } = options
        const requested = await requestedPlan(topology, request, {
          onStep: report.step,
          onProgress: groupProgress(report),
          ...(cache === undefined
            ? {}
            : {
                retained: (...plan: [ProcessTopology, Strategy, Int32Array | null, () => Plan]) =>
                  storedPlan(cacheOf(report, cache), ...plan),
              }),
        })
        const { plan: planned, strategy, statistics, direct, compared, verification } = requested
        noteViolations(report, verification)
        if (verification.ok && options.output !== undefined) {
          const lines = scheduleText(planned.schedule, { version: options.scheduleVersion })
          await writeOutput(report, options.output, lines)
          if (!isStandardOutput(options.output)) report.note(`wrote ${options.output}`)
        }
        const { planMs, ...facts } = requested.report
        const object = {
          topology: spec,
          ...facts,
          ...statistics,
          planMs,
          ...(cache === undefined ? {} : { cache: { directory: cache, cachedMs: requested.retainedMs } }),
          verified: verification.ok,
          ...(options.output === undefined ? {} : { file: verification.ok ? options.output : null }),
        }
        reportBeside(
          report,
          options.output,
          object,
          [
            text(`${spec}: ${headingOf(strategy, statistics)}`, object, direct),
            ...(compared === null ? [] : [choiceRows(compared, formatStrategy(strategy))]),
          ].join('\n'),
        )
        return verification.ok ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

function cacheOf(report: Reporter, directory: string): PlanStore {
  return planDirectory(directory, { onProblem: ({ message }) => report.note(message) })
}

/** The strategy with its parameters; of friend groups also theta, which has a default. */
function headingOf(strategy: Strategy, { k, theta }: PlanStatistics): string {
  if (strategy.kind !== 'common-neighbor') return formatStrategy(strategy)
  return `${strategy.kind}, k=${k}, theta=${theta}, ${strategy.mode}`
}

function text(
  heading: string,
  planned: PlanStatistics & {
    readonly planMs: number
    readonly verified: boolean
    readonly cache?: { readonly cachedMs: number | null }
  },
  direct: PlanStatistics,
): string {
  const { k, groups, steps, messages } = planned
  const cachedMs = planned.cache?.cachedMs ?? null
  const compared = (before: number, after: number) =>
    `${figure(before)} direct, ${figure(after)} planned (${change(after, before)})`
  return [
    heading,
    table([
      [
        'friend groups',
        k === null ? null : `${figure(groups)} in ${steps} ${steps === 1 ? 'step' : 'steps'}`,
      ],
      ['messages', compared(messages.direct, messages.planned)],
      ['per rank, mean', compared(direct.messages.meanPerRank, messages.meanPerRank)],
      ['per rank, max', compared(direct.messages.maxPerRank, messages.maxPerRank)],
      [
        'between nodes',
        messages.interNode === null ? null : compared(direct.messages.interNode ?? 0, messages.interNode),
      ],
      ['blocks sent', compared(direct.volumeBlocks, planned.volumeBlocks)],
      ['planning time', seconds(planned.planMs / 1000)],
      ['read from cache', cachedMs === null ? null : `in ${seconds(cachedMs / 1000)}, verified`],
      [
        'verified',
        planned.verified
          ? 'all blocks delivered exactly once, deadlock-free'
          : 'NO, the violations are on standard error',
      ],
    ]),
  ].join('\n')
}
