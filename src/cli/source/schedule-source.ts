import type { Command } from 'commander'
import { type PlanWords, understand } from '../../client/protocol/plan-words.js'
import { parseAlgorithm, segmentsOf } from '../../collective/algorithm-text.js'
import { algorithms } from '../../collective/algorithms.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { scheduleOf } from '../../collective/patterns/schedule-of.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { parseAuto } from '../../neighborhood/choose/auto.js'
import type { AppliedMapping } from '../../neighborhood/choose/mapped-topology.js'
import { requestedPlan } from '../../neighborhood/choose/plan-request.js'
import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import type { Schedule } from '../../schedule/ir.js'
import { blockBounds } from '../../topology/compressed-rows.js'
import { openInput } from '../input/open-input.js'
import { option, refuseGiven, refuseNeedlessRoot, whole } from '../input/options.js'
import { spelledBy, strategyOptionNames } from '../input/plan-options.js'
import { serverOf } from '../input/server-options.js'
import { groupProgress, type Reporter } from '../output/reporter.js'
import { builtTopology, recordedIn, servedPlan } from './planned-topology.js'

/** The options of a command about its source. */
interface SourceOptions extends PlanWords, ShapeOptions {
  /** The ranks of an algorithm; by default the cores of the machine. */
  readonly ranks?: number | undefined
  /** The processes that host the ranks, in blocks; by default one per rank. */
  readonly processes?: number | undefined
  /** The service that makes plans of topologies. */
  readonly server?: string | undefined
  readonly tokenFile?: string | undefined
}

/** The options about the shape of an algorithm. */
export const shapeOptions = {
  ranks: option(
    '--ranks <number>',
    'of an algorithm (default: the cores of the machine)',
    whole(1, shapeLimits.ranks),
  ),
  root: option(
    '--root <rank>',
    'of an algorithm of a rooted collective',
    whole(0, shapeLimits.ranks - 1),
    '0',
  ),
  segments: option(
    '--segments <number>',
    `of an algorithm, 1 to ${shapeLimits.segments} (default: the fewest that it takes, mostly 1)`,
    whole(1, shapeLimits.segments),
  ),
}

const topologyOptionNames = [...strategyOptionNames, 'map', 'operation'] as const

const sourceExpected = "a schedule file, a topology or an algorithm, which 'rankweave schedule --list' lists"

/** @throws ERR_USAGE for an empty source, and an option that another kind of source takes */
export function refuseInapplicable(command: Command, source: string): void {
  if (source === '') throw wrongValue('ERR_USAGE', `expected ${sourceExpected}`, source)
  const algorithm = algorithmNamed(source)
  if (algorithm !== undefined) {
    refuseGiven(command, [...topologyOptionNames, 'server'], 'is for topologies, not for algorithms')
    refuseNeedlessRoot(command, algorithm)
    return
  }
  const kind = isTopology(source) ? 'topologies' : 'schedule files'
  refuseGiven(command, Object.keys(shapeOptions), `is for algorithms, not for ${kind}`)
  if (!isTopology(source))
    refuseGiven(command, [...topologyOptionNames, 'server'], `is for topologies, not for ${kind}`)
}

/** Returns the algorithm whose line of text a source is. */
const algorithmNamed = (source: string) =>
  algorithms.find(({ id }) => source === id || source.startsWith(`${id}:`))
export const isTopology = (source: string) => /^[a-z]{2,}:/.test(source)

/** The options about the shape of an algorithm. */
interface ShapeOptions {
  readonly root: number
  readonly segments?: number | undefined
  /** The bytes that MPI's count describes, if the command has them. */
  readonly bytes?: number | undefined
  /** The machine; rank r is on core r, or on the core of its process. */
  readonly machine?: Machine | undefined
  /** The processes that host the ranks, in blocks. */
  readonly processes?: number | undefined
}

/**
 * Returns the schedule of an algorithm's line of text, on the grid of the machine if the algorithm follows one.
 *
 * @throws ERR_ARGUMENT for a text that names no algorithm
 * @throws ERR_USAGE for `--segments` beside segments in the text, for `segment` without bytes, and without ranks
 * @throws ERR_MACHINE for more ranks than cores
 */
export function scheduleFromText(
  command: Command,
  text: string,
  ranks: number | undefined,
  { root, segments, bytes, machine, processes }: ShapeOptions,
): Schedule {
  const setting = parseAlgorithm(text)
  const { algorithm, segmentBytes } = setting
  if (setting.segments !== undefined || segmentBytes !== undefined)
    refuseGiven(command, ['segments'], `is in ${shown(text)} already`)
  if (ranks === undefined) throw new RankweaveError('ERR_USAGE', '--ranks: expected a number of ranks')
  if (segmentBytes !== undefined && bytes === undefined)
    throw wrongValue(
      'ERR_USAGE',
      'expected segments=NUMBER: no number follows from segment without bytes',
      text,
    )
  const cut = segmentsOf(setting, bytes ?? 0, ranks) ?? segments
  const coreOf = processes === undefined ? null : blockPlacement(ranks, processes)
  const isPlaced = machine !== undefined && algorithm.followsGrid === true
  const grid = isPlaced ? gridOfMachine(machine, coreOf, ranks) : undefined
  return scheduleOf(algorithm, {
    ...{ ranks, root },
    ...(cut === undefined ? {} : { segments: cut }),
    ...(grid === undefined ? {} : { grid }),
  })
}

/**
 * Returns how many sends of a rank may be in progress. Without the option, it is the number of ports of a node, even if
 * the node has several ranks. Undefined: no limit.
 */
export function sendsAtOnce({
  ports,
  machine,
}: {
  readonly ports?: number | undefined
  readonly machine?: Machine | undefined
}): number | undefined {
  return ports ?? machine?.ports ?? undefined
}

/** A schedule, with the mapping of its topology's vertices; null if they were not mapped. */
interface SourceSchedule {
  readonly schedule: Schedule
  readonly mapping: AppliedMapping | null
}

/** Returns the schedule of an algorithm's line of text, of a topology's text, which has a colon, or else of a file. */
export async function scheduleFromSource(
  report: Reporter,
  command: Command,
  source: string,
  options: SourceOptions,
): Promise<SourceSchedule> {
  const { machine, processes } = options
  if (algorithmNamed(source) !== undefined) {
    const ranks = options.ranks ?? machine?.firstRank[machine.cores.length]
    return { schedule: scheduleFromText(command, source, ranks, options), mapping: null }
  }
  if (!isTopology(source)) {
    report.step(`reading ${source}`)
    return { schedule: await readSource(source), mapping: null }
  }
  const isChosen = parseAuto(options.strategy) !== null
  // Other strategies are planned alike for blocks of any length.
  const operation = options.operation ?? recordedIn(source)?.operation
  const words = { ...options, operation, bytes: isChosen ? options.bytes : undefined }
  const request = understand(words, spelledBy(command))
  const server = serverOf(options)
  if (server !== null) {
    if (processes !== undefined)
      throw new RankweaveError('ERR_USAGE', '--processes: is for plans that are made here, not for --server')
    const served = await servedPlan(report, server, source, words)
    return { schedule: await served.schedule(), mapping: served.report.mapping ?? null }
  }
  const topology = builtTopology(report, source)
  const { plan, mapping } = await requestedPlan(topology, request, machine ?? null, {
    ...(machine === undefined ? {} : { nodeOf: nodesOfRanks(machine, topology.ranks, processes) }),
    onStep: report.step,
    onProgress: groupProgress(report),
  })
  return { schedule: plan.schedule, mapping }
}

/** Reads a schedule file. A missing file may be a misspelled algorithm. @throws ERR_FILE, ERR_SCHEDULE */
async function readSource(source: string): Promise<Schedule> {
  try {
    return await readScheduleFile(source, { open: openInput })
  } catch (error) {
    if (!(error instanceof RankweaveError) || (error.cause as NodeJS.ErrnoException)?.code !== 'ENOENT')
      throw error
    const { cause, details, message } = error
    throw new RankweaveError('ERR_FILE', `${message}; expected ${sourceExpected}`, { details, cause })
  }
}

/** Returns the node of every rank, process p being on core p. @throws ERR_MACHINE, ERR_USAGE */
export function nodesOfRanks(machine: Machine, ranks: number, processes: number | undefined): Int32Array {
  if (processes === undefined) return nodeOf(machine, ranks)
  const nodes = nodeOf(machine, processes)
  return blockPlacement(ranks, processes).map((process) => nodes[process])
}

/** Returns a placement of consecutive ranks in blocks, as in worlds. @throws ERR_USAGE for more processes than ranks */
export function blockPlacement(ranks: number, processes: number): Int32Array {
  if (processes > ranks)
    throw wrongValue('ERR_USAGE', `--processes: expected at most ${ranks}, one per rank`, processes)
  const bounds = blockBounds(ranks, processes)
  const placement = new Int32Array(ranks)
  for (let process = 0; process < processes; process++)
    placement.fill(process, bounds[process], bounds[process + 1])
  return placement
}
