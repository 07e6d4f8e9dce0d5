import { untilAborted } from '../../base/abort.js'
import {
  integerOption,
  type OptionTable,
  signalOption,
  uncheckedOption,
  wordOption,
} from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { atOnce, inSlices } from '../../base/slices.js'
import { algorithms } from '../../collective/algorithms.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import { requireShape, shapeLimits } from '../../collective/patterns/check-shape.js'
import { atDefaults } from '../../collective/patterns/parameterized.js'
import { leastSize, scheduleOf } from '../../collective/patterns/schedule-size.js'
import { boxExtents } from '../../collective/ways/box.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { isRankweaveError, wrongValue } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { requireCores } from '../../machine/nodes.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import { operationLimits } from '../../schedule/operation-log.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'
import { longestBlockBytes } from '../simulate/block-lengths.js'
import { simulate } from '../simulate/simulate.js'
import { sentIn } from '../simulate/traffic.js'
import { LeastTimes } from './least-time.js'
import { type CutAlgorithm, gridSettings, neighborsOf, settingText, uncut } from './settings.js'

export interface ChooseAlgorithmOptions {
  /** Participants, rank r on core r of the machine. Default: all its cores. */
  readonly ranks?: number
  /** Of rooted collectives. Default 0. */
  readonly root?: number
  /** Of every unit of data, as MPI's count describes it: an integer from 0 to 2^40. */
  readonly bytes: number
  /** The weakest order of combination that is admitted. Default `any`. */
  readonly order?: CombinationOrder
  /** Work that is spent on simulations, 1 to 2^20: schedules of 131,072 operations each. Default 40. */
  readonly budget?: number
  /** Ends the choice with ERR_ABORTED: looked at before each simulation. */
  readonly signal?: AbortSignal
  /** Milliseconds; only differences count. Default `performance.now`. */
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

/** Schedules of some 5 million operations together. */
export const defaultAlgorithmBudget = 40

/** Work that a unit of the budget pays for, in operations of schedules. */
const perUnit = 2 ** 17
/** Of an entry: simulating it takes about a quarter of the time of an operation. */
const entryWork = 1 / 4
/** Settings of one algorithm that are simulated, whatever the budget. */
const mostSettings = 40

/** An algorithm with its settings that was simulated. */
export interface AlgorithmAlternative {
  /** Its line of text, as option `algorithm` of calls takes it. */
  readonly algorithm: string
  readonly parameters: Parameters
  /** Predicted by the simulator, until the last rank is done. */
  readonly timeUs: number
  /** Messages between processes. */
  readonly messages: number
  /** Payload of the messages by how far they go. */
  readonly bytes: Readonly<Record<Level, number>>
  /** Measured while it was planned, so it differs from run to run. */
  readonly planMs: number
}

/** An algorithm that was not simulated. */
export interface LeftAlgorithm {
  readonly algorithm: string
  /**
   * `slower`: it takes at least `atLeastUs`, which is longer than the chosen one. `budget`: its schedule is larger than
   * the budget, or a schedule, allows. `refused`: it does not serve the shape.
   */
  readonly because: 'slower' | 'budget' | 'refused'
  /** A time below which the simulator cannot go. 0 where it is not known. */
  readonly atLeastUs: number
  /** In words. */
  readonly reason: string
}

export interface ComparedAlgorithms {
  readonly collective: Collective
  readonly ranks: number
  readonly root: number
  readonly bytes: number
  readonly chosen: AlgorithmAlternative
  /** The fastest settings of every algorithm that was simulated, by time. */
  readonly alternatives: readonly AlgorithmAlternative[]
  readonly notSimulated: readonly LeftAlgorithm[]
  /** Settings that were simulated. */
  readonly simulated: number
}

/**
 * The algorithm by which a collective takes the least time on a machine, as the simulator predicts it, with its
 * parameters and segments. Every algorithm that serves the shape is simulated at its defaults, in the order of a time
 * below which it cannot be, as far as the budget goes; then settings for the network of the machine are; then for each
 * algorithm, fastest first, settings next to its best, until none is better. What must be slower than the fastest so
 * far is left, unless its schedule is small. The choice
 * is a function of collective, machine and options: the same in every process, however fast it is. Of equal times the
 * one that comes first in the registry is chosen.
 *
 * Where the budget allows no algorithm, the smallest schedule is simulated all the same: it has at most 2^27
 * operations and 2^28 entries.
 *
 * Memory: one schedule and its simulation at a time.
 *
 * @throws ERR_ARGUMENT for invalid options, and a collective without an algorithm that serves the shape
 * @throws ERR_RANK for a root out of range; ERR_MACHINE for a machine without a profile, or with fewer cores than
 *   ranks; ERR_ABORTED through `signal`
 * @throws ERR_SCHEDULE, ERR_SIMULATION for a shape whose smallest schedule is too large
 */
export function chooseAlgorithm(
  collective: Collective,
  machine: Machine,
  given: ChooseAlgorithmOptions,
): ComparedAlgorithms {
  return atOnce(choosing(collective, machine, given))
}

/** As {@link chooseAlgorithm}, without holding the event loop longer than one simulation takes. */
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
  const search = new Search(machine, {
    shape,
    bytes,
    now,
    work: (given.budget ?? defaultAlgorithmBudget) * perUnit,
  })
  const eligible = algorithms.filter(
    (algorithm) => algorithm.collective === collective && isOrdered(algorithm, shape, order),
  )
  yield* untilAborted('chooseAlgorithm', searching(search, eligible), signal)
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

function* searching(search: Search, eligible: readonly Algorithm[]): Generator<void> {
  const candidates = search.candidates(eligible)
  for (const candidate of candidates) {
    search.tryDefaults(candidate)
    yield
  }
  if (search.simulated === 0) search.simulateSmallest(candidates)
  for (const setting of search.onGrid(eligible)) {
    search.try(setting)
    yield
  }
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

interface Tried {
  readonly setting: CutAlgorithm
  readonly family: string
  readonly alternative: AlgorithmAlternative
}

/** An algorithm at its defaults that serves the shape. */
interface Candidate {
  readonly algorithm: Algorithm
  readonly atLeastUs: number
  /** The work of simulating it, at least. */
  readonly size: number
}

/** What is simulated, and what that leaves of the budget. */
class Search {
  readonly left: LeftAlgorithm[] = []
  readonly #machine: Machine
  readonly #shape: Shape
  readonly #bytes: number
  readonly #now: () => number
  readonly #leastTimes: LeastTimes
  readonly #tried = new Map<string, Tried>()
  #work: number
  #fastestUs = Number.POSITIVE_INFINITY

  constructor(
    machine: Machine,
    { shape, bytes, now, work }: { shape: Shape; bytes: number; now: () => number; work: number },
  ) {
    this.#machine = machine
    this.#shape = shape
    this.#bytes = bytes
    this.#now = now
    this.#work = work
    this.#leastTimes = new LeastTimes(machine, shape, bytes)
  }

  get simulated(): number {
    return this.#tried.size
  }

  /** Those that serve the shape, by the time that they take at least, then by size; the others are left. */
  candidates(eligible: readonly Algorithm[]): Candidate[] {
    const found = eligible.flatMap((algorithm): Candidate[] => {
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

  tryDefaults({ algorithm, size, atLeastUs }: Candidate): void {
    const leave = (because: LeftAlgorithm['because'], reason: string): void => {
      this.left.push({ algorithm: algorithm.id, because, atLeastUs, reason })
    }
    if (atLeastUs > this.#fastestUs && size > perUnit)
      leave('slower', `it takes at least ${atLeastUs.toFixed(1)} us`)
    else if (size > this.#work) leave('budget', 'its schedule is larger than the budget allows')
    else this.#simulate(uncut(algorithm), size)
  }

  simulateSmallest(candidates: readonly Candidate[]): void {
    const [smallest] = [...candidates].sort((a, b) => a.size - b.size)
    if (smallest === undefined) return
    const { algorithm, size } = smallest
    this.left.splice(
      this.left.findIndex((left) => left.algorithm === algorithm.id),
      1,
    )
    this.#simulate(uncut(algorithm), size)
  }

  /** Simulates a setting that has not been, if it may be the fastest and the budget allows it. */
  try(setting: CutAlgorithm): void {
    if (this.#tried.has(settingText(setting)) || this.#refusalOf(setting) !== null) return
    const size = this.#sizeOf(setting)
    if (size > this.#work) return
    if (size > perUnit && this.#leastUs(setting) > this.#fastestUs) return
    this.#simulate(setting, size)
  }

  /** Settings for the network, by the time that they take at least; those that cannot be left out. */
  onGrid(eligible: readonly Algorithm[]): CutAlgorithm[] {
    const { grid } = this.#shape
    if (grid === undefined) return []
    const dimensions = Math.max(1, boxExtents(grid, this.#shape.ranks).dims.length)
    return eligible
      .flatMap((algorithm) => gridSettings(algorithm, dimensions))
      .filter((setting) => this.#refusalOf(setting) === null && this.#sizeOf(setting) <= this.#work)
      .map((setting) => ({ setting, atLeastUs: this.#leastUs(setting) }))
      .sort((a, b) => a.atLeastUs - b.atLeastUs)
      .map(({ setting }) => setting)
  }

  #leastUs({ algorithm, segments }: CutAlgorithm): number {
    return this.#leastTimes.of(algorithm, segments)
  }

  #refusalOf({ algorithm, segments }: CutAlgorithm): string | null {
    return algorithm.refuses?.({ ...this.#shape, segments }) ?? null
  }

  #simulate(setting: CutAlgorithm, size: number): void {
    this.#work -= size
    const { algorithm, segments } = setting
    const before = this.#now()
    const schedule = scheduleOf(algorithm, { ...this.#shape, segments })
    const planMs = this.#now() - before
    const { timeUs, traffic } = simulate(schedule, this.#machine, { bytes: this.#bytes })
    const { parameters } = schedule
    const text = settingText(setting)
    const alternative = { algorithm: text, parameters, timeUs, ...sentIn(traffic), planMs }
    this.#tried.set(text, { setting, family: atDefaults(algorithm).id, alternative })
    this.#fastestUs = Math.min(this.#fastestUs, timeUs)
  }

  /** Fastest first. */
  families(): string[] {
    return this.#byTime().map(({ family }) => family)
  }

  bestOf(family: string): CutAlgorithm {
    return this.#byTime().find((tried) => tried.family === family)!.setting
  }

  nearby(setting: CutAlgorithm): CutAlgorithm[] {
    const family = atDefaults(setting.algorithm).id
    const count = [...this.#tried.values()].filter((tried) => tried.family === family).length
    return count >= mostSettings ? [] : neighborsOf(setting, this.#shape.ranks, this.#bytes)
  }

  /** The best of every algorithm, by time. */
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

  /** The work of simulating a setting, at least; Infinity beyond what a schedule may have. */
  #sizeOf({ algorithm, segments }: CutAlgorithm): number {
    try {
      const { operations, entries } = leastSize(algorithm, { ...this.#shape, segments }, undefined)
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
