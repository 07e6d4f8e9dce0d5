import { algorithms } from '../../collective/algorithms.js'
import type { Algorithm, Shape } from '../../collective/patterns/algorithm.js'
import { atDefaults } from '../../collective/patterns/parameterized.js'
import { leastSize, scheduleOf } from '../../collective/patterns/schedule-size.js'
import { boxExtents } from '../../collective/ways/box.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import { operationLimits } from '../../schedule/operation-log.js'
import { placesOf } from '../simulate/costs.js'
import { simulateUntil } from '../simulate/simulate.js'
import { sentIn } from '../simulate/traffic.js'
import { LeastTimes, placesOfRanks } from './least-time.js'
import { ScheduleBounds } from './schedule-bound.js'
import { type CutAlgorithm, cutShape, gridSettings, neighborsOf, settingText, uncut } from './settings.js'

/** Operations of schedules that one unit of the budget pays for. */
export const perUnit = 2 ** 17
/** The units of the largest schedule that is simulated although the budget allows none. */
export const mostBeyondBudget = 128
/** The work of one entry in operations: simulating an entry takes about a quarter of the time of an operation. */
const entryWork = 1 / 4
/** The share of its work that a schedule costs when it is made but not simulated. */
const scheduleWork = 1 / 4
/**
 * The most ranks for which a schedule is made at once. For more ranks, {@link LeastTimes} rules out slow settings
 * first.
 */
const mostWhole = 576
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

/** An algorithm at its defaults that serves the shape. */
export interface AlgorithmCandidate {
  readonly algorithm: Algorithm
  readonly atLeastUs: number
  /** A lower bound of the work of simulating it. */
  readonly size: number
}

export interface SearchSetting {
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
export class AlgorithmSearch {
  readonly left: LeftAlgorithm[] = []
  readonly #machine: Machine
  readonly #shape: Shape
  readonly #setting: SearchSetting
  readonly #leastTimes: LeastTimes
  readonly #bounds: ScheduleBounds
  readonly #tried = new Map<string, Tried>()
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
    // For few ranks, the bound of the schedule itself is found just as quickly.
    const isEstimated = !isSmall && this.#shape.ranks > mostWhole
    if (isEstimated && this.#leastUs(setting) > this.#fastestUs) return
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
    const { bytes, now, slotOf } = this.#setting
    const text = settingText(setting)
    this.#seen.add(text)
    const before = now()
    const schedule = scheduleOf(algorithm, cutShape(this.#shape, segments))
    const planMs = now() - before
    const leastUs = this.#bounds.of(schedule, bytes)
    if (leastUs > limitUs) {
      this.#work -= size * scheduleWork
      return leastUs
    }
    this.#work -= size
    const placement = slotOf === null ? {} : { placement: slotOf }
    const simulation = simulateUntil(schedule, this.#machine, { bytes, ...placement }, limitUs)
    if (simulation === null) return Number.POSITIVE_INFINITY
    const { timeUs, traffic } = simulation
    const { parameters } = schedule
    const alternative = { algorithm: text, parameters, timeUs, ...sentIn(traffic), planMs }
    const family = atDefaults(algorithm).id
    this.#tried.set(text, { setting, family, alternative })
    this.#bestOfFamily.set(family, Math.min(timeUs, this.#bestUs(setting)))
    this.#fastestUs = Math.min(this.#fastestUs, timeUs)
    return timeUs
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
