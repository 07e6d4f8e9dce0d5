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
import { atDefaults } from '../../collective/patterns/parameterized.js'
import { leastSize, scheduleOf } from '../../collective/patterns/schedule-of.js'
import { boxExtents } from '../../collective/ways/box.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { requireCores } from '../../machine/nodes.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters, Schedule } from '../../schedule/ir.js'
import { operationLimits } from '../../schedule/operation-log.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'
import { longestBlockBytes } from '../simulate/block-lengths.js'
import { placesOf } from '../simulate/costs.js'
import { sentIn, simulateUntil } from '../simulate/simulate.js'
import type { Simulation } from '../simulate/simulation.js'
import { LeastTimes, placesOfRanks, ScheduleBounds } from './lower-bounds.js'
import { type CutAlgorithm, cutShape, gridSettings, neighborsOf, settingText, uncut } from './settings.js'

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
interface PlacedParticipants {
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
 * Works as {@link chooseAlgorithm} does for participants on any cores, without holding the event loop longer than one
 * simulation takes.
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

/** Operations of schedules that one unit of the budget pays for. */
const perUnit = 2 ** 17
/** The units of the largest schedule that is simulated although the budget allows none. */
const mostBeyondBudget = 128
/** The work of one entry in operations: simulating an entry takes about a quarter of the time of an operation. */
const entryWork = 1 / 4
/** The share of its work that a schedule costs when it is made but not simulated. */
const scheduleWork = 1 / 4
/**
 * The most ranks for which the bound of {@link fewRanks} comes first. For more ranks, the bound of more of them rules
 * out slow settings before it.
 */
const mostWhole = 576
/** The ranks that are observed in each of three places before a schedule is made. */
const fewRanks = 16
/** The most settings of one algorithm that are simulated, whatever the budget. */
const mostSettings = 40

export interface AlgorithmAlternative {
  /** The text that option `algorithm` of calls accepts. */
  readonly algorithm: string
  readonly parameters: Parameters
  /** The predicted time until the last rank is done. */
  readonly timeUs: number
  /** The number of messages between processes. */
  readonly messages: number
  /** The payload of the messages, by the level over which they travel. */
  readonly bytes: Readonly<Record<Level, number>>
  /** The measured time of planning, which differs from run to run. */
  readonly planMs: number
}

/** An algorithm that was not simulated. */
export interface LeftAlgorithm {
  readonly algorithm: string
  /**
   * `slower`: it takes at least `atLeastUs`, longer than the chosen one. `budget`: its schedule exceeds the budget or
   * the limits of a schedule. `refused`: it does not serve the shape.
   */
  readonly because: 'slower' | 'budget' | 'refused'
  /** A lower bound of the simulated time; 0 if none is known. */
  readonly atLeastUs: number
  /** The explanation of `because` in words. */
  readonly reason: string
}

interface Tried {
  readonly setting: CutAlgorithm
  readonly family: string
  readonly alternative: AlgorithmAlternative
}

/** The simulation of a schedule; null if it would take longer than the limit. */
interface Outcome {
  readonly limitUs: number
  readonly leastUs: number
  readonly simulation: Pick<Simulation, 'timeUs' | 'traffic'> | null
  readonly planMs: number
  readonly parameters: Parameters
}

/** An algorithm at its defaults that serves the shape. */
interface AlgorithmCandidate {
  readonly algorithm: Algorithm
  readonly atLeastUs: number
  /** A lower bound of the work of simulating it. */
  readonly size: number
}

interface SearchSetting {
  readonly shape: Shape
  /** The core of every participant; null if participant i is on core i. */
  readonly slotOf: Int32Array | null
  /** Whether units of data may be cut into parts. */
  readonly canCut: boolean
  readonly bytes: number
  /** The budget in operations of schedules. */
  readonly work: number
  now(): number
}

/** The settings that have been simulated, and the rest of the budget. */
class AlgorithmSearch {
  readonly left: LeftAlgorithm[] = []
  readonly #machine: Machine
  readonly #shape: Shape
  readonly #setting: SearchSetting
  readonly #leastTimes: LeastTimes
  readonly #fewTimes: LeastTimes
  readonly #bounds: ScheduleBounds
  readonly #tried = new Map<string, Tried>()
  /** By {@link Algorithm.waysOf}. */
  readonly #outcomes = new Map<object, Outcome>()
  /** The texts of all settings whose schedules were made. */
  readonly #seen = new Set<string>()
  readonly #bestOfFamily = new Map<string, number>()
  #work: number
  #fastestUs = Number.POSITIVE_INFINITY

  constructor(machine: Machine, setting: SearchSetting) {
    const { shape, slotOf, bytes, work } = setting
    this.#machine = machine
    this.#shape = shape
    this.#setting = setting
    this.#work = work
    this.#leastTimes = new LeastTimes(machine, shape, bytes, slotOf)
    this.#fewTimes = new LeastTimes(machine, shape, bytes, slotOf, fewRanks)
    this.#bounds = new ScheduleBounds(machine, placesOfRanks(placesOf(machine, shape.ranks), slotOf))
  }

  get simulated(): number {
    return this.#tried.size
  }

  /**
   * Returns the algorithms that serve the shape, by their lower bounds, then by size, and adds the others to `left`.
   */
  candidates(eligible: readonly Algorithm[]): AlgorithmCandidate[] {
    const found = eligible.flatMap((algorithm): AlgorithmCandidate[] => {
      const setting = uncut(algorithm)
      const refusal = this.#refusalOf(setting)
      if (refusal === null) {
        const size = this.#sizeOf(setting)
        const atLeastUs = size === Number.POSITIVE_INFINITY ? 0 : this.#leastUs(setting)
        return [{ algorithm, size, atLeastUs }]
      }
      this.left.push({ algorithm: algorithm.id, because: 'refused', atLeastUs: 0, reason: refusal })
      return []
    })
    return found.sort((a, b) => a.atLeastUs - b.atLeastUs || a.size - b.size)
  }

  /**
   * Simulates settings that may be the fastest, and small defaults. Those with the lowest bounds come first, so that
   * others need not be simulated.
   */
  *tryAll(candidates: readonly AlgorithmCandidate[]): Generator<void> {
    const settings = candidates.map((candidate) => ({ ...candidate, setting: uncut(candidate.algorithm) }))
    const all = [...settings, ...this.#onGrid(candidates)]
    for (const each of all.sort((a, b) => a.atLeastUs - b.atLeastUs || a.size - b.size)) {
      const isDefault = atDefaults(each.algorithm) === each.algorithm
      this.#tryFirst(each.setting, each, isDefault)
      yield
    }
  }

  #tryFirst(
    setting: CutAlgorithm,
    { algorithm, size, atLeastUs }: AlgorithmCandidate,
    isDefault: boolean,
  ): void {
    const leave = (because: LeftAlgorithm['because'], reason: string, leastUs = atLeastUs): void => {
      if (isDefault) this.left.push({ algorithm: algorithm.id, because, atLeastUs: leastUs, reason })
    }
    const slower = (leastUs: number) => leave('slower', `it takes at least ${leastUs.toFixed(1)} us`, leastUs)
    const isSmall = size <= perUnit
    if (this.#seen.has(settingText(setting))) return
    if (atLeastUs > this.#fastestUs && !(isSmall && isDefault)) slower(atLeastUs)
    else if (size > this.#work) leave('budget', 'its schedule is larger than the budget allows')
    else {
      const limitUs = isSmall ? this.#bestUs(setting) : this.#fastestUs
      const leastUs = this.#simulate(setting, size, limitUs)
      if (leastUs > limitUs && !isSmall) slower(leastUs)
    }
  }

  /** @throws ERR_SIMULATION for one of more than {@link mostBeyondBudget} units */
  simulateSmallest(candidates: readonly AlgorithmCandidate[]): void {
    const [smallest] = [...candidates].sort((a, b) => a.size - b.size)
    if (smallest === undefined) return
    const { algorithm, size } = smallest
    const units = Math.ceil(size / perUnit)
    if (units > mostBeyondBudget && Number.isFinite(units))
      throw new RankweaveError(
        'ERR_SIMULATION',
        `expected a budget of at least ${units}, which the smallest schedule of ${algorithm.collective} on ${this.#shape.ranks} ranks takes; without it at most ${mostBeyondBudget} are spent`,
      )
    this.left.splice(
      this.left.findIndex((left) => left.algorithm === algorithm.id),
      1,
    )
    this.#simulate(uncut(algorithm), size, Number.POSITIVE_INFINITY)
  }

  /** Simulates a new setting within the budget if it may be the fastest of its algorithm, or if large, of all. */
  try(setting: CutAlgorithm): void {
    if (this.#seen.has(settingText(setting)) || this.#refusalOf(setting) !== null) return
    const size = this.#sizeOf(setting)
    if (size > this.#work) return
    const isSmall = size <= perUnit
    if (!isSmall && this.#shape.ranks > mostWhole && this.#leastUs(setting) > this.#fastestUs) return
    // A few ranks often show in a fraction of the time that a setting is slower. It counts as one whose schedule showed
    // it, so that all that the budget allows is tried.
    if (!isSmall && this.#fewTimes.of(setting.algorithm, setting.segments) > this.#fastestUs) {
      this.#seen.add(settingText(setting))
      this.#work -= size * scheduleWork
      return
    }
    this.#simulate(setting, size, isSmall ? this.#bestUs(setting) : this.#fastestUs)
  }

  /** Returns the settings for the grid of the network that the budget allows. */
  #onGrid(candidates: readonly AlgorithmCandidate[]): (AlgorithmCandidate & { setting: CutAlgorithm })[] {
    const { grid, ranks } = this.#shape
    if (grid === undefined) return []
    const dimensions = Math.max(1, boxExtents(grid, ranks).dims.length)
    return candidates
      .flatMap(({ algorithm }) => gridSettings(algorithm, dimensions))
      .filter(
        (setting) => atDefaults(setting.algorithm) !== setting.algorithm && this.#refusalOf(setting) === null,
      )
      .map((setting) => ({ setting, algorithm: setting.algorithm, size: this.#sizeOf(setting) }))
      .filter(({ size }) => size <= this.#work)
      .map((each) => ({ ...each, atLeastUs: this.#leastUs(each.setting) }))
  }

  /** Returns the best time so far of a setting's algorithm. */
  #bestUs({ algorithm }: CutAlgorithm): number {
    return this.#bestOfFamily.get(atDefaults(algorithm).id) ?? Number.POSITIVE_INFINITY
  }

  #leastUs({ algorithm, segments }: CutAlgorithm): number {
    return this.#leastTimes.of(algorithm, segments)
  }

  #refusalOf({ algorithm, segments }: CutAlgorithm): string | null {
    const shape = cutShape(this.#shape, segments)
    const refusal = algorithm.refuses?.(shape) ?? null
    if (refusal !== null || this.#setting.canCut) return refusal
    const isByRank = algorithm.collective === 'reduce-scatter'
    const parts = isByRank ? shape.ranks : (algorithm.parts?.(shape) ?? segments)
    return parts > 1 ? 'it cuts units of data' : null
  }

  /**
   * Makes the schedule of a setting and simulates it unless its bound exceeds `limitUs`.
   *
   * @returns the simulated time, or a lower bound that is longer than `limitUs`
   */
  #simulate(setting: CutAlgorithm, size: number, limitUs: number): number {
    const { algorithm, segments } = setting
    const text = settingText(setting)
    this.#seen.add(text)
    const shape = cutShape(this.#shape, segments)
    const outcome = this.#outcomeOf(algorithm, shape, limitUs)
    const { leastUs, simulation, planMs } = outcome
    this.#work -= size * (leastUs > limitUs ? scheduleWork : 1)
    if (leastUs > limitUs) return leastUs
    if (simulation === null || simulation.timeUs > limitUs) return Number.POSITIVE_INFINITY
    const { timeUs, traffic } = simulation
    const parameters = { ...outcome.parameters, ...algorithm.values }
    const alternative = { algorithm: text, parameters, timeUs, ...sentIn(traffic), planMs }
    const family = atDefaults(algorithm).id
    this.#tried.set(text, { setting, family, alternative })
    this.#bestOfFamily.set(family, Math.min(timeUs, this.#bestUs(setting)))
    this.#fastestUs = Math.min(this.#fastestUs, timeUs)
    return timeUs
  }

  /** Schedules and simulates an algorithm, unless another setting that has the same operations was. */
  #outcomeOf(algorithm: Algorithm, shape: Shape, limitUs: number): Outcome {
    const { bytes, now, slotOf } = this.#setting
    const ways = algorithm.waysOf?.(shape)
    const known = ways === undefined ? undefined : this.#outcomes.get(ways)
    if (known !== undefined && (known.simulation !== null || known.limitUs >= limitUs)) return known
    const before = now()
    const schedule = scheduleOf(algorithm, shape)
    const planMs = now() - before
    const leastUs = this.#bounds.of(schedule, bytes)
    const placement = slotOf === null ? {} : { placement: slotOf }
    const made =
      leastUs > limitUs ? null : simulateUntil(schedule, this.#machine, { bytes, ...placement }, limitUs)
    const simulation = made === null ? null : { timeUs: made.timeUs, traffic: made.traffic }
    const outcome = { limitUs, leastUs, simulation, planMs, parameters: schedule.parameters }
    if (ways !== undefined) this.#outcomes.set(ways, outcome)
    return outcome
  }

  /** Returns the algorithms that were simulated, fastest first. */
  families(): string[] {
    return this.#byTime().map(({ family }) => family)
  }

  bestOf(family: string): CutAlgorithm {
    return this.#byTime().find((tried) => tried.family === family)!.setting
  }

  nearby(setting: CutAlgorithm): CutAlgorithm[] {
    const family = atDefaults(setting.algorithm).id
    const count = [...this.#tried.values()].filter((tried) => tried.family === family).length
    return count >= mostSettings ? [] : neighborsOf(setting, this.#shape.ranks, this.#setting.bytes)
  }

  /** Returns the best setting of every algorithm, fastest first. */
  fastest(): AlgorithmAlternative[] {
    return this.#byTime().map(({ alternative }) => alternative)
  }

  #byTime(): Tried[] {
    const best = new Map<string, Tried>()
    for (const tried of this.#tried.values()) {
      const other = best.get(tried.family)
      if (other === undefined || tried.alternative.timeUs < other.alternative.timeUs)
        best.set(tried.family, tried)
    }
    return [...best.values()].sort(
      (a, b) => a.alternative.timeUs - b.alternative.timeUs || placeOf(a.family) - placeOf(b.family),
    )
  }

  /** Returns a lower bound of the work of simulating a setting, or Infinity beyond the limits of a schedule. */
  #sizeOf({ algorithm, segments }: CutAlgorithm): number {
    try {
      const { operations, entries } = leastSize(algorithm, cutShape(this.#shape, segments), undefined)
      const isTooLarge = operations > operationLimits.operations || entries > operationLimits.entries
      return isTooLarge ? Number.POSITIVE_INFINITY : operations + entries * entryWork
    } catch (error) {
      // The shape is in range and served, so there are too many blocks.
      if (isRankweaveError(error, 'ERR_ARGUMENT')) return Number.POSITIVE_INFINITY
      throw error
    }
  }
}

function placeOf(family: string): number {
  return algorithms.findIndex(({ id }) => id === family)
}

/** The most ranks for which an allgather is simulated: it has ranks * ranks blocks. */
export const mostAllgatherRanks = 1024

/** The algorithms that send ranks * ranks messages, and the most ranks for which they are simulated. */
const quadratic: readonly string[] = ['allgather-linear', 'allgather-ring', 'allgather-bucket']
const mostQuadraticRanks = 256

interface SimulatedAllgather {
  readonly algorithm: string
  readonly simulation: Simulation
}

interface BoundedAllgather {
  readonly algorithm: Algorithm
  /** The place in the registry. */
  readonly place: number
  schedule: Schedule | null
  atLeastUs: number
}

/**
 * Returns the ordinary allgather that neighbor allgathers are compared with: the algorithm that is fastest on a machine
 * with one rank per core; of equal ones the first in the registry. Up to 256 ranks all algorithms are considered,
 * beyond that those with lg P steps. An algorithm is scheduled, and then simulated, while its lower bound is the lowest
 * of all and does not exceed the fastest.
 *
 * @param ranks at most {@link mostAllgatherRanks}
 * @param bytes of every block
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 */
export function fastestAllgather(ranks: number, machine: Machine, bytes: number): SimulatedAllgather {
  const shape = { ranks, root: 0, segments: 1 }
  // A few ranks show how many messages an algorithm takes.
  const leastTimes = new LeastTimes(machine, shape, bytes, null, 1)
  const bounds = new ScheduleBounds(machine, placesOf(machine, ranks))
  const left = algorithms
    .filter(
      ({ id, collective, refuses }) =>
        collective === 'allgather' &&
        (refuses?.(shape) ?? null) === null &&
        (ranks <= mostQuadraticRanks || !quadratic.includes(id)),
    )
    .map((algorithm, place): BoundedAllgather => {
      return { algorithm, place, schedule: null, atLeastUs: leastTimes.of(algorithm, 1) }
    })
  let best: (SimulatedAllgather & { readonly place: number }) | null = null
  while (left.length > 0) {
    const limitUs: number = best?.simulation.timeUs ?? Number.POSITIVE_INFINITY
    const next = left.reduce((a, b) => (b.atLeastUs < a.atLeastUs ? b : a))
    const { algorithm, place, schedule } = next
    if (next.atLeastUs > limitUs) break
    if (schedule === null) {
      next.schedule = scheduleOf(algorithm, { ranks })
      next.atLeastUs = bounds.of(next.schedule, bytes)
      continue
    }
    left.splice(left.indexOf(next), 1)
    const simulation = simulateUntil(schedule, machine, { bytes }, limitUs)
    if (simulation === null || (simulation.timeUs === limitUs && place > best!.place)) continue
    best = { algorithm: algorithm.id, simulation, place }
  }
  return best!
}
