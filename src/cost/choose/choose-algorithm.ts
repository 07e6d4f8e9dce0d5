import { untilAborted } from '../../base/abort.js'
import {
  integerOption,
  type OptionTable,
  signalOption,
  uncheckedOption,
  wordOption,
} from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { atOnce, inSlices } from '../../base/turn.js'
import { algorithms } from '../../collective/algorithms.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import { requireShape, shapeLimits } from '../../collective/patterns/check-shape.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { wrongValue } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { requireCores } from '../../machine/nodes.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'
import { longestBlockBytes } from '../simulate/block-lengths.js'
import {
  type AlgorithmAlternative,
  AlgorithmSearch,
  type LeftAlgorithm,
  perUnit,
} from './algorithm-search.js'

export interface ChooseAlgorithmOptions {
  /** The number of participants; rank r is on core r of the machine. Default: all its cores. */
  readonly ranks?: number
  /** The root of a rooted collective. Default 0. */
  readonly root?: number
  /** The length of a unit of data, as MPI's count describes it: an integer from 0 to 2^40. */
  readonly bytes: number
  /** The weakest order of combination that is admitted. Default `any`. */
  readonly order?: CombinationOrder
  /** The work that is spent on simulations, 1 to 2^20: schedules of 131,072 operations each. Default 40. */
  readonly budget?: number
  /** Ends the choice with ERR_ABORTED; it is checked before each simulation. */
  readonly signal?: AbortSignal
  /** A clock in milliseconds, of which only differences count. Default `performance.now`. */
  readonly now?: () => number
}

const options: OptionTable<ChooseAlgorithmOptions> = {
  ranks: integerOption({ least: 1, most: shapeLimits.ranks }),
  root: integerOption({ least: 0, most: shapeLimits.ranks - 1 }),
  bytes: integerOption({ least: 0, most: longestBlockBytes, required: true }),
  order: wordOption(['tree', 'ranks', 'any']),
  budget: integerOption({ least: 1, most: 2 ** 20 }),
  signal: signalOption,
  now: uncheckedOption,
}

/** The default budget pays for schedules of some 5 million operations together. */
export const defaultAlgorithmBudget = 40

export interface ComparedAlgorithms {
  readonly collective: Collective
  readonly ranks: number
  readonly root: number
  readonly bytes: number
  readonly chosen: AlgorithmAlternative
  /** The fastest setting of every algorithm that was simulated, by time. */
  readonly alternatives: readonly AlgorithmAlternative[]
  readonly notSimulated: readonly LeftAlgorithm[]
  /** The number of settings that were simulated. */
  readonly simulated: number
}

/**
 * Returns the algorithm, with its parameters and segments, for which the simulator predicts the least time.
 *
 * The search first simulates every algorithm that serves the shape, at its defaults and with settings for the network
 * of the machine. It takes them in the order of their lower bounds, as far as the budget goes. Then, fastest algorithm
 * first, it tries settings next to the best one until none is better.
 *
 * The search skips settings that must be slower than the fastest so far, except defaults whose schedules are small. A
 * simulation ends once its setting is known to be slower than another of its algorithm. A large one also ends once it
 * is slower than the fastest of all.
 *
 * The choice is a function of collective, machine and options: the same in every process, however fast it is. Equal
 * times are decided by the order of the registry.
 *
 * If the budget allows no algorithm, the smallest schedule is simulated all the same, if a budget of 128 allows it.
 *
 * Memory: one schedule and its simulation at a time.
 *
 * @throws ERR_ARGUMENT for invalid options, and a collective without an algorithm that serves the shape
 * @throws ERR_RANK for a root out of range; ERR_MACHINE for a machine without a profile, or with fewer cores than
 *   ranks; ERR_ABORTED through `signal`
 * @throws ERR_SCHEDULE, ERR_SIMULATION for a shape whose smallest schedule is too large, the latter with the budget that it takes
 */
export function chooseAlgorithm(
  collective: Collective,
  machine: Machine,
  given: ChooseAlgorithmOptions,
): ComparedAlgorithms {
  return atOnce(choosing(collective, machine, given))
}

/** Works as {@link chooseAlgorithm} does, without holding the event loop longer than one simulation takes. */
export function chooseAlgorithmInSlices(
  collective: Collective,
  machine: Machine,
  given: ChooseAlgorithmOptions,
): Promise<ComparedAlgorithms> {
  return inSlices(choosing(collective, machine, given))
}

function* choosing(
  collective: Collective,
  machine: Machine,
  given: ChooseAlgorithmOptions,
): Generator<void, ComparedAlgorithms> {
  checkOptions('chooseAlgorithm', options, given)
  checkMachine(machine)
  profileOf(machine)
  const { root = 0, bytes, order = 'any', signal, now = () => performance.now() } = given
  const ranks = given.ranks ?? machine.firstRank[machine.cores.length]
  requireShape('chooseAlgorithm', { ranks, root })
  if (root !== 0 && !rootedCollectives.includes(collective))
    throw wrongValue('ERR_RANK', `chooseAlgorithm: expected no root for ${collective}`, root)
  requireCores(ranks, machine.firstRank[machine.cores.length])
  const grid = gridOfMachine(machine, null, ranks)
  const shape = { ranks, root, ...(grid === undefined ? {} : { grid }) }
  const work = (given.budget ?? defaultAlgorithmBudget) * perUnit
  const search = new AlgorithmSearch(machine, { shape, slotOf: null, canCut: true, bytes, now, work })
  const steps = searching(search, eligibleFor(collective, shape, order))
  yield* untilAborted('chooseAlgorithm', steps, signal)
  const alternatives = search.fastest()
  if (alternatives.length === 0) {
    const expected = `chooseAlgorithm: expected a collective with an algorithm for ${ranks} ranks`
    throw wrongValue('ERR_ARGUMENT', expected, collective)
  }
  return {
    ...{ collective, ranks, root, bytes, chosen: alternatives[0], alternatives },
    notSimulated: search.left,
    simulated: search.simulated,
  }
}

/** The participants of a collective on a machine whose cores serve only them. */
export interface PlacedParticipants {
  /** The shape, with the grid of the participants and, for a rooted collective, the root. */
  readonly shape: Shape
  /** The core of every participant; null if participant i is on core i. */
  readonly slotOf: Int32Array | null
  readonly bytes: number
  /** The weakest order of combination that is admitted. */
  readonly order: CombinationOrder
  /** Whether units of data may be cut into parts. */
  readonly canCut: boolean
}

/**
 * Works as {@link chooseAlgorithmInSlices} does, for participants on any cores.
 *
 * @param machine with a profile
 * @returns null if no algorithm serves
 * @throws ERR_SCHEDULE, ERR_SIMULATION for a shape whose smallest schedule is too large
 */
export async function chooseForPlaces(
  collective: Collective,
  machine: Machine,
  { order, ...given }: PlacedParticipants,
): Promise<AlgorithmAlternative | null> {
  const work = defaultAlgorithmBudget * perUnit
  const search = new AlgorithmSearch(machine, { ...given, now: () => 0, work })
  await inSlices(searching(search, eligibleFor(collective, given.shape, order)))
  return search.fastest()[0] ?? null
}

function eligibleFor(collective: Collective, shape: Shape, order: CombinationOrder): readonly Algorithm[] {
  return algorithms.filter(
    (algorithm) => algorithm.collective === collective && isOrdered(algorithm, shape, order),
  )
}

function* searching(search: AlgorithmSearch, eligible: readonly Algorithm[]): Generator<void> {
  const candidates = search.candidates(eligible)
  yield* search.tryAll(candidates)
  if (search.simulated === 0) search.simulateSmallest(candidates)
  for (const family of search.families()) {
    for (let best = search.bestOf(family); ; best = search.bestOf(family)) {
      for (const near of search.nearby(best)) {
        search.try(near)
        yield
      }
      if (search.bestOf(family) === best) break
    }
  }
}

const orders: readonly CombinationOrder[] = ['tree', 'ranks', 'any']

function isOrdered({ order }: Algorithm, shape: Shape, weakest: CombinationOrder): boolean {
  const kept = order?.(shape)
  return kept === undefined || orders.indexOf(kept) <= orders.indexOf(weakest)
}
