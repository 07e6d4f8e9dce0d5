import { wordOption } from '../../base/option.js'
import { givenOptions, withDefaults } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import { formatMachine } from '../../machine/format-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { type NodeOutline, nodeOfOutline, requireCores } from '../../machine/nodes.js'
import type { NeighborCollective } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import type { Verification } from '../../schedule/verify/violations.js'
import {
  friendOptions,
  groupingEngines,
  groupingSettings,
  refuseSimulation,
} from '../../topology/friends/grouping-options.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyFromEdges } from '../../topology/topology-builders.js'
import { type PlanOptions, plan, planStatistics } from '../plan/plan.js'
import { combiningOptions } from '../strategies/common-neighbor.js'
import type { CommonNeighbor } from '../strategies/common-neighbor-strategy.js'
import { checkedKind } from '../strategies/strategies.js'
import type { Plan, PlanStatistics, Strategy } from '../strategies/strategy.js'
import { formatStrategy, parseStrategyBeside } from '../strategies/strategy-text.js'
import { type AutoStrategy, isAuto, parseAuto } from './auto.js'
import { type Compared, choiceObject, compareStrategies, type ReportedChoice } from './comparison.js'
import {
  type AppliedMapping,
  type MappedTopology,
  type MapSource,
  mappedTopology,
  withoutMapping,
} from './mapped-topology.js'

/** The options of the strategy `common-neighbor` if its text has none. */
export const friendWords = {
  ...friendOptions,
  engine: wordOption(groupingEngines, {
    ...friendOptions.engine,
    help: 'how friends are grouped; distributed only in createDistGraphAdjacent',
  }),
  mode: wordOption(['aware', 'agnostic'], {
    help: 'aware: friends share a node, the default with a machine; agnostic: any ranks are friends',
  }),
  ...combiningOptions,
}

/** A strategy in the words of a caller; words that the caller left out are undefined. */
export interface StrategyWords extends Undefinable<Omit<CommonNeighbor, 'kind' | 'engine'>> {
  readonly strategy: string
  readonly engine?: string | undefined
  readonly machine?: Machine | undefined
}

type Undefinable<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** A request to `rankweave plan` or the service, in the words of the caller. */
export interface PlanWords extends StrategyWords {
  readonly bytes?: number | undefined
  /** Whether strategies are compared; absent if the caller has no such word. */
  readonly compare?: boolean
  readonly operation?: NeighborCollective | undefined
  readonly map?: MapSource | undefined
}

/** The words as they are understood. Only the profile of the machine is read, so its nodes need not be laid out. */
type Understandable<Words extends StrategyWords> = Omit<Words, 'machine'> & {
  readonly machine?: Pick<Machine, 'profile'> | undefined
}

/** Returns the caller's spelling of a word: `--bytes` on the command line, `bytes` over HTTP. */
export type Spelled = (name: keyof PlanWords) => string

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

/**
 * Understands a request before anything is built for it.
 *
 * @throws ERR_USAGE for words that are missing, or would have no effect
 * @throws ERR_MACHINE for a comparison on a machine without a profile
 * @throws ERR_STRATEGY as {@link namedStrategy}
 */
export function understand(words: Understandable<PlanWords>, spelled: Spelled): UnderstoodRequest {
  refuseNeedlessFriends(words, spelled)
  const { operation = 'neighbor-allgather', bytes, compare, machine } = words
  const map = mapSource(words, spelled)
  const auto = parseAuto(words.strategy)
  if (auto === null && compare !== true) {
    const users = `${spelled('strategy')} auto${compare === undefined ? '' : ` and ${spelled('compare')}`}`
    if (bytes !== undefined) throw usageError(`${spelled('bytes')}: is for ${users}`)
    return { strategy: strategyOf(words, spelled), operation, comparedBytes: null, map }
  }
  const what = auto === null ? spelled('compare') : `${spelled('strategy')} auto`
  if (operation !== 'neighbor-allgather')
    throw usageError(`${what}: is for neighbor-allgather, not for ${operation}`)
  if (auto?.bytes !== undefined && bytes !== undefined)
    throw usageError(`${spelled('bytes')}: expected once, got ${bytes} and ${what}:bytes=${auto.bytes}`)
  const comparedBytes = auto?.bytes ?? bytes
  if (machine === undefined) {
    const example = 'cluster:nodes=16,cores=16,profile=simgrid-fast'
    throw usageError(`${what}: expected ${spelled('machine')} with a profile, such as ${example}`)
  }
  if (comparedBytes === undefined)
    throw usageError(`${what}: expected ${spelled('bytes')}, the length of a block`)
  profileOf(machine)
  return { strategy: auto ?? strategyOf(words, spelled), operation, comparedBytes, map }
}

/**
 * Returns the mapping of words that name one; null for others.
 *
 * @throws ERR_USAGE without a machine, whose cores are the slots
 */
export function mapSource(
  { map, machine }: Pick<Understandable<PlanWords>, 'map' | 'machine'>,
  spelled: Spelled,
): MapSource | null {
  if (map === undefined) return null
  if (machine !== undefined) return map
  throw usageError(`${spelled('map')}: expected ${spelled('machine')}, on whose cores ranks are placed`)
}

/**
 * Returns the strategy of words that name one.
 *
 * @throws ERR_USAGE for an unknown engine, for aware mode without a machine, and for words that would have no effect
 * @throws ERR_STRATEGY for the engine `distributed`, and for a text that is not a strategy
 */
export function namedStrategy(words: Understandable<StrategyWords>, spelled: Spelled): Strategy {
  refuseNeedlessFriends(words, spelled)
  return strategyOf(words, spelled)
}

function strategyOf(words: Understandable<StrategyWords>, spelled: Spelled): Strategy {
  const { strategy, machine, engine = friendWords.engine.default } = words
  if (strategy !== 'common-neighbor') return parseStrategyBeside(['auto'], strategy)
  const mode = words.mode ?? (machine === undefined ? 'agnostic' : 'aware')
  if (mode === 'aware' && machine === undefined)
    throw usageError(`${spelled('mode')} aware: expected ${spelled('machine')}, which defines the nodes`)
  const known = groupingEngines.find((each) => each === engine)
  if (known === undefined)
    throw usageError(`${spelled('engine')}: expected ${friendWords.engine.expected}, got '${engine}'`)
  refuseSimulation(spelled('engine'), known)
  const { k, dedupe, elide, theta, labelSeed } = withDefaults(friendWords, words)
  return {
    kind: 'common-neighbor',
    ...{ k, mode, dedupe, elide },
    ...(theta === undefined ? {} : { theta }),
    ...(known === friendWords.engine.default ? {} : { engine: known }),
    ...(labelSeed === undefined ? {} : { labelSeed }),
  }
}

/** @throws ERR_USAGE for words of friend groups with a strategy that does not take them */
export function refuseNeedlessFriends(words: Understandable<StrategyWords>, spelled: Spelled): void {
  const { strategy } = words
  if (strategy === 'common-neighbor') return
  for (const name of Object.keys(friendWords) as (keyof typeof friendWords)[]) {
    if (words[name] === undefined) continue
    const option = spelled(name)
    const hint = strategy.startsWith('common-neighbor:') ? ': write it there' : ', not for this strategy'
    const message = `${option} is for ${spelled('strategy')} common-neighbor${hint} (${strategy})`
    throw new RankweaveError('ERR_USAGE', message, { details: { option } })
  }
}

function usageError(message: string): RankweaveError {
  return new RankweaveError('ERR_USAGE', message)
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
export interface RequestedPlan {
  readonly plan: Plan
  /** The planned topology: that of slots if vertices were mapped. */
  readonly topology: ProcessTopology
  /** The mapping; null if none was requested. */
  readonly mapping: AppliedMapping | null
  /** The strategy that was named or chosen. */
  readonly strategy: Strategy
  readonly nodes: Int32Array | null
  readonly compared: Compared | null
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
  const { onStep = () => {}, onProgress, signal, retained = made } = hooks
  const nodes = hooks.nodeOf ?? (machine === null ? null : nodeOf(machine, given.ranks))
  const isExact = (strategy: Strategy | AutoStrategy) =>
    strategy.kind === 'common-neighbor' && strategy.engine === 'exact'
  if (isExact(asked)) await prepareEngine('exact')
  if (request.map !== null) onStep(`mapping ${given.ranks} ranks`)
  const mapped =
    request.map === null ? null : mappedTopology(given, request.map, { machine: machine!, nodes: nodes! })
  const { topology, mapping, compared } = comparedTopology(given, mapped, request, machine, hooks)
  const strategy = isAuto(asked) ? compared!.choice.strategy : asked
  onStep(`planning ${topology.outRank.length} edges of ${topology.ranks} ranks`)
  if (isExact(strategy)) await prepareEngine('exact')
  const make = () =>
    plan(topology, strategy, {
      operation,
      ...(nodes === null ? {} : { nodeOf: nodes }),
      ...givenOptions({ onProgress, signal }),
    })
  const begin = performance.now()
  const { plan: planned, isFromStore } = await retained(topology, strategy, nodes, make)
  const retainedMs = isFromStore ? performance.now() - begin : null
  return { plan: planned, topology, mapping, strategy, nodes, compared, retainedMs }
}

/** The topology to plan, and the comparison that was requested. */
type ComparedTopology = Pick<RequestedPlan, 'topology' | 'mapping' | 'compared'>

/**
 * Compares strategies if that is requested. If both the mapping and the strategy are `auto`, vertices move only if that
 * saves simulated time. Each topology is timed with the strategy chosen for it.
 */
function comparedTopology(
  given: ProcessTopology,
  mapped: MappedTopology | null,
  { strategy: asked, comparedBytes: bytes, map }: UnderstoodRequest,
  machine: Machine | null,
  { onStep = () => {}, onProgress, signal }: PlanHooks,
): ComparedTopology {
  const { topology, mapping } = mapped ?? { topology: given, mapping: null }
  if (bytes === null) return { topology, mapping, compared: null }
  const budget = isAuto(asked) ? asked.budget : undefined
  const comparison = (of: ProcessTopology): Compared =>
    compareStrategies(of, machine!, {
      bytes,
      ...givenOptions({ signal, onProgress, budget }),
      ...(isAuto(asked) ? {} : { include: [asked] }),
    })
  onStep('comparing strategies')
  const compared = comparison(topology)
  if (mapping === null || !mapping.isMapped || !isAuto(asked) || map !== 'auto')
    return { topology, mapping, compared }
  onStep('comparing strategies without the mapping')
  const unmapped = comparison(given)
  const [identityUs, mappedUs] = [unmapped, compared].map(({ choice }) => choice.chosen.timeUs)
  const decided = { ...mapping, simulated: { identityUs, mappedUs } }
  return mappedUs < identityUs
    ? { topology, mapping: decided, compared }
    : { topology: given, mapping: withoutMapping(decided), compared: unmapped }
}

const made: NonNullable<PlanHooks['retained']> = async (_topology, _strategy, _nodes, make) => ({
  plan: make(),
  isFromStore: false,
})

/** A plan, its proof and its report as JSON. */
export interface ReportedPlan extends RequestedPlan {
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
  const { plan: planned, topology, mapping, strategy, nodes, compared } = requested
  const { operation } = request
  const direct = planStatistics(plan(topology, { kind: 'direct' }, { operation }), nodes)
  hooks.onStep?.('verifying the plan')
  const verification = verify(planned.schedule, topology)
  const report = {
    machine: machine === null ? null : formatMachine(machine),
    ...(mapping === null ? {} : { mapping }),
    mode: strategy.kind === 'common-neighbor' ? strategy.mode : null,
    ...planStatistics(planned, nodes),
    parameters: planned.schedule.parameters,
    direct: {
      meanPerRank: direct.messages.meanPerRank,
      maxPerRank: direct.messages.maxPerRank,
      interNode: direct.messages.interNode,
      volumeBlocks: direct.volumeBlocks,
    },
    matching: groupingOf(planned),
    ...(compared === null ? {} : choiceObject(compared, formatStrategy(strategy))),
    planMs: planned.planMs,
  }
  return { ...requested, verification, report }
}

/** Returns how the groups were found; null for a plan without groups. */
function groupingOf({ groups }: Plan) {
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
  readonly [more: string]: unknown
}
