import { requireOptions } from '../../base/known-options.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { requireTopology } from '../../topology/check-topology.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { PlanOptions } from '../plan/plan.js'
import type { Strategy } from '../strategies/strategy.js'
import { formatStrategy } from '../strategies/strategy-text.js'
import { checkAuto, defaultBudget } from './auto.js'
import { atOnce, candidateLoads, inSlices, loadsInSlices } from './candidate-loads.js'
import { type Choice, type ChosenOperation, checkedChosen } from './choice.js'
import { estimateUs } from './estimate.js'
import { searchAround } from './search-around.js'
import { extentsOf } from './similar.js'
import { type Simulated, simulated, type Trial, trialOf, withBreakEven } from './simulated.js'
import {
  bestOfKindsFirst,
  type Selection,
  similarMovesPerUnit,
  similarPerUnit,
  withinBudget,
} from './within-budget.js'

export interface ChooseOptions extends Pick<PlanOptions, 'now'> {
  /** Of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
  /**
   * Work that is spent on the choice, in the units of `budget` of `AutoStrategy`: 1 to 2^20. Default
   * {@link defaultBudget}.
   */
  readonly budget?: number
  /**
   * Strategies that are planned and simulated as well, whatever is expected of them: compared, but not
   * chosen.
   */
  readonly include?: readonly Strategy[]
}

/** Of those that were not simulated, as many are named besides those with friend groups. */
const mostNamed = 5

/**
 * The strategy by which a neighbor allgather, or another operation, takes the least time on a machine, as the
 * simulator predicts it. Candidates are ranked by an estimate, and the best are simulated. Of allgathers,
 * strategies similar to the fastest are simulated next. The fastest of all and the best of every kind are
 * planned too, as far as the budget goes, and so are direct sends, an ordinary allgather without what no rank
 * needs, and friend groups. The choice is a function of topology, operation, machine, bytes and budget: the
 * same in every process, however fast it is. Of equal times, the simpler strategy is chosen.
 *
 * Time: that of following the ways of some blocks by every candidate, of which there are at most about 1,500,
 * once per topology; and what the plans and simulations take that the budget allows. Memory: one strategy at
 * a time, about 20 bytes per block that it moves, and what its simulation or schedule takes.
 *
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY for invalid bytes or budget; ERR_ARGUMENT for an invalid operation
 */
export function chooseStrategy(topology: ProcessTopology, machine: Machine, options: ChooseOptions): Choice {
  return atOnce(choosing(topology, machine, options))
}

/** As {@link chooseStrategy}, without holding the event loop longer than one plan and its simulation take. */
export async function chooseInSlices(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Promise<Choice> {
  await prepareChoices(topology, machine, Object(options).operation)
  return inSlices(choosing(topology, machine, options))
}

/** Does what choices for all lengths of blocks share, without holding the event loop for long. */
export async function prepareChoices(
  topology: ProcessTopology,
  machine: Machine,
  operation: ChosenOperation = 'neighbor-allgather',
): Promise<void> {
  await loadsInSlices(topology, nodeOf(machine, topology.ranks), operation)
}

function* choosing(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Generator<void, Choice> {
  requireTopology(topology)
  requireOptions('chooseStrategy', options)
  const { bytes, budget = defaultBudget, include = [], now = () => performance.now() } = options
  const operation = checkedChosen('chooseStrategy', options.operation ?? 'neighbor-allgather')
  checkAuto({ kind: 'auto', bytes, budget })
  checkMachine(machine)
  profileOf(machine)
  const { ranks } = topology
  const facts = { topology, nodeOf: nodeOf(machine, ranks) }
  const setting = { facts, machine, operation, bytes, now }
  const { candidates, considered, friendPairs } = yield* candidateLoads(topology, facts.nodeOf, operation)
  const [direct, ...ranked] = candidates.map((each) => ({
    ...each,
    estimatedUs: estimateUs(each.load, machine, ranks, bytes),
  }))
  const { allgather, routes, withFriends, left } = withinBudget(
    ranked,
    { budget, operation },
    ranks,
    friendPairs,
  )
  const routesFound: (Simulated & { readonly order: number })[] = []
  for (const { candidate, order } of routes) {
    routesFound.push({ ...simulated(candidate.strategy, setting), order })
    yield
  }
  routesFound.sort((a, b) => a.timeUs - b.timeUs || a.order - b.order)
  const isSearched = operation === 'neighbor-allgather'
  const limits = { strategies: isSearched ? similarPerUnit * budget : 0, moves: similarMovesPerUnit * budget }
  const extents = extentsOf(topology, facts.nodeOf)
  const search = searchAround(routesFound, extents, limits, (strategy) => simulated(strategy, setting))
  const { best: similar, tried: searched } = yield* search
  const fastest = bestOfKindsFirst(routesFound, ({ strategy }) => strategy.kind).slice(0, budget)

  const found: { readonly strategy: Strategy; readonly order: number; readonly trial: Trial }[] = []
  for (const each of [...fastest, ...(similar === null ? [] : [{ ...similar, order: considered }])]) {
    found.push({ strategy: each.strategy, order: each.order, trial: trialOf(each) })
    yield
  }
  const named = new Set(found.map(({ trial }) => trial.strategy))
  const others = [direct, ...(allgather === null ? [] : [allgather]), ...withFriends]
  const included = include.map((strategy) => ({ strategy, order: Number.POSITIVE_INFINITY }))
  for (const { strategy, order } of [
    ...others.map(({ candidate, order }) => ({ strategy: candidate.strategy, order })),
    ...included,
  ]) {
    if (named.has(formatStrategy(strategy))) continue
    const trial = trialOf(simulated(strategy, setting))
    named.add(trial.strategy)
    found.push({ strategy, order, trial })
    yield
  }
  const ofDirect = found.find(({ strategy }) => strategy.kind === 'direct')!.trial
  found.sort((a, b) => a.trial.timeUs - b.trial.timeUs || a.order - b.order)
  const alternatives = found.map(({ trial }) => withBreakEven(trial, ofDirect))
  const best = found.findIndex(({ order }) => Number.isFinite(order))
  return {
    strategy: found[best].strategy,
    chosen: alternatives[best],
    alternatives,
    notSimulated: notSimulated(left, named),
    considered,
    searched,
    operation,
    bytes,
  }
}

function notSimulated(left: Selection['left'], named: ReadonlySet<string>): Choice['notSimulated'] {
  const isFriends = ({ ranked }: (typeof left)[number]) => ranked.candidate.leastLoad !== undefined
  const routes = left.filter((each) => !isFriends(each)).slice(0, mostNamed)
  return [...routes, ...left.filter(isFriends)]
    .map(({ ranked: { candidate, estimatedUs }, because }) => ({
      strategy: formatStrategy(candidate.strategy),
      estimatedUs,
      because,
    }))
    .filter(({ strategy }) => !named.has(strategy))
}
