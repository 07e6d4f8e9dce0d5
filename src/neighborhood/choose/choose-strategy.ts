import { untilAborted } from '../../base/abort.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { givenOptions, withDefaults } from '../../base/option-table.js'
import { atOnce, inSlices } from '../../base/turn.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { type ProcessTopology, requireTopology } from '../../topology/process-topology.js'
import type { PlanOptions } from '../plan/plan.js'
import { formatStrategy, type Strategy, strategyKind } from '../strategies/strategies.js'
import type { Extents } from '../strategies/strategy-kind.js'
import {
  type Choice,
  type ChosenOperation,
  checkAuto,
  checkedChosen,
  defaultBudget,
  type Unsimulated,
} from './auto.js'
import {
  type CandidateLoads,
  candidateLoads,
  extentsOf,
  isGrouped,
  type LoadedCandidate,
  loadsInSlices,
  movedBlocks,
  similarTo,
} from './candidates.js'
import { estimateUs } from './estimate.js'
import { type LowerBound, lowerBound } from './lower-bound.js'
import {
  alternativeOf,
  type Simulated,
  simulated,
  type Trial,
  type UnpaidAlternative,
  withBreakEven,
} from './simulated.js'

export interface ChooseOptions extends Pick<PlanOptions, 'now' | 'onProgress'> {
  /**
   * Ends the choice with ERR_ABORTED. The choice reads it before each candidate, and inside searches for friend groups.
   */
  readonly signal?: AbortSignal
  /** The bytes of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
  /**
   * The work that the choice may take, in the units of `budget` of `AutoStrategy`: 1 to 2^20. Default {@link
   * defaultBudget}.
   */
  readonly budget?: number
  /**
   * Strategies that are planned and simulated as well, whatever is expected of them. They are compared, but not chosen.
   */
  readonly include?: readonly Strategy[]
  /**
   * Whether the ranks have other numbers when the strategy is executed. Then `cartesian` is not a candidate: its
   * windows are offsets in one numbering. Default false.
   */
  readonly isRenumbered?: boolean
}

const knownOptions: OptionTable<ChooseOptions> = uncheckedOptions(
  'signal',
  'onProgress',
  'bytes',
  'operation',
  'budget',
  'include',
  'isRenumbered',
  'now',
)

/** The work that a unit of the budget allows, on any computer. */
const perUnit = {
  /** The number of simulated allgathers. Fewer are planned, and of other operations one is simulated. */
  simulated: 4,
  /** The blocks that all simulated candidates may move together; the first may move more. */
  moves: 2 ** 17,
  /** The number of simulated strategies similar to the fastest. */
  similar: 8,
  /** The blocks that these strategies may move together. */
  similarMoves: 2 ** 16,
  /** The blocks that strategies with friend groups may move, and the pairs that their searches may visit. */
  friendWork: 2 ** 16,
  /** The best candidate of a kind that has none simulated yet may take as much work alone. */
  movesOfKind: 2 ** 18,
  friendWorkOfKind: 2 ** 19,
}

/** The order of strategies that are compared but not chosen. */
const never = Number.POSITIVE_INFINITY

/** So many strategies that were not simulated are listed, besides those with friend groups. */
const mostNamed = 5

/**
 * Chooses the strategy by which a neighbor allgather, or another operation, takes the least time on a machine, as the
 * simulator predicts it. Candidates are ranked by an estimate, and the best are simulated. Then the best of every kind
 * without a simulated one is simulated, unless a lower bound of its time exceeds the fastest. Of allgathers, strategies
 * similar to the fastest are simulated next. The fastest of all and the best of every kind are planned too, as far as
 * the budget goes. So are direct sends, friend groups, and an ordinary allgather without the blocks that no rank needs.
 * The choice is a function of topology, operation, machine, bytes and budget: the same in every process, however fast
 * it is. Of equal times, the simpler strategy is chosen.
 *
 * Time: once per topology it follows the ways of some blocks by every candidate, at most about 1,500; the budget limits
 * plans and simulations. Memory: one strategy at a time, about 20 bytes per block that it moves, and that of its
 * simulation or schedule.
 *
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY for invalid bytes or budget; ERR_ARGUMENT for an invalid operation
 * @throws ERR_ABORTED through `signal`; the errors of `onProgress`
 */
export function chooseStrategy(topology: ProcessTopology, machine: Machine, options: ChooseOptions): Choice {
  return atOnce(choosingUntilAborted(topology, machine, options))
}

/**
 * Chooses as {@link chooseStrategy} does, without holding the event loop longer than one plan and its simulation take.
 */
export async function chooseInSlices(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Promise<Choice> {
  await prepareChoices(topology, machine, Object(options).operation)
  return inSlices(choosingUntilAborted(topology, machine, options))
}

/** Does the work that choices for all lengths of blocks share, without holding the event loop for long. */
export async function prepareChoices(
  topology: ProcessTopology,
  machine: Machine,
  operation: ChosenOperation = 'neighbor-allgather',
): Promise<void> {
  await loadsInSlices(topology, nodeOf(machine, topology.ranks), operation)
}

/** A choice whose time is not known yet. */
interface UntimedChoice extends Omit<Choice, 'alternatives' | 'choiceMs' | 'chosen'> {
  readonly alternatives: readonly UnpaidAlternative[]
  /** The index of the chosen one. */
  readonly best: number
}

function* choosingUntilAborted(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Generator<void, Choice> {
  const { signal, now = () => performance.now() } = Object(options) as ChooseOptions
  const steps = untilAborted('chooseStrategy', choosing(topology, machine, options), signal)
  // Other work may run between steps, which is not part of choosing.
  let choiceMs = 0
  for (;;) {
    const begunMs = now()
    const { done, value } = steps.next()
    choiceMs += now() - begunMs
    if (done === true) {
      const { best, ...choice } = value
      const alternatives = withBreakEven(choice.alternatives, choiceMs)
      return { ...choice, chosen: alternatives[best], alternatives, choiceMs }
    }
    yield
  }
}

function* choosing(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Generator<void, UntimedChoice> {
  requireTopology(topology)
  requireKnownOptions('chooseStrategy', options, knownOptions)
  const { bytes, budget = defaultBudget, include = [], isRenumbered = false } = options
  const { now = () => performance.now() } = options
  const operation = checkedChosen('chooseStrategy', options.operation ?? 'neighbor-allgather')
  checkAuto({ kind: 'auto', bytes, budget })
  checkMachine(machine)
  profileOf(machine)
  const { ranks } = topology
  const { signal, onProgress } = options
  const facts = { topology, nodeOf: nodeOf(machine, ranks), progress: givenOptions({ signal, onProgress }) }
  const setting = { facts, machine, operation, bytes, now }
  const loads = yield* candidateLoads(topology, facts.nodeOf, operation)
  const { considered, friendPairs } = loads
  const candidates = loads.candidates.filter(
    ({ strategy }) => !(isRenumbered && strategyKind(strategy).isNumbered),
  )
  const estimated = candidates.map((each) => ({
    ...each,
    estimatedUs: estimateUs(each.load, machine, ranks, bytes),
  }))
  const included = include.map((strategy): Ranked => {
    return { strategy, order: never, load: [], estimatedUs: never, role: 'always' }
  })
  const refusal = withinBudget(budget, operation, ranks, friendPairs)
  const tried: Tried[] = []
  const left: Left[] = []
  const trySimulating = ({ strategy, order, role }: Ranked): void => {
    const text = formatStrategy(strategy)
    const known = tried.find((other) => other.text === text)
    tried.push({ ...(known ?? simulated(strategy, setting)), order, role })
  }
  for (const each of [...inTurn(estimated), ...included]) {
    const because = refusal(each)
    if (because !== null) left.push({ ...each, because })
    else trySimulating(each)
    yield
  }
  const boundUs = lowerBound(setting)
  const isWithin = isWithinKind(budget, ranks, friendPairs)
  for (const each of bestOfOtherKinds(left, tried)) {
    if (boundUs(each.strategy) > leastUs(tried)) left[left.indexOf(each)] = { ...each, because: 'slower' }
    else if (isWithin(each)) trySimulating(each)
    yield
  }
  const routes = tried.filter(({ role }) => role === 'route').sort(byTime)
  const kinds = new Set(routes.map(({ strategy }) => strategy.kind)).size
  const units = operation === 'neighbor-allgather' ? budget : 0
  const { best: similar, tried: searched } = yield* localSearch(
    routes,
    extentsOf(topology, facts.nodeOf),
    { strategies: perUnit.similar * units, moves: perUnit.similarMoves * units },
    (strategy) => simulated(strategy, setting),
  )
  const found = new Map<string, Trial & { readonly order: number }>()
  for (const each of [
    ...bestOfKindsFirst(routes).slice(0, Math.max(budget, kinds)),
    ...(similar === null ? [] : [{ ...similar, order: considered }]),
    ...tried.filter(({ role }) => role !== 'route'),
  ]) {
    if (found.has(each.text)) continue
    found.set(each.text, { simulated: each, planMs: each.planMs(), order: each.order })
    yield
  }
  const isKnown = new Set([...found.keys(), ...tried.map(({ text }) => text)])
  const trials = [...found.values()].sort(
    (a, b) => a.simulated.timeUs - b.simulated.timeUs || a.order - b.order,
  )
  const alternatives = trials.map((trial) => alternativeOf(trial, found.get('direct')!))
  const best = trials.findIndex(({ order }) => order < never)
  return {
    strategy: trials[best].simulated.strategy,
    ...{ best, alternatives },
    notSimulated: notSimulated(
      left.filter(({ strategy }) => !isKnown.has(formatStrategy(strategy))),
      boundUs,
      trials[best].simulated.timeUs,
    ),
    considered,
    searched,
    operation,
    bytes,
  }
}

/** A candidate, its estimated time, and how the budget counts it. */
interface Ranked extends LoadedCandidate {
  readonly estimatedUs: number
  /** The limits of the budget that apply to it; `always` means that it is simulated whatever time is expected. */
  readonly role: 'always' | 'route' | 'friends'
}

type Tried = Simulated & Pick<Ranked, 'order' | 'role'>
type Left = Ranked & Pick<Unsimulated, 'because'>

/**
 * Orders candidates as they are simulated while the budget lasts: by estimate, the best of every kind first, then
 * friend groups. An estimate errs more between kinds than within one. Direct sends and the best of the ordinary
 * allgathers are simulated always.
 */
function inTurn(candidates: readonly Omit<Ranked, 'role'>[]): Ranked[] {
  const grouped = candidates.filter(({ strategy }) => isGrouped(strategy))
  const others = candidates.filter(({ strategy }) => !isGrouped(strategy)).sort(byEstimate)
  const allgather = others.find(({ strategy }) => strategy.kind === 'allgather')
  return [
    ...bestOfKindsFirst(others).map((each): Ranked => {
      const isAlways = each.strategy.kind === 'direct' || each === allgather
      return { ...each, role: isAlways ? 'always' : 'route' }
    }),
    ...grouped.map((each): Ranked => ({ ...each, role: 'friends' })),
  ]
}

const byEstimate = (a: Omit<Ranked, 'role'>, b: Omit<Ranked, 'role'>): number =>
  a.estimatedUs - b.estimatedUs || a.order - b.order

const byTime = (a: Tried, b: Tried): number => a.timeUs - b.timeUs || a.order - b.order

/** Puts the first of every kind before the others. @param all best first */
function bestOfKindsFirst<T extends { readonly strategy: Strategy }>(all: readonly T[]): T[] {
  const firsts = new Map(all.toReversed().map((each) => [each.strategy.kind, each]))
  const isFirst = (each: T): boolean => firsts.get(each.strategy.kind) === each
  return [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))]
}

/** Returns the best candidate by estimate of every kind of which none was simulated. */
function bestOfOtherKinds(left: readonly Left[], tried: readonly Tried[]): Left[] {
  const simulatedKinds = new Set(
    tried.filter(({ order }) => order < never).map(({ strategy }) => strategy.kind),
  )
  const others = left.filter(({ strategy }) => !simulatedKinds.has(strategy.kind)).sort(byEstimate)
  return [...new Map(others.toReversed().map((each) => [each.strategy.kind, each])).values()].sort(byEstimate)
}

/** Returns the least time of the strategies that may be chosen. */
function leastUs(tried: readonly Tried[]): number {
  return tried.reduce((least, { timeUs, order }) => (order < never ? Math.min(least, timeUs) : least), never)
}

/**
 * Returns a function that decides for one candidate after the other why it is not simulated. For null it is simulated,
 * and its work is counted.
 */
function withinBudget(
  budget: number,
  operation: ChosenOperation,
  ranks: number,
  friendPairs: CandidateLoads['friendPairs'],
): (candidate: Ranked) => Unsimulated['because'] | null {
  const most = budget * (operation === 'neighbor-allgather' ? perUnit.simulated : 1)
  let [routes, moves, friendWork] = [0, 0, 0]
  return ({ strategy, load, role }) => {
    if (role === 'always') return null
    const moved = movedBlocks(ranks, load)
    if (isGrouped(strategy)) {
      const work = friendPairs[strategy.mode] + moved
      if (friendWork + work > budget * perUnit.friendWork) return 'friends'
      friendWork += work
      return null
    }
    if (routes >= most) return 'budget'
    if (routes > 0 && moves + moved > budget * perUnit.moves) return 'moves'
    routes++
    moves += moved
    return null
  }
}

/** Whether the best candidate of a kind is simulated beyond the common budget. */
function isWithinKind(
  budget: number,
  ranks: number,
  friendPairs: CandidateLoads['friendPairs'],
): (candidate: Ranked) => boolean {
  return ({ strategy, load }) => {
    const moved = movedBlocks(ranks, load)
    if (!isGrouped(strategy)) return moved <= budget * perUnit.movesOfKind
    return friendPairs[strategy.mode] + moved <= budget * perUnit.friendWorkOfKind
  }
}

/**
 * Lists the first few routes by estimate, the best of kinds that a bound excludes, and all with friend groups.
 *
 * @param fastestUs the least time that was simulated
 */
function notSimulated(left: readonly Left[], boundUs: LowerBound, fastestUs: number): Choice['notSimulated'] {
  const routes = left.filter(({ role }) => role === 'route').sort(byEstimate)
  return [
    ...routes.filter(({ because }, i) => i < mostNamed || because === 'slower'),
    ...left.filter(({ role }) => role === 'friends'),
  ].map(({ strategy, because }) => {
    const atLeastUs = boundUs(strategy)
    return {
      strategy: formatStrategy(strategy),
      atLeastUs,
      because: atLeastUs > fastestUs ? 'slower' : because,
    }
  })
}

/** The limits of a search, on any computer. */
interface SearchLimits {
  /** The number of strategies to simulate. */
  readonly strategies: number
  /** The blocks that they may move together. */
  readonly moves: number
}

export interface Found {
  /** The fastest strategy; null if none is faster than those with which the search began. */
  readonly best: Simulated | null
  readonly tried: number
}

/** A strategy whose similar ones have not all been tried. */
interface Open {
  readonly timeUs: number
  /** The strategies similar to it, the next to try at the end. */
  readonly left: Strategy[]
}

/**
 * Searches for faster strategies among those similar to the fastest, including those that it finds. It always tries the
 * next strategy similar to the fastest one that has any left. Each step of the generator is a strategy.
 *
 * @param known the strategies simulated before; the search begins with all of them
 */
export function* localSearch(
  known: readonly Pick<Simulated, 'strategy' | 'timeUs'>[],
  extents: Extents,
  limits: SearchLimits,
  simulate: (strategy: Strategy) => Simulated,
): Generator<void, Found> {
  const open = (strategy: Strategy, timeUs: number): Open => ({
    timeUs,
    left: similarTo(strategy, extents).reverse(),
  })
  const seen = new Set(known.map(({ strategy }) => identityOf(strategy)))
  const frontier = known.map(({ strategy, timeUs }) => open(strategy, timeUs))
  frontier.sort((a, b) => b.timeUs - a.timeUs)
  let best: Simulated | null = null
  let leastUs = frontier.at(-1)?.timeUs ?? 0
  let [tried, moves] = [0, 0]
  while (frontier.length > 0 && tried < limits.strategies && moves < limits.moves) {
    const strategy = frontier[frontier.length - 1].left.pop()
    if (strategy === undefined) {
      frontier.pop()
      continue
    }
    const identity = identityOf(strategy)
    if (seen.has(identity)) continue
    seen.add(identity)
    const found = simulate(strategy)
    tried++
    moves += found.moved
    const at = frontier.findLastIndex(({ timeUs }) => timeUs > found.timeUs)
    frontier.splice(at + 1, 0, open(strategy, found.timeUs))
    if (found.timeUs < leastUs) {
      best = found
      leastUs = found.timeUs
    }
    yield
  }
  return { best, tried }
}

/**
 * Returns its text with the defaults of its options, which is equal for strategies that differ only in what they write
 * out.
 */
function identityOf(strategy: Strategy): string {
  return formatStrategy(withDefaults(strategyKind(strategy).options, strategy))
}
