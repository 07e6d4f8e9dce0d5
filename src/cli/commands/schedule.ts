import type { Command } from 'commander'
import * as z from 'zod'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import {
  type ComparedAlgorithms,
  chooseAlgorithm,
  defaultAlgorithmBudget,
} from '../../cost/choose/choose-algorithm.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import { scheduleText } from '../../schedule/file/schedule-file.js'
import { opKind, type Schedule } from '../../schedule/ir.js'
import { mostSendsAtOnce, withPorts } from '../../schedule/lower/with-ports.js'
import { type Collective, collectives, isNeighborCollective } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import { countMessages } from '../../schedule/walk.js'
import { machineCheck, requireMachine } from '../input/machine-input.js'
import {
  addOptions,
  flag,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  refuseNeedlessRoot,
  whole,
} from '../input/options.js'
import {
  algorithmList,
  listedAlgorithms,
  mcaOptions,
  openMpiOf,
  withoutSchedule,
} from '../output/algorithm-list.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportRowsBeside, writeOutput } from '../output/output-file.js'
import { noteViolations, reductionRows } from '../output/proof-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import {
  columns,
  counted,
  figure,
  held,
  type ResultRow,
  row,
  secondsText,
  shown,
} from '../output/result-rows.js'
import { scheduleFromText, sendsAtOnce } from '../source/schedule-source.js'

/** The options of a choice among the algorithms of a collective. */
const choiceOptions = {
  algorithm: option(
    '--algorithm <text>',
    'of a collective: auto, or one of its algorithms',
    z.string(),
    'auto',
  ),
  machine: option('--machine <text>', 'machine, rank r on core r; for auto with a profile', machineCheck),
  bytes: option(
    '--bytes <number>',
    "for auto: bytes of every unit of data, as MPI's count describes it",
    whole(0, longestBlockBytes),
  ),
  order: option(
    '--order <word>',
    'for auto: the weakest order of combination: tree, ranks or any',
    oneOf('tree', 'ranks', 'any'),
    'any',
  ),
  budget: option(
    '--budget <number>',
    'for auto: work spent on simulations',
    whole(1, 2 ** 20),
    String(defaultAlgorithmBudget),
  ),
  compare: flag('--compare', 'for auto: list the algorithms that were simulated'),
}

type ChosenOptions = OptionValues<typeof choiceOptions>

/** The options of `auto` alone. */
const choiceOptionNames = Object.keys(choiceOptions).filter((name) => name !== 'machine')

/** The text of the algorithm for a collective, and its choice if it was chosen. */
interface ChosenText {
  readonly text: string
  readonly ranks: number | undefined
  readonly choice: ReturnType<typeof algorithmChoiceObject> | null
}

const help = `
An algorithm of a collective is a function that returns a schedule: for every rank, which blocks it sends to whom and
what it combines, phase by phase. The schedule is verified before it is printed or written. A schedule with violations
is not written, and the exit code is 1.

ALGORITHM is a line of text: an id, then a colon and settings joined by commas. They are the parameters of the algorithm
that are not to have their defaults, and segments=NUMBER, which is --segments.

With --machine, algorithms that follow the network, such as allgather-bucket, are planned for where the ranks are: rank r
on core r. A machine with ports limits the sends of a rank that are in progress to so many, unless --ports says how many.

The name of a collective stands for the algorithm that takes least time on a machine with a profile, as the simulator
predicts it, with its parameters and segments.

Examples:
  rankweave schedule --list
  rankweave schedule bcast --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 262144 --compare
  rankweave schedule bcast-binomial --ranks 16
  rankweave schedule bcast-chain:fanout=4,segments=8 --ranks 16
  rankweave schedule allgather-bucket:ports=6 --machine torus:dims=4x4x4
  rankweave schedule bcast-binomial --ranks 64 --root 5 --segments 8 -o bcast.jsonl
  rankweave schedule alltoall-linear --ranks 64 --ports 6 -o alltoall.jsonl
  rankweave verify bcast.jsonl
  rankweave schedule bcast-binomial --ranks 4 -o - | rankweave verify -`

const optionTable = {
  list: flag('--list', 'list the algorithms and their parameters'),
  ranks: option(
    '--ranks <number>',
    'participants (default: the cores of the machine)',
    whole(1, shapeLimits.ranks),
  ),
  root: option('--root <rank>', 'of a rooted collective', whole(0, shapeLimits.ranks - 1), '0'),
  segments: option(
    '--segments <number>',
    `segments into which the data is cut, sent one after the other, 1 to ${shapeLimits.segments} (default: the fewest that it takes, mostly 1)`,
    whole(1, shapeLimits.segments),
  ),
  ports: option(
    '--ports <number>',
    'sends of a rank in progress at once, at most (default: the ports of the machine, or all of a phase)',
    whole(1, mostSendsAtOnce),
  ),
  output: option(
    '-o, --output <file>',
    'write the schedule as JSON Lines (.gz: compressed, -: to standard output)',
  ),
  json,
  ...choiceOptions,
}

export const scheduleCommand: AddCommand = (command, act) => {
  addOptions(
    command.argument(
      '[algorithm]',
      'the algorithm with its parameters, e.g. bcast-binomial or bcast-chain:fanout=4; or a collective, e.g. bcast',
    ),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, line: string | undefined, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        const { list, output, root, segments, machine } = options
        const ports = sendsAtOnce(options)
        if (list) return listAlgorithms(report)
        if (line === undefined || line === '')
          throw new RankweaveError('ERR_USAGE', 'expected an algorithm or a collective, or --list')
        const collective = collectiveNamed(line)
        if (collective === undefined) {
          refuseNeedlessRoot(command, parseAlgorithm(line).algorithm)
          refuseChoice(command)
        }
        await checkOutputs(report, output)
        const { text, ranks, choice } =
          collective === undefined
            ? { text: line, ranks: options.ranks ?? ranksOnCores(machine), choice: null }
            : chosenText(report, command, collective, options, options)
        report.step(`planning ${text}`)
        const planned = scheduleFromText(command, text, ranks, { root, segments, machine })
        const schedule = ports === undefined ? planned : withPorts(planned, ports)
        report.step('verifying the schedule')
        const verification = verify(schedule)
        noteViolations(report, verification)
        if (verification.ok && output !== undefined) {
          await writeOutput(report, output, scheduleText(schedule))
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        const { association, isOrdered } = verification
        const unit =
          choice === null ? null : { ranks: schedule.specification.ranks, bytes: choice.bytesPerUnit }
        const cuts = schedule.parameters['segments'] as number
        const openMpi = openMpiOf(schedule.strategy, cuts, unit)
        const rows = [
          ...summaryRows(schedule),
          shown('ports', ports === undefined ? null : `${figure(ports)} per rank`),
          held({ isOrdered, association }),
          ...reductionRows(schedule, verification).map((line) => shown(...line)),
          row(
            'verified',
            verification.ok,
            'verified',
            verification.ok ? 'yes' : 'NO, the violations are on standard error',
          ),
          row('openMpi', openMpi, 'Open MPI', openMpi === null ? null : mcaOptions(openMpi)),
          held(ports === undefined ? {} : { portsPerRank: ports }),
          held({ ...choice }),
          held(output === undefined ? {} : { file: verification.ok ? output : null }),
        ]
        const { specification, strategy } = schedule
        const ofRanks = `${specification.collective} of ${counted(specification.ranks, 'rank', 'ranks')}`
        const compared = options.compare && choice !== null ? [algorithmChoiceRows(choice)] : []
        reportRowsBeside(report, output, rows, `${withSegments(strategy, cuts)}: ${ofRanks}`, ...compared)
        return verification.ok ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** Returns the collective that a source names, or undefined for the text of an algorithm. */
function collectiveNamed(source: string): Collective | undefined {
  return collectives.find((name) => name === source && !isNeighborCollective(name))
}

/** @throws ERR_USAGE for options of a choice beside the text of an algorithm */
function refuseChoice(command: Command): void {
  refuseGiven(command, choiceOptionNames, 'is for the name of a collective, not for an algorithm')
}

/**
 * Returns the algorithm for a collective, by the options of its choice.
 *
 * @throws ERR_USAGE for options that are missing or do not apply
 * @throws ERR_ARGUMENT, ERR_MACHINE, ERR_RANK as `chooseAlgorithm` does
 */
function chosenText(
  report: Reporter,
  command: Command,
  collective: Collective,
  shape: { readonly ranks?: number | undefined; readonly root: number },
  { algorithm, machine, bytes, order, budget, compare }: ChosenOptions,
): ChosenText {
  refuseNeedlessRoot(command, { collective })
  if (algorithm !== 'auto') {
    refuseGiven(
      command,
      choiceOptionNames.filter((name) => name !== 'algorithm'),
      'is for --algorithm auto',
    )
    parseAlgorithm(algorithm, collective)
    return { text: algorithm, ranks: shape.ranks ?? ranksOnCores(machine), choice: null }
  }
  refuseGiven(command, ['segments'], 'is chosen by --algorithm auto')
  const described = requireMachine(machine)
  if (bytes === undefined) throw new RankweaveError('ERR_USAGE', 'expected --bytes')
  const ranks = shape.ranks ?? ranksOnCores(described)!
  report.step(`simulating algorithms of ${collective} on ${figure(ranks)} ranks`)
  const choice = chooseAlgorithm(collective, described, { ranks, root: shape.root, bytes, order, budget })
  const object = algorithmChoiceObject(choice, described)
  return {
    text: choice.chosen.algorithm,
    ranks,
    choice: compare ? object : { ...object, alternatives: [choice.chosen], notSimulated: [] },
  }
}

function ranksOnCores(machine: Machine | undefined): number | undefined {
  if (machine === undefined) return undefined
  return Math.min(machine.firstRank[machine.cores.length], shapeLimits.ranks)
}

function listAlgorithms(report: Reporter): ExitCode {
  report.result({ algorithms: listedAlgorithms(), withoutSchedule: withoutSchedule() }, algorithmList())
  return exitCodes.ok
}

function summaryRows(schedule: Schedule): readonly ResultRow[] {
  const { parameters, phases, specification, strategy } = schedule
  const { collective, ranks } = specification
  const { messages, blocks } = countMessages(schedule)
  const combinations = schedule.opKind.reduce((count, kind) => count + (kind === opKind.combine ? 1 : 0), 0)
  return [
    held({ algorithm: strategy, collective, ranks, ...parameters }),
    row('phases', phases),
    row('messages', messages),
    row('volumeBlocks', blocks, 'blocks sent'),
    row('combinations', combinations),
  ]
}

/** Returns the text by which a user would name an algorithm. */
function withSegments(algorithm: string, segments: number): string {
  if (segments < 2) return algorithm
  return `${algorithm}${algorithm.includes(':') ? ',' : ':'}segments=${segments}`
}

/** Returns the part of a schedule's JSON object about a choice, like that of a plan. */
function algorithmChoiceObject(choice: ComparedAlgorithms, machine: Machine) {
  const { chosen, alternatives, notSimulated, simulated, bytes } = choice
  return {
    bytesPerUnit: bytes,
    chosen: chosen.algorithm,
    simulated,
    alternatives,
    notSimulated,
    profile: profileOrigin(profileOf(machine)),
    remark: profileRemark(machine),
    origins: { timeUs: 'simulated', planMs: 'measured' } as const,
  }
}

/** Returns the algorithms that were compared, by simulated time; the chosen one is marked. */
function algorithmChoiceRows(compared: ReturnType<typeof algorithmChoiceObject>): string {
  const { alternatives, bytesPerUnit, chosen, notSimulated, profile, remark, simulated } = compared
  const farthest = alternatives.some(({ bytes }) => bytes.network > 0)
  return [
    `algorithms for units of ${figure(bytesPerUnit)} bytes, ${figure(simulated)} settings simulated (* chosen)`,
    `times are simulated with profile ${profile}; planning is measured`,
    ...(remark === null ? [] : [remark]),
    columns(alternatives, [
      ['  algorithm', ({ algorithm }) => `${algorithm === chosen ? '*' : ' '} ${algorithm}`],
      ['simulated', ({ timeUs }) => `${figure(timeUs)} us`],
      ['messages', ({ messages }) => figure(messages)],
      farthest
        ? ['bytes between nodes', ({ bytes }) => figure(bytes.network)]
        : ['bytes', ({ bytes }) => figure(bytes.package + bytes.node)],
      ['planning', ({ planMs }) => secondsText(planMs / 1000)],
    ]),
    ...notSimulated.map(({ algorithm, reason }) => `  not simulated: ${algorithm}: ${reason}`),
  ].join('\n')
}
