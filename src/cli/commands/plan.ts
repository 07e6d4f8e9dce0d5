import { z } from 'zod'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { planDirectory } from '../../launch/plan-directory.js'
import { autoHelp } from '../../neighborhood/choose/auto.js'
import {
  type PlanReport,
  requestedPlan,
  type UnderstoodRequest,
  understand,
} from '../../neighborhood/choose/plan-request.js'
import { type PlanStore, storedPlan } from '../../neighborhood/plan/plan-store.js'
import { strategiesHelp } from '../../neighborhood/strategies/strategies.js'
import type { Plan, Strategy } from '../../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../../neighborhood/strategies/strategy-text.js'
import { scheduleText } from '../../schedule/file/schedule-file.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { openInput } from '../input/open-input.js'
import { oneOf, parseOptions, refuseGiven, whole } from '../input/options.js'
import { addServerOptions, type ServerAddress, serverOf, serverSchema } from '../input/server-options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { addStrategyOptions, refuseNeedlessFriends, strategySchema } from '../input/strategy-options.js'
import { choiceRows, type PrintedChoice } from '../output/choice-report.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { noteViolations } from '../output/proof-report.js'
import {
  change,
  figure,
  groupProgress,
  type Reporter,
  readProgress,
  secondsText,
  table,
} from '../output/reporter.js'
import type { AddCommand } from './command.js'
import { servedPlan } from './served-plan.js'

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
  rankweave plan moore:64x64:r=4 --k 4 --server http://127.0.0.1:7878 -o plan.jsonl
  rankweave plan moore:64x64:r=4 -o - | rankweave verify -`

const schema = z.object({
  ...strategySchema,
  ...serverSchema,
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
  addServerOptions(addStrategyOptions(command, ['auto']))
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
        const server = serverOf(options)
        if (server !== null)
          refuseGiven(command, ['cache', 'compare'], 'is for plans that are made here, not for --server')
        const planned =
          server === null
            ? await planHere(report, spec, request, options)
            : await planThere(report, spec, request, server, options)
        const { verified } = planned
        if (verified && options.output !== undefined) {
          await writeOutput(report, options.output, await planned.pieces(options.scheduleVersion))
          if (!isStandardOutput(options.output)) report.note(`wrote ${options.output}`)
        }
        const object = {
          topology: spec,
          ...planned.report,
          ...(planned.cache === null ? {} : { cache: planned.cache }),
          verified,
          ...(options.output === undefined ? {} : { file: verified ? options.output : null }),
        }
        const { strategy } = planned
        reportBeside(
          report,
          options.output,
          object,
          [
            text(`${spec}: ${headingOf(strategy, planned.report)}`, object),
            ...(planned.compared === null ? [] : [choiceRows(planned.compared, strategy)]),
          ].join('\n'),
        )
        return verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** A plan, and what is printed of it. */
interface Planned {
  readonly report: PlanReport
  /** Its line of text. */
  readonly strategy: string
  readonly compared: PrintedChoice | null
  readonly cache: { readonly directory: string; readonly cachedMs: number | null } | null
  readonly verified: boolean
  /** The schedule as JSON Lines. */
  pieces(version: 1 | 2): Iterable<string> | Promise<Iterable<string>>
}

async function planHere(
  report: Reporter,
  spec: string,
  request: UnderstoodRequest,
  { cache }: { readonly cache?: string | undefined },
): Promise<Planned> {
  report.step(`building ${spec}`)
  const topology = buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
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
  const { plan, strategy, compared, verification } = requested
  noteViolations(report, verification)
  return {
    report: requested.report,
    strategy: formatStrategy(strategy),
    compared,
    cache: cache === undefined ? null : { directory: cache, cachedMs: requested.retainedMs },
    verified: verification.ok,
    pieces: (version) => scheduleText(plan.schedule, { version }),
  }
}

/** By a service, which verifies its plans. */
async function planThere(
  report: Reporter,
  spec: string,
  { named }: UnderstoodRequest,
  server: ServerAddress,
  options: z.infer<typeof schema>,
): Promise<Planned> {
  const served = await servedPlan(report, server, spec, options)
  const { chosen, alternatives, notSimulated, bytesPerBlock, considered, ordinaryAllgather } = served.report
  // As choiceObject has it.
  const compared =
    named !== null
      ? null
      : ({
          choice: { alternatives, notSimulated, bytes: bytesPerBlock, considered },
          ordinary: ordinaryAllgather,
        } as PrintedChoice)
  return {
    report: served.report,
    strategy: named === null ? String(chosen) : formatStrategy(named),
    compared,
    cache: null,
    verified: true,
    pieces: async (version) => [await served.text(version)],
  }
}

function cacheOf(report: Reporter, directory: string): PlanStore {
  return planDirectory(directory, { onProblem: ({ message }) => report.note(message) })
}

/** The strategy with its parameters; of friend groups also theta, which has a default. */
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
      ['planning time', secondsText(planned.planMs / 1000)],
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
