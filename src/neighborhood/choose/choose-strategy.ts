import { requireOptions } from '../../base/require-options.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { requireTopology } from '../../topology/require-topology.js'
import type { PlanOptions } from '../plan/plan.js'
import type { Strategy } from '../plan/strategy.js'
import { formatStrategy } from '../plan/strategy-text.js'
import { checkAuto, defaultBudget } from './auto.js'
import { candidateLoads, loadsInSlices } from './candidate-loads.js'
import { type Choice, type ChosenOperation, checkedChosen } from './choice.js'
import { estimateUs } from './estimate.js'
import { atOnce, inSlices } from './in-slices.js'
import { simulated, type Trial, withBreakEven } from './simulated.js'
import { type Selection, withinBudget } from './within-budget.js'

export interface ChooseOptions extends Pick<PlanOptions, 'now'> {
  /** Of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
  /** Work that is spent on the choice, in candidates that are planned and simulated. Default {@link defaultBudget}. */
  readonly budget?: number
  /** Strategies that are planned and simulated as well, whatever is expected of them: compared, but not chosen. */
  readonly include?: readonly Strategy[]
}

/** Of those that were not simulated, as many are named besides those with friend groups. */
const mostNamed = 5

/**
 * The strategy by which a neighbor allgather, or another operation, takes the least time on a machine, as the simulator predicts it. Candidates
 * are ranked by an estimate; the best, direct sends, an ordinary allgather without what no rank needs, and friend groups are planned
 * and simulated, as far as the budget goes. The choice is a function of topology, operation, machine, bytes and budget: the same in every
 * process, however fast it is. Of equal times, the simpler strategy is chosen.
 *
 * Time: that of following the ways of some blocks by every candidate, of which there are at most about 1,500, once per topology; and
 * what the plans and simulations take that the budget allows.
 *
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY for bytes or a budget that are none; ERR_ARGUMENT for an operation that is none
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
  const nodes = nodeOf(machine, ranks)
  const { candidates, considered, friendPairs } = yield* candidateLoads(topology, nodes, operation)
  const ranked = candidates.map((each) => ({
    ...each,
    estimatedUs: estimateUs(each.load, machine, ranks, bytes),
  }))
  const { simulated: selected, left } = withinBudget(ranked, budget, ranks, friendPairs)
  const named = new Map(
    selected.map(({ candidate: { strategy }, order }) => [formatStrategy(strategy), { strategy, order }]),
  )
  for (const strategy of include) {
    const text = formatStrategy(strategy)
    if (!named.has(text)) named.set(text, { strategy, order: considered + named.size })
  }
  const found: { readonly strategy: Strategy; readonly order: number; readonly trial: Trial }[] = []
  for (const { strategy, order } of named.values()) {
    found.push({ strategy, order, trial: simulated(topology, machine, strategy, { operation, bytes }, now) })
    yield
  }
  const ofDirect = found[0].trial
  found.sort((a, b) => a.trial.timeUs - b.trial.timeUs || a.order - b.order)
  const alternatives = found.map(({ trial }) => withBreakEven(trial, ofDirect))
  const best = found.findIndex(({ order }) => order < considered)
  return {
    strategy: found[best].strategy,
    chosen: alternatives[best],
    alternatives,
    notSimulated: notSimulated(left, named),
    considered,
    operation,
    bytes,
  }
}

function notSimulated(left: Selection['left'], named: ReadonlyMap<string, unknown>): Choice['notSimulated'] {
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
