import { givenOptions } from '../../base/option-table.js'
import { fastestAllgather, mostAllgatherRanks } from '../../cost/choose/choose-algorithm.js'
import { sentIn } from '../../cost/simulate/simulate.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import { type NodeOutline, nodeOfOutline, requireCores } from '../../machine/nodes.js'
import type { NeighborCollective } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import type { Verification } from '../../schedule/verify/violations.js'
import { groupingSettings } from '../../topology/friends/grouping-options.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyFromEdges } from '../../topology/topology-builders.js'
import type { Plan, PlanStatistics } from '../plan/plan.js'
import { type PlanOptions, plan, planStatistics } from '../plan/plan.js'
import {
  checkedKind,
  formatStrategy,
  groupingOf,
  parseStrategy,
  type Strategy,
} from '../strategies/strategies.js'
import { type Alternative, type AutoStrategy, type Choice, chosenFor, isAuto } from './auto.js'
import { chooseStrategy } from './choose-strategy.js'
import {
  type AppliedMapping,
  type MappedTopology,
  type MapSource,
  mappedTopology,
  withoutMapping,
} from './mapped-topology.js'
import { withBreakEven } from './simulated.js'

/** A request whose words have been understood: plain data from which worker threads plan. */
export interface UnderstoodRequest {
  /** The strategy; with `auto` the library chooses. */
  readonly strategy: Strategy | AutoStrategy
  readonly operation: NeighborCollective
  /** The length of blocks for which strategies are compared; null if none are. */
  readonly comparedBytes: number | null
  /** The source of the mapping before planning; null if rank v is vertex v. */
  readonly map: MapSource | null
}

/** A route is tried before planning for at most so many ranks, in two or three milliseconds. */
const mostTried = 2 ** 16
/** A route that needs laid out nodes is tried for at most so many ranks. */
const mostLaidOut = 2 ** 12

/**
 * Raises the errors of planning that do not depend on the edges. Time: some milliseconds, for any machine.
 *
 * @param outline null without a machine
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link requestedPlan}
 */
export function requirePossible(
  { strategy }: UnderstoodRequest,
  ranks: number,
  outline: NodeOutline | null,
): void {
  const kind = isAuto(strategy) ? null : checkedKind(strategy, ranks)
  if (outline !== null) requireCores(ranks, outline.cores)
  if (isAuto(strategy) || kind === null || ranks > mostTried) return
  const { routeNeeds, route } = kind
  if (outline !== null && routeNeeds !== 'ranks' && ranks > mostLaidOut) return
  const nodes = outline === null ? null : nodeOfOutline(outline, ranks)
  if ('mode' in strategy) groupingSettings(ranks, { k: 2, mode: strategy.mode, nodeOf: nodes })
  else if (routeNeeds !== undefined) route(strategy, { topology: edgeless(ranks), nodeOf: nodes })
}

const none = new Int32Array(0)
const edgeless = (ranks: number) => topologyFromEdges(ranks, { sources: none, destinations: none })

/** Callbacks that follow planning, and a source of plans that replaces it. */
export interface PlanHooks extends Pick<PlanOptions, 'onProgress' | 'signal'> {
  readonly onStep?: (what: string) => void
  /** Returns a retained plan. Default: calls `make`. */
  readonly retained?: (
    topology: ProcessTopology,
    strategy: Strategy,
    nodes: Int32Array | null,
    make: () => Plan,
  ) => Promise<{ readonly plan: Plan; readonly isFromStore: boolean }>
}

/** A plan as a caller requested it. */
interface RequestedPlan {
  readonly plan: Plan
  /** The planned topology: that of slots if vertices were mapped. */
  readonly topology: ProcessTopology
  /** The mapping; null if none was requested. */
  readonly mapping: AppliedMapping | null
  /** The strategy that was named or chosen. */
  readonly strategy: Strategy
  readonly nodes: Int32Array | null
  /** The strategies that the library considered; null if none were compared. */
  readonly choice: Choice | null
  /** The measured time of mapping and comparing before the plan, in milliseconds. */
  readonly choiceMs: number
  /** The time to read a plan from a store, in milliseconds; null for a plan that was made. */
  readonly retainedMs: number | null
}

/**
 * Maps if that is requested, chooses a strategy if none is named, and plans.
 *
 * @param machine a request that compares strategies, or maps, needs one
 * @param hooks `nodeOf`: the node of every rank, if it is not that of the machine
 * @throws the errors of planning: ERR_STRATEGY, ERR_MACHINE, ERR_TOPOLOGY; ERR_MAPPING for a file of another topology
 */
export async function requestedPlan(
  given: ProcessTopology,
  request: UnderstoodRequest,
  machine: Machine | null,
  hooks: PlanHooks & Pick<PlanOptions, 'nodeOf'> = {},
): Promise<RequestedPlan> {
  const { strategy: asked, operation } = request
  const { onStep = () => {}, onProgress, signal, retained } = hooks
  const nodes = hooks.nodeOf ?? (machine === null ? null : nodeOf(machine, given.ranks))
  await prepareEngine(groupingOf(asked)?.engine)
  const asking = performance.now()
  if (request.map !== null) onStep(`mapping ${given.ranks} ranks`)
  const mapped =
    request.map === null ? null : mappedTopology(given, request.map, { machine: machine!, nodes: nodes! })
  const { topology, mapping, choice } = comparedTopology(given, mapped, request, machine, hooks)
  const choiceMs = performance.now() - asking
  const strategy = isAuto(asked) ? choice!.strategy : asked
  onStep(`planning ${topology.outRank.length} edges of ${topology.ranks} ranks`)
  const make = () =>
    plan(topology, strategy, {
      operation,
      ...(nodes === null ? {} : { nodeOf: nodes }),
      ...givenOptions({ onProgress, signal }),
    })
  const begin = performance.now()
  const { plan: planned, isFromStore } =
    retained === undefined
      ? { plan: make(), isFromStore: false }
      : await retained(topology, strategy, nodes, make)
  const retainedMs = isFromStore ? performance.now() - begin : null
  return { plan: planned, topology, mapping, strategy, nodes, choice, choiceMs, retainedMs }
}

/**
 * Compares strategies if that is requested. If both the mapping and the strategy are `auto`, vertices move only if that
 * saves simulated time. Each topology is timed with the strategy chosen for it.
 *
 * @returns the topology to plan, its mapping, and the comparison that was requested
 */
function comparedTopology(
  given: ProcessTopology,
  mapped: MappedTopology | null,
  request: UnderstoodRequest,
  machine: Machine | null,
  hooks: PlanHooks,
): Pick<RequestedPlan, 'topology' | 'mapping' | 'choice'> {
  const { topology, mapping } = mapped ?? { topology: given, mapping: null }
  if (request.comparedBytes === null) return { topology, mapping, choice: null }
  const { onStep = () => {} } = hooks
  onStep('comparing strategies')
  const choice = choiceFor(topology, machine!, request, hooks)
  if (mapping === null || !mapping.isMapped || !isAuto(request.strategy) || request.map !== 'auto')
    return { topology, mapping, choice }
  onStep('comparing strategies without the mapping')
  const unmapped = choiceFor(given, machine!, request, hooks)
  const [identityUs, mappedUs] = [unmapped.chosen.timeUs, choice.chosen.timeUs]
  const decided = { ...mapping, simulated: { identityUs, mappedUs } }
  return mappedUs < identityUs
    ? { topology, mapping: decided, choice }
    : { topology: given, mapping: withoutMapping(decided), choice: unmapped }
}

/** Chooses among the strategies that the library considers, and compares them with the named one and friend groups. */
function choiceFor(
  topology: ProcessTopology,
  machine: Machine,
  { strategy: asked, operation, comparedBytes }: UnderstoodRequest,
  { onProgress, signal }: PlanHooks,
): Choice {
  return chooseStrategy(topology, machine, {
    bytes: comparedBytes!,
    operation: chosenFor(operation),
    include: [...(isAuto(asked) ? [] : [asked]), ...friendGroups(topology, machine)],
    ...givenOptions({ signal, onProgress, budget: isAuto(asked) ? asked.budget : undefined }),
  })
}

/** Friend groups are compared for at most so many edges, unless the budget covers the search for them. */
const mostFriendEdges = 2 ** 18

/** Lists groups of 2, 4 and 8, of ranks that share nodes if there are several nodes. */
function friendGroups({ ranks, outRank }: ProcessTopology, machine: Machine): Strategy[] {
  if (outRank.length > mostFriendEdges) return []
  const mode = machine.cores.length > 1 && machine.firstRank[1] > 1 ? 'aware' : 'agnostic'
  return [2, 4, 8].filter((k) => k <= ranks).map((k) => ({ kind: 'common-neighbor', k, mode }))
}

/** A plan, its proof and its report as JSON. */
interface ReportedPlan extends RequestedPlan {
  readonly verification: Verification
  readonly report: PlanReport
}

/** Plans as {@link requestedPlan} does, verifies the plan, and compares its messages with direct sends. */
export async function reportedPlan(
  given: ProcessTopology,
  request: UnderstoodRequest,
  machine: Machine | null,
  hooks: PlanHooks = {},
): Promise<ReportedPlan> {
  const requested = await requestedPlan(given, request, machine, hooks)
  const { plan: planned, topology, mapping, strategy, nodes, choice } = requested
  const { operation } = request
  const direct = planStatistics(plan(topology, { kind: 'direct' }, { operation }), nodes)
  hooks.onStep?.('verifying the plan')
  const verification = verify(planned.schedule, topology)
  const statistics = planStatistics(planned, nodes)
  const { messages } = statistics
  const times = choice === null ? null : simulatedTimes(choice, formatStrategy(strategy))
  const profileDoubt = choice === null ? null : profileRemark(machine!)
  const remarks = [
    ...moreMessages(messages, direct.messages, times),
    ...(choice === null || times === null ? [] : noGain(choice, times)),
    ...(profileDoubt === null ? [] : [profileDoubt]),
  ]
  const report = {
    machine: machine === null ? null : formatMachine(machine),
    ...(mapping === null ? {} : { mapping }),
    mode: groupingOf(strategy)?.mode ?? null,
    ...statistics,
    parameters: planned.schedule.parameters,
    direct: {
      meanPerRank: direct.messages.meanPerRank,
      maxPerRank: direct.messages.maxPerRank,
      interNode: direct.messages.interNode,
      volumeBlocks: direct.volumeBlocks,
    },
    matching: matchingOf(planned),
    ...(choice === null
      ? {}
      : { ...reportedChoice(choice, requested, operation, machine!), simulated: times }),
    planMs: planned.planMs,
    remark: remarks.length === 0 ? null : remarks.join('; '),
  }
  return { ...requested, verification, report }
}

/** Simulated times of direct sends and of a plan, side by side. */
export interface SimulatedTimes {
  readonly directUs: number
  readonly plannedUs: number
  /** The first divided by the second. */
  readonly speedup: number
}

/** A plan gains nothing if its time is within 1% of that of direct sends, or above. */
const leastSpeedup = 1.01

/**
 * Remarks that the plan sends more messages than direct sends. If fewer of them go between nodes, that is no doubt
 * once the simulation says that the plan gains.
 */
function moreMessages(
  planned: PlanStatistics['messages'],
  direct: PlanStatistics['messages'],
  times: SimulatedTimes | null,
): string[] {
  if (planned.planned <= direct.planned) return []
  const [total, between] = [planned.planned, planned.interNode ?? 0]
  const [totalDirect, betweenDirect] = [direct.planned, direct.interNode ?? 0]
  if (between >= betweenDirect)
    return [`the plan sends more messages than direct sends: ${total} instead of ${totalDirect}`]
  return times !== null && times.speedup >= leastSpeedup
    ? []
    : [
        `the plan sends ${total} messages instead of ${totalDirect}, but ${between} instead of ${betweenDirect} between nodes`,
      ]
}

/** Remarks that nothing gains, or only not the planned strategy. */
function noGain({ alternatives }: Choice, { directUs, speedup }: SimulatedTimes): string[] {
  if (speedup >= leastSpeedup) return []
  const [fastest] = alternatives
  return directUs < leastSpeedup * fastest.timeUs
    ? ['no plan gains here: no strategy simulated gains 1% over direct sends']
    : [
        `this plan gains nothing; ${fastest.strategy} is ${(directUs / fastest.timeUs).toFixed(2)} times as fast as direct sends`,
      ]
}

/** Returns the times of a comparison; null if the planned strategy is not in it. */
function simulatedTimes({ alternatives }: Choice, planned: string): SimulatedTimes | null {
  const usOf = (text: string) => alternatives.find(({ strategy }) => strategy === text)?.timeUs
  const [directUs, plannedUs] = [usOf('direct'), usOf(planned)]
  if (directUs === undefined || plannedUs === undefined) return null
  return { directUs, plannedUs, speedup: plannedUs === 0 ? 1 : directUs / plannedUs }
}

/** Returns how the groups were found; null for a plan without groups. */
function matchingOf({ groups }: Plan) {
  if (groups === null) return null
  const { engine, weight, messages, waves, timeMs } = groups
  return { engine, weight, messages, waves, timeMs }
}

/** The report of a plan as JSON, for the command and the service. */
export interface PlanReport extends PlanStatistics, Partial<ReportedChoice> {
  readonly planMs: number
  readonly machine: string | null
  /** The mapping; absent if none was requested. */
  readonly mapping?: AppliedMapping
  /** The mode of friend groups; null for other strategies. */
  readonly mode: 'agnostic' | 'aware' | null
  /** The counts of direct sends, for comparison. */
  readonly direct: {
    readonly meanPerRank: number
    readonly maxPerRank: number
    readonly interNode: number | null
    readonly volumeBlocks: number
  }
  /** The reasons to doubt the plan or its simulated times; null if there are none. */
  readonly remark: string | null
  readonly [more: string]: unknown
}

/** An allgather of all blocks to all ranks, of which a rank picks those of its neighbors. */
interface Ordinary extends Pick<Alternative, 'timeUs' | 'messages' | 'bytes'> {
  readonly algorithm: string
}

/** The part of a plan's JSON object that a comparison adds. */
export interface ReportedChoice extends Pick<Choice, 'considered' | 'alternatives' | 'notSimulated'> {
  readonly bytesPerBlock: number
  /** The text of the planned strategy. */
  readonly chosen: string
  /** The measured time of choosing, and of mapping before it, in milliseconds. */
  readonly choiceMs: number
  /** The times of direct sends and of the plan; null if the comparison does not have the planned strategy. */
  readonly simulated: SimulatedTimes | null
  readonly ordinaryAllgather: Ordinary | null
  readonly profile: string
  readonly remark: string | null
  /** The origins of the figures of alternatives; derived means computed from both other kinds. */
  readonly origins: typeof origins
}

const origins = { timeUs: 'simulated', planMs: 'measured', breakEvenStarts: 'derived' } as const

function reportedChoice(
  choice: Choice,
  { topology, strategy, choiceMs }: RequestedPlan,
  operation: NeighborCollective,
  machine: Machine,
): Omit<ReportedChoice, 'simulated'> {
  const { notSimulated, bytes, considered } = choice
  return {
    bytesPerBlock: bytes,
    chosen: formatStrategy(strategy),
    considered,
    choiceMs,
    alternatives: withBreakEven(measuredAgain(choice, topology, { operation, machine }), choiceMs),
    notSimulated,
    ordinaryAllgather:
      operation === 'neighbor-allgather' ? ordinaryAllgather(topology.ranks, machine, bytes) : null,
    profile: profileOrigin(profileOf(machine)),
    remark: profileRemark(machine),
    origins,
  }
}

/** The milliseconds after which no further planning is measured again. */
const mostAgainMs = 100

/**
 * Measures short planning a second time, the fastest strategy first: the first time, code is compiled and memory is
 * cold. What is measured twice has a break-even figure of its own instead of an upper bound.
 */
function measuredAgain(
  { alternatives }: Choice,
  topology: ProcessTopology,
  setting: Pick<PlanOptions, 'operation' | 'machine'>,
): readonly Alternative[] {
  if (alternatives.every((each) => !each.breakEvenIsAtMost)) return alternatives
  const begin = performance.now()
  return alternatives.map((each): Alternative => {
    const isShort = each.breakEvenIsAtMost || each.strategy === 'direct'
    if (!isShort || performance.now() - begin > mostAgainMs) return each
    const again = plan(topology, parseStrategy(each.strategy), setting)
    return { ...each, planMs: Math.min(each.planMs, again.planMs), breakEvenIsAtMost: false }
  })
}

/** Simulates the fastest ordinary allgather; null for one rank, and for more than {@link mostAllgatherRanks}. */
function ordinaryAllgather(ranks: number, machine: Machine, bytes: number): Ordinary | null {
  if (ranks <= 1 || ranks > mostAllgatherRanks) return null
  const { algorithm, simulation } = fastestAllgather(ranks, machine, bytes)
  return { algorithm, timeUs: simulation.timeUs, ...sentIn(simulation.traffic) }
}
