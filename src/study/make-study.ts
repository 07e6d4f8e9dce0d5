import { requireNotAborted } from '../base/abort.js'
import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { givenOptions } from '../base/option-table.js'
import { atOnce } from '../base/turn.js'
import { fastestAllgather, mostAllgatherRanks } from '../cost/choose/choose-algorithm.js'
import { longestBlockBytes } from '../cost/simulate/block-lengths.js'
import { simulate } from '../cost/simulate/simulate.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { checkMachine } from '../machine/check-machine.js'
import { type Machine, nodeOf } from '../machine/machine.js'
import { formatMachine } from '../machine/machine-text.js'
import { profileOf, profileOrigin, profileRemark } from '../machine/network.js'
import { type Level, levels } from '../machine/profile.js'
import { type Choice, chosenFor } from '../neighborhood/choose/auto.js'
import {
  candidateLoads,
  isGrouped,
  type LoadedCandidate,
  movedBlocks,
} from '../neighborhood/choose/candidates.js'
import { chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
import { estimateUs, type HopLoad } from '../neighborhood/choose/estimate.js'
import type { AppliedMapping } from '../neighborhood/choose/mapped-topology.js'
import { leastOfThree, startsUntilPaid } from '../neighborhood/choose/simulated.js'
import type { Plan } from '../neighborhood/plan/plan.js'
import { plan, planStatistics } from '../neighborhood/plan/plan.js'
import { formatStrategy, type Strategy } from '../neighborhood/strategies/strategies.js'
import { lower } from '../schedule/lower/lower.js'
import { type NeighborCollective, upTo } from '../schedule/specification.js'
import { distinctOut } from '../topology/neighbors.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { topologyStatistics } from '../topology/topology-statistics.js'
import { sensitivityOf } from './sensitivity.js'
import {
  type Fastest,
  type FourWays,
  inProgram,
  type LeftOut,
  type OrdinaryAllgather,
  type ProductBlock,
  type RunnableStrategy,
  type SimulatedTime,
  type StudiedStrategy,
  type Study,
  type Subject,
  type Way,
} from './study.js'
import { verdictOf } from './study-document.js'

/** The topology before its vertices were mapped, and the mapping. */
interface MappedFrom {
  readonly topology: ProcessTopology
  readonly mapping: AppliedMapping
}

export interface StudyOptions {
  /** The name of the topology. */
  readonly name: string
  /** The operation over the topology. Default `neighbor-allgather`. */
  readonly operation?: NeighborCollective
  /** The lengths of a program's blocks, which are studied too, and marked in the study. Default: none is known. */
  readonly recordedBytes?: readonly number[]
  /** The topology before a mapping was applied. The study compares both, with and without combining. */
  readonly mappedFrom?: MappedFrom
  /** The rows of B of the rank that has most, for the topology of a matrix. Default: it belongs to no matrix. */
  readonly blockRows?: number
  /** The lengths of a block, 1 to {@link mostLengths} integers from 0 to 2^40. Default {@link defaultLengths}. */
  readonly bytes?: readonly number[]
  /** The strategies to study besides direct sends. Default: the best of every kind, as an estimate ranks them. */
  readonly strategies?: readonly Strategy[]
  /**
   * The time after which the search for friend groups of one strategy stops, and the strategy is left out. Planning of
   * other strategies is not interrupted. Default {@link defaultPlanSeconds}.
   */
  readonly planSeconds?: number
  /** Ends the study with ERR_ABORTED. It is checked before each strategy, and inside searches for friend groups. */
  readonly signal?: AbortSignal
  /** Called before each strategy. */
  readonly onStrategy?: (strategy: string) => void
  /** A clock in milliseconds, of which only differences count. Default `performance.now`. */
  readonly now?: () => number
}

const knownOptions: OptionTable<StudyOptions> = uncheckedOptions(
  'name',
  'operation',
  'recordedBytes',
  'mappedFrom',
  'blockRows',
  'bytes',
  'strategies',
  'planSeconds',
  'signal',
  'onStrategy',
  'now',
)

export const defaultLengths: readonly number[] = [4, 64, 512, 4096, 65_536]
export const mostLengths = 32
export const defaultPlanSeconds = 10

/**
 * Plans and simulates the strategies of a topology on a machine, including the choice of `auto` for every length unless
 * strategies are given. Memory: one schedule at a time.
 *
 * The same topology, machine and options give the same counts and simulated times everywhere. Planning times are
 * measured, and whether friend groups exceed `planSeconds` depends on the computer.
 *
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_TOPOLOGY for a topology without edges between different ranks
 * @throws ERR_ARGUMENT for invalid lengths, or an invalid time
 * @throws ERR_STRATEGY for a strategy that cannot be planned for the topology; ERR_ABORTED through `signal`
 */
export function makeStudy(topology: ProcessTopology, machine: Machine, options: StudyOptions): Study {
  requireKnownOptions('makeStudy', options, knownOptions)
  const { planSeconds = defaultPlanSeconds, onStrategy, signal, now = () => performance.now() } = options
  requireNotAborted('makeStudy', signal)
  checkMachine(machine)
  profileOf(machine)
  const nodes = nodeOf(machine, topology.ranks)
  const { operation = 'neighbor-allgather', recordedBytes = [] } = options
  const bytes = checkedLengths(options.bytes ?? [...defaultLengths, ...recordedBytes])
  if (!(planSeconds > 0))
    throw wrongValue('ERR_ARGUMENT', 'planSeconds: expected a time above 0', planSeconds)
  const subject = subjectOf(topology, machine, nodes, { ...options, bytes })
  const given = options.strategies ?? null
  const auto =
    given === null
      ? bytes.map((length) => autoChoice(topology, machine, length, { ...options, operation, now }))
      : []
  const selected = selectStrategies(topology, machine, nodes, {
    ...{ operation, bytes, given },
    auto: auto.map(({ strategy }) => strategy),
  })
  const choiceMs = bytes.map((_, i) => auto[i]?.choiceMs ?? 0)
  const leftOut: LeftOut[] = [...selected.leftOut]
  const studied: StudiedStrategy[] = []
  const byText = new Map(selected.strategies.map((strategy) => [formatStrategy(strategy), strategy]))
  for (const [text, strategy] of byText) {
    onStrategy?.(text)
    requireNotAborted('makeStudy', signal)
    const planned = leastOfThree(() =>
      planWithin(topology, strategy, { operation, nodeOf: nodes, seconds: planSeconds, now, signal }),
    )
    if (planned === null) {
      leftOut.push({ strategy: text, reason: `planning took more than ${planSeconds} s` })
      continue
    }
    studied.push(
      studiedStrategy(text, planned, { machine, nodes, bytes, choiceMs, direct: studied[0] ?? null }),
    )
  }
  const ordinaryAllgather =
    operation === 'neighbor-allgather' ? ordinaryAllgathers(topology.ranks, machine, bytes) : null
  const fastest = bytes.map((_, i) => {
    const chosen = auto[i] === undefined ? null : formatStrategy(auto[i].strategy)
    const found = fastestAt(studied, i, { subject, ordinary: ordinaryAllgather, auto: chosen })
    return { ...found, choiceMs: choiceMs[i] }
  })
  const sensitivity = sensitivityOf(studied, bytes, machine, (text) => {
    onStrategy?.(`${text} with other costs`)
    return lower(
      plan(topology, byText.get(text)!, { operation, nodeOf: nodes }).schedule,
      upTo(topology.ranks),
    )
  })
  const found = { strategies: studied, leftOut, fastest, ordinaryAllgather, sensitivity }
  const verdict = verdictOf(subject, fastest)
  const study = { subject, bytes, ...found, verdict, measurements: null }
  const { mappedFrom } = options
  if (mappedFrom === undefined) return study
  const setting = { operation, machine, nodes, bytes, now, ...givenOptions({ onStrategy, signal }) }
  const ways = fourWays(
    mappedFrom.topology,
    { topology, chosen: auto.map(({ strategy }) => strategy), studied },
    setting,
  )
  return { ...study, mapped: { mapping: mappedFrom.mapping, ways } }
}

/** Simulates the fastest ordinary allgather of every length; null beyond the ranks of {@link fastestAllgather}. */
function ordinaryAllgathers(
  ranks: number,
  machine: Machine,
  bytes: readonly number[],
): readonly OrdinaryAllgather[] | null {
  if (ranks > mostAllgatherRanks) return null
  return bytes.map((length) => {
    const { algorithm, simulation } = fastestAllgather(ranks, machine, length)
    return { bytes: length, algorithm, timeUs: simulation.timeUs }
  })
}

/** Returns the lengths ascending, each once. @throws ERR_ARGUMENT */
function checkedLengths(bytes: readonly number[]): number[] {
  const isLength = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= longestBlockBytes
  if (!Array.isArray(bytes) || bytes.length === 0 || bytes.length > mostLengths || !bytes.every(isLength))
    throw wrongValue(
      'ERR_ARGUMENT',
      `bytes: expected 1 to ${mostLengths} integers from 0 to ${longestBlockBytes}`,
      bytes,
    )
  return [...new Set(bytes)].sort((a, b) => a - b)
}

/** @throws ERR_TOPOLOGY */
function subjectOf(
  topology: ProcessTopology,
  machine: Machine,
  nodes: Int32Array,
  { name, operation = 'neighbor-allgather', recordedBytes = [], bytes = [], blockRows }: StudyOptions,
): Subject {
  if (distinctOut(topology).rank.length === 0) {
    const message = `${name}: expected edges between different ranks, got none on ${topology.ranks} ${topology.ranks === 1 ? 'rank' : 'ranks'}: there is nothing to study`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  const { ranks, edges, degree } = topologyStatistics(topology)
  const profile = profileOf(machine)
  return {
    topology: name,
    operation,
    recordedBytes: recordedBytes.filter((length) => bytes.includes(length)),
    ranks,
    edges,
    degree,
    machine: formatMachine(machine),
    nodes: new Set(nodes).size,
    profile: {
      name: profile.name,
      source: profile.source,
      provenance: profile.provenance,
      origin: profileOrigin(profile),
    },
    product: blockRows === undefined ? null : productBlock(blockRows),
    remark: profileRemark(machine),
  }
}

/** The columns of B per exchange that a study gives as an example. */
const exampleColumns = 8

function productBlock(rows: number): ProductBlock {
  return { rows, columns: exampleColumns, bytes: rows * exampleColumns * Float64Array.BYTES_PER_ELEMENT }
}

class OverTime extends Error {}

/** Plans a strategy. Returns null if the search for friend groups took too long; other planning is not interrupted. */
function planWithin(
  topology: ProcessTopology,
  strategy: Strategy,
  {
    operation,
    nodeOf,
    seconds,
    now,
    signal,
  }: {
    operation: NeighborCollective
    nodeOf: Int32Array
    seconds: number
    now: () => number
    signal: AbortSignal | undefined
  },
): Plan | null {
  const latest = now() + 1000 * seconds
  const over = new OverTime()
  try {
    return plan(topology, strategy, {
      operation,
      nodeOf,
      now,
      ...(signal === undefined ? {} : { signal }),
      onProgress: () => {
        if (now() > latest) throw over
      },
    })
  } catch (error) {
    if (error === over) return null
    throw error
  }
}

function fastestAt(
  strategies: readonly StudiedStrategy[],
  i: number,
  {
    subject,
    ordinary,
    auto,
  }: { subject: Subject; ordinary: Study['ordinaryAllgather']; auto: string | null },
): Omit<Fastest, 'choiceMs'> {
  const best = leastAt(strategies, i)
  const { bytes, timeUs, speedup, breakEvenStarts } = best.simulated[i]
  const speedupOverAllgather = ordinary === null ? null : timeUs === 0 ? 1 : ordinary[i].timeUs / timeUs
  const { strategy } = best
  return {
    ...{ bytes, strategy, timeUs, speedup, speedupOverAllgather, breakEvenStarts, auto },
    inProgram: inProgram(subject, strategy, bytes),
    runnable: runnableAt(strategies, i, subject),
  }
}

function runnableAt(
  strategies: readonly StudiedStrategy[],
  i: number,
  subject: Subject,
): RunnableStrategy | null {
  const wayOf = ({ strategy, simulated }: StudiedStrategy) => inProgram(subject, strategy, simulated[i].bytes)
  const runnable = strategies.filter((each) => wayOf(each) !== 'no')
  if (runnable.length === 0) return null
  const best = leastAt(runnable, i)
  return { strategy: best.strategy, speedup: best.simulated[i].speedup, inProgram: wayOf(best) }
}

function leastAt(strategies: readonly StudiedStrategy[], i: number): StudiedStrategy {
  let best = strategies[0]
  for (const each of strategies) if (each.simulated[i].timeUs < best.simulated[i].timeUs) best = each
  return best
}

interface WaysSetting extends StudySteps {
  readonly operation: NeighborCollective
  readonly machine: Machine
  readonly nodes: Int32Array
  readonly bytes: readonly number[]
}

/** A topology with the strategies studied and chosen for it. */
interface KnownTopology {
  readonly topology: ProcessTopology
  /** The choice of `auto` for every length; empty if it is not known. */
  readonly chosen: readonly Strategy[]
  readonly studied: readonly StudiedStrategy[]
}

/**
 * Returns the times of the operation for every length: with and without a mapping, each with direct sends and
 * with the choice of `auto`.
 *
 * @param given the topology before the mapping
 * @param mapped the topology after it
 */
function fourWays(given: ProcessTopology, mapped: KnownTopology, setting: WaysSetting): FourWays[] {
  const before = waysOf({ topology: given, chosen: [], studied: [] }, setting)
  const after = waysOf(mapped, setting)
  return setting.bytes.map((bytes, i) => ({
    bytes,
    neither: before.direct[i],
    mapping: after.direct[i],
    combining: before.chosen[i],
    both: after.chosen[i],
  }))
}

interface Ways {
  readonly direct: readonly Way[]
  readonly chosen: readonly Way[]
}

function waysOf(known: KnownTopology, setting: WaysSetting): Ways {
  const { topology } = known
  const { operation, machine, nodes, bytes } = setting
  const figures = new Map(known.studied.map((each) => [each.strategy, each]))
  const figuresOf = (strategy: Strategy): StudiedStrategy => {
    const text = formatStrategy(strategy)
    const studied =
      figures.get(text) ??
      studiedStrategy(text, plan(topology, strategy, { operation, nodeOf: nodes }), {
        machine,
        nodes,
        bytes,
        choiceMs: bytes.map(() => 0),
        direct: null,
      })
    figures.set(text, studied)
    return studied
  }
  const chosen =
    known.chosen.length > 0
      ? known.chosen
      : bytes.map((length) => autoChoice(topology, machine, length, setting).strategy)
  const direct = figuresOf({ kind: 'direct' })
  return {
    direct: bytes.map((_, i) => wayOf(direct, i)),
    chosen: chosen.map((strategy, i) => wayOf(figuresOf(strategy), i)),
  }
}

function wayOf({ strategy, messages, simulated }: StudiedStrategy, i: number): Way {
  const { all, betweenNodes } = messages
  return { strategy, timeUs: simulated[i].timeUs, messages: all, betweenNodes }
}

/** The signal and the progress callback of a study. */
interface StudySteps {
  readonly now?: () => number
  readonly signal?: AbortSignal
  readonly onStrategy?: (strategy: string) => void
}

/** Returns the choice of `rankweave plan --strategy auto` for blocks of this length. */
function autoChoice(
  topology: ProcessTopology,
  machine: Machine,
  bytes: number,
  { operation, now, onStrategy, signal }: StudySteps & { readonly operation: NeighborCollective },
): Choice {
  onStrategy?.(`what auto chooses for ${bytes} bytes`)
  const wanted = { bytes, operation: chosenFor(operation), ...givenOptions({ now, signal }) }
  return chooseStrategy(topology, machine, wanted)
}

/** The setting for which the figures of strategies are found. */
interface FiguresSetting {
  readonly machine: Machine
  readonly nodes: Int32Array
  readonly bytes: readonly number[]
  /** The time of choosing for each length. */
  readonly choiceMs: readonly number[]
  /** The figures of direct sends; null while these themselves are studied. */
  readonly direct: StudiedStrategy | null
}

/** Returns the figures of a strategy that was planned. @param text of the strategy */
function studiedStrategy(text: string, planned: Plan, setting: FiguresSetting): StudiedStrategy {
  const { machine, nodes, bytes, choiceMs, direct } = setting
  const { messages } = planStatistics(planned, nodes)
  const lowered = lower(planned.schedule, upTo(nodes.length))
  const { planMs } = planned
  const ofOneByte = () => simulate(lowered, machine, { bytes: 1 }).traffic
  const simulated = bytes.map((length, i): SimulatedTime => {
    const { timeUs, traffic } = simulate(lowered, machine, { bytes: length })
    const ofDirect = direct?.simulated[i].timeUs ?? timeUs
    const moreMs = Math.max(0, planMs - (direct?.planMs ?? planMs))
    return {
      bytes: length,
      timeUs,
      bytesByLevel: byLevel((level) => traffic[level].bytes),
      speedup: timeUs === 0 ? 1 : ofDirect / timeUs,
      breakEvenStarts: startsUntilPaid(choiceMs[i] + moreMs, ofDirect - timeUs),
    }
  })
  const longest = simulated[simulated.length - 1]
  const blocks = byLevel((level) =>
    longest.bytes === 0 ? ofOneByte()[level].bytes : longest.bytesByLevel[level] / longest.bytes,
  )
  return {
    strategy: text,
    messages: {
      all: messages.planned,
      meanPerRank: messages.meanPerRank,
      maxPerRank: messages.maxPerRank,
      betweenNodes: messages.interNode ?? 0,
    },
    blocks,
    simulated,
    planMs,
  }
}

function byLevel(of: (level: Level) => number): Record<Level, number> {
  return Object.fromEntries(levels.map((level) => [level, of(level)])) as Record<Level, number>
}

interface SelectOptions {
  readonly operation: NeighborCollective
  readonly bytes: readonly number[]
  /** The strategies to study; null for those that are worth a study. */
  readonly given: readonly Strategy[] | null
  /** The choices of `auto` for the lengths, studied in any case. */
  readonly auto: readonly Strategy[]
}

/** The most blocks in the messages of a strategy: planning takes about 200 bytes and 1 us per block. */
const mostBlocks = 2 ** 23

/** The most strategies of one kind, the best for the shortest and the longest blocks among them. */
const perKind = 3

const direct: Strategy = { kind: 'direct' }

/**
 * Strategies by friend groups, whose messages an estimate knows only after planning: the published ones and later ones.
 */
const byFriends: readonly Strategy[] = [
  ...([2, 4, 8] as const).map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'aware' })),
  ...([2, 4] as const).map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'agnostic' })),
  { kind: 'descending', ks: [4, 3, 2], mode: 'aware' },
  { kind: 'cumulative', k: 2, mode: 'aware' },
]

/**
 * Returns the strategies of a study, direct sends first, then the given ones. Without given ones, it takes the choices
 * of `auto`, strategies by friend groups, and at most {@link perKind} of every kind that an estimate finds best for
 * some length. Deterministic.
 *
 * @throws ERR_STRATEGY for a given strategy that cannot be planned for the topology
 */
function selectStrategies(
  topology: ProcessTopology,
  machine: Machine,
  nodes: Int32Array,
  { operation, bytes, given, auto }: SelectOptions,
): { readonly strategies: readonly Strategy[]; readonly leftOut: readonly LeftOut[] } {
  if (given !== null) return { strategies: distinct([direct, ...given]), leftOut: [] }
  const byKind = new Map<string, LoadedCandidate[]>()
  for (const loaded of atOnce(candidateLoads(topology, nodes, chosenFor(operation))).candidates) {
    const { strategy } = loaded
    // The estimate has only a lower bound for friend groups.
    if (strategy.kind === 'direct' || isGrouped(strategy)) continue
    byKind.set(strategy.kind, [...(byKind.get(strategy.kind) ?? []), loaded])
  }
  const strategies: Strategy[] = [direct]
  const leftOut: LeftOut[] = []
  for (const loaded of byKind.values()) {
    const usOf = (load: readonly HopLoad[], length: number) =>
      estimateUs(load, machine, topology.ranks, length)
    for (const { strategy, load } of bestOf(loaded, bytes, usOf)) {
      const blocks = movedBlocks(topology.ranks, load)
      if (blocks <= mostBlocks) strategies.push(strategy)
      else
        leftOut.push({
          strategy: formatStrategy(strategy),
          reason: `its messages carry about ${Math.round(blocks / 1e6)} million blocks, more than ${mostBlocks}`,
        })
    }
  }
  return { strategies: distinct([...strategies, ...auto, ...byFriends]), leftOut }
}

/** The estimated gain, for some length, from which a strategy is studied separately from others of its kind. */
const worthwhile = 0.1

/** Returns the best for the lengths, alternately from both ends, until there are {@link perKind}. */
function bestOf(
  loaded: readonly LoadedCandidate[],
  bytes: readonly number[],
  usOf: (load: readonly HopLoad[], bytes: number) => number,
): LoadedCandidate[] {
  const found: number[] = []
  for (let i = 0; i < bytes.length && found.length < perKind; i++) {
    const length = bytes[i % 2 === 0 ? i / 2 : bytes.length - (i + 1) / 2]
    const times = loaded.map(({ load }) => usOf(load, length))
    const best = times.reduce((least, time, each) => (time < times[least] ? each : least), 0)
    if (found.every((each) => times[best] < (1 - worthwhile) * times[each])) found.push(best)
  }
  return found.map((each) => loaded[each])
}

function distinct(strategies: readonly Strategy[]): Strategy[] {
  return [...new Map(strategies.map((strategy) => [formatStrategy(strategy), strategy])).values()]
}
