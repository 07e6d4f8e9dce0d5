import * as z from 'zod'
import { planOptions, understand } from '../../client/protocol/plan-words.js'
import { levels } from '../../machine/profile.js'
import { type Alternative, autoHelp, type Choice, parseAuto } from '../../neighborhood/choose/auto.js'
import type { PlanReport, ReportedChoice } from '../../neighborhood/choose/plan-request.js'
import type { Strategy } from '../../neighborhood/strategies/strategies.js'
import { formatStrategy, strategiesHelp } from '../../neighborhood/strategies/strategies.js'
import {
  addOptions,
  commandOptionsOf,
  flag,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
} from '../input/options.js'
import { mapOption, operationOption, spelledBy, strategyOptions } from '../input/plan-options.js'
import { serverOf, serverOptions } from '../input/server-options.js'
import { machineHelp, mapHelp, specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { change, columns, figure, secondsText, table } from '../output/result-rows.js'
import { mappingRow } from '../output/simulation-report.js'
import { planHere, recordedIn, servedPlan } from '../source/planned-topology.js'

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

const optionTable = {
  ...strategyOptions(['auto']),
  ...operationOption,
  ...commandOptionsOf(planOptions),
  ...mapOption,
  ...serverOptions,
  compare: flag('--compare', 'compare the simulated times of the best strategies'),
  output: option(
    '-o, --output <file>',
    'write the plan as JSON Lines (.gz: compressed, -: to standard output)',
  ),
  cache: option(
    '--cache <dir>',
    'retain plans in a directory, and use those that are there',
    z.string().min(1),
  ),
  scheduleVersion: option(
    '--schedule-version <number>',
    'version of the schedule format, 1 or 2',
    oneOf('1', '2').transform((text) => (text === '1' ? 1 : 2)),
    '2',
  ),
  json,
}

export const planCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<spec>', 'the topology, e.g. moore:64x64:r=4'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const given = readOptions(optionTable, raw)
        await checkOutputs(report, given.output)
        const options = { ...given, ...recordedWords(spec, given) }
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
          operation: request.operation,
          ...planned.report,
          ...(cache === undefined ? {} : { cache: { directory: cache, cachedMs } }),
          verified,
          ...(output === undefined ? {} : { file: verified ? output : null }),
        }
        // If the strategy was chosen, the report names it.
        const strategy = object.chosen ?? formatStrategy(request.strategy as Strategy)
        const rows = hasChoice(planned.report) ? [choiceRows(planned.report)] : []
        const by = request.operation === 'neighbor-allgather' ? '' : `${request.operation} by `
        const heading = `${spec}: ${by}${headingOf(strategy, object)}`
        reportBeside(report, output, object, [text(heading, object), ...rows].join('\n'))
        return verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** Returns the operation and the length of blocks for which to plan: by default those of a recorded graph. */
function recordedWords(
  spec: string,
  { operation, bytes, strategy, compare }: OptionValues<typeof optionTable>,
) {
  const recorded = recordedIn(spec)
  const auto = parseAuto(strategy)
  const takesBytes = auto === null ? compare : auto.bytes === undefined
  return {
    operation: operation ?? recorded?.operation,
    bytes: bytes ?? (takesBytes ? recorded?.blocks?.[1] : undefined),
  }
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
      ['simulated time', simulatedText(planned.simulated ?? null)],
      [
        'choosing time',
        planned.choiceMs === undefined ? null : `${secondsText(planned.choiceMs / 1000)}, measured`,
      ],
      ['planning time', `${secondsText(planned.planMs / 1000)}, measured`],
      ['read from cache', cachedMs === null ? null : `in ${secondsText(cachedMs / 1000)}, verified`],
      [
        'verified',
        planned.verified
          ? 'all blocks delivered exactly once, deadlock-free'
          : 'NO, the violations are on standard error',
      ],
      ['remark', planned.remark],
    ]),
  ].join('\n')
}

/** Prints the times of direct sends and of the plan, and how many times as fast it is. */
function simulatedText(times: ReportedChoice['simulated']): string | null {
  if (times === null) return null
  const { directUs, plannedUs, speedup } = times
  return `${figure(directUs)} us direct, ${figure(plannedUs)} us planned (${figure(speedup)} times as fast)`
}

/** Returns the strategies that were compared, by simulated time; the planned one is marked. */
function choiceRows(compared: ReportedChoice): string {
  const { alternatives, bytesPerBlock, considered, chosen, ordinaryAllgather: ordinary } = compared
  const farthest = alternatives.some((alternative) => alternative.bytes.network > 0)
  const direct = alternatives.find(({ strategy }) => strategy === 'direct')
  type Compared = Alternative | NonNullable<typeof ordinary>
  const sorted: readonly Compared[] =
    ordinary === null ? alternatives : [...alternatives, ordinary].sort((a, b) => a.timeUs - b.timeUs)
  const nameOf = (each: Compared) =>
    'algorithm' in each
      ? `- ${each.algorithm}, all to all`
      : `${each.strategy === chosen ? '*' : ' '} ${each.strategy}`
  return [
    `strategies for blocks of ${figure(bytesPerBlock)} bytes, ${figure(considered)} considered, ${figure(alternatives.length)} simulated (* planned${ordinary === null ? '' : ', - an ordinary allgather'})`,
    `times are simulated with profile ${compared.profile}; choosing and planning are measured`,
    columns(sorted, [
      ['  strategy', nameOf],
      ['simulated', ({ timeUs }) => `${figure(timeUs)} us`],
      ['direct sends / this', ({ timeUs }) => ratioText(direct?.timeUs ?? null, timeUs)],
      ['allgather / this', ({ timeUs }) => ratioText(ordinary?.timeUs ?? null, timeUs)],
      ['messages', ({ messages }) => figure(messages)],
      farthest
        ? ['bytes between nodes', ({ bytes }) => figure(bytes.network)]
        : ['bytes', ({ bytes }) => figure(allBytes(bytes))],
      ['planning', (each) => ('algorithm' in each ? '' : secondsText(each.planMs / 1000))],
      ['breaks even after', (each) => ('algorithm' in each ? '' : startsText(each))],
    ]),
    ...fastestRow(compared),
    ...leftRows(compared.notSimulated),
  ].join('\n')
}

/** Names the strategy to plan instead, if the planned one is not the fastest. */
function fastestRow({ alternatives, chosen }: ReportedChoice): string[] {
  const [fastest] = alternatives
  const planned = alternatives.find(({ strategy }) => strategy === chosen)
  if (planned === undefined || planned.timeUs <= fastest.timeUs) return []
  const times = figure(planned.timeUs / fastest.timeUs)
  return [`  fastest simulated: --strategy ${fastest.strategy}; the planned one takes ${times} times as long`]
}

const reasons = {
  slower: 'a lower bound of their time exceeds the fastest',
  budget: 'the budget is used up',
  moves: 'their plans move more blocks than the budget allows',
  friends: 'the search for friends takes longer than the budget allows',
} as const

/** Returns the candidates that the budget left out and that are worth a name, by reason. */
function leftRows(left: Choice['notSimulated']): string[] {
  return Object.entries(reasons).flatMap(([because, reason]) => {
    const names = left
      .filter((each) => each.because === because)
      .map(({ strategy, atLeastUs }) => `${strategy} (at least ${figure(roundedDown(atLeastUs))} us)`)
    return names.length === 0 ? [] : [`  not simulated, as ${reason}: ${names.join(', ')}`]
  })
}

/** Returns how many times as long a reference takes; an en dash if it is not simulated. */
function ratioText(referenceUs: number | null, us: number): string {
  if (referenceUs === null) return '–'
  return figure(us === 0 ? 1 : referenceUs / us)
}

/** Rounds down to at most two digits, and two after the point: a bound is printed no higher than it is. */
function roundedDown(us: number): number {
  if (us <= 0) return 0
  const unit = Math.max(0.01, 10 ** (Math.floor(Math.log10(us)) - 1))
  return Number((Math.floor(us / unit) * unit).toPrecision(2))
}

function allBytes(bytes: Alternative['bytes']): number {
  return levels.reduce((sum, level) => sum + bytes[level], 0)
}

/** Returns calls with two digits: choosing and planning are measured. */
function startsText({ breakEvenStarts, breakEvenIsAtMost }: Alternative): string {
  if (breakEvenStarts === null) return 'never'
  const starts = Number(breakEvenStarts.toPrecision(2))
  const text = starts === 1 ? '1 call' : `${figure(starts)} calls`
  return `${breakEvenIsAtMost ? 'at most' : 'about'} ${text}`
}
