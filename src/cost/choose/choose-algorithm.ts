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
import { wrongValue } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'
import { longestBlockBytes } from '../simulate/block-lengths.js'
import { simulate } from '../simulate/simulate.js'
import { sentIn } from '../simulate/traffic.js'
import { type CutAlgorithm, neighborsOf, settingText } from './settings.js'

export interface ChooseAlgorithmOptions {
  /** Participants, rank r on core r of the machine. Default: all its cores. */
  readonly ranks?: number
  /** Of rooted collectives. Default 0. */
  readonly root?: number
  /** Of every unit of data, as MPI's count describes it: an integer from 0 to 2^40. */
  readonly bytes: number
  /** The weakest order of combination that is admitted. Default `any`. */
  readonly order?: CombinationOrder
  /** Work that is spent on simulations, 1 to 2^20. Default {@link defaultAlgorithmBudget}. */
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

/** Of {@link ChooseAlgorithmOptions.budget}: schedules of 2^22 operations and entries together. */
export const defaultAlgorithmBudget = 32

/** Operations and entries of the schedules that a unit of the budget pays for. */
const perUnit = 2 ** 17
/** Settings of one algorithm that are simulated, whatever the budget. */
const mostSettings = 40

/** An algorithm with its settings that was simulated. */
export interface AlgorithmAlternative {
  /** Its line of text, as `parseAlgorithm` reads it. */
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
  /** `budget`: its schedule is larger than the budget allows. `refused`: it does not serve the shape. */
  readonly because: 'budget' | 'refused'
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
 * parameters and segments. Every algorithm that serves the shape is simulated at its defaults, smaller schedules
 * first, as far as the budget goes; then for each, fastest first, settings next to its best are, until none is
 * better. The choice is a function of collective, machine and options: the same in every process, however fast it
 * is. Of equal times the one that comes first in the registry is chosen.
 *
 * The smallest schedule is simulated whatever its size, so a budget does not bound it: a schedule has at most 2^27
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
  const shape = { ranks, root }
  requireShape('chooseAlgorithm', shape)
  if (root !== 0 && !rootedCollectives.includes(collective))
    throw wrongValue('ERR_RANK', `chooseAlgorithm: expected no root for ${collective}`, root)
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
  for (const { algorithm } of search.bySize(eligible)) {
    search.try({ algorithm, segments: 1 })
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

/** What is simulated, and what that leaves of the budget. */
class Search {
  readonly left: LeftAlgorithm[] = []
  readonly #machine: Machine
  readonly #shape: Shape
  readonly #bytes: number
  readonly #now: () => number
  readonly #tried = new Map<string, Tried>()
  #work: number

  constructor(
    machine: Machine,
    { shape, bytes, now, work }: { shape: Shape; bytes: number; now: () => number; work: number },
  ) {
    this.#machine = machine
    this.#shape = shape
    this.#bytes = bytes
    this.#now = now
    this.#work = work
  }

  get simulated(): number {
    return this.#tried.size
  }

  /** Those that serve the shape, smaller schedules first; the others are left. */
  bySize(eligible: readonly Algorithm[]) {
    const sized = eligible.flatMap((algorithm) => {
      const reason = algorithm.refuses?.(this.#shape) ?? null
      if (reason === null) return [{ algorithm, size: this.#sizeOf({ algorithm, segments: 1 }) }]
      this.left.push({ algorithm: algorithm.id, because: 'refused', reason })
      return []
    })
    return sized.sort((a, b) => a.size - b.size)
  }

  /** Simulates a setting that has not been, if the budget allows it. */
  try(setting: CutAlgorithm): void {
    const text = settingText(setting)
    if (this.#tried.has(text)) return
    const { algorithm, segments } = setting
    const shape = { ...this.#shape, segments }
    if ((algorithm.refuses?.(shape) ?? null) !== null) return
    const size = this.#sizeOf(setting)
    // The first is simulated, whatever it takes.
    if (size > this.#work && this.#tried.size > 0) {
      if (segments === 1 && !text.includes(':'))
        this.left.push({
          algorithm: text,
          because: 'budget',
          reason: 'its schedule is larger than the budget allows',
        })
      return
    }
    this.#work -= size
    const before = this.#now()
    const schedule = scheduleOf(algorithm, shape)
    const planMs = this.#now() - before
    const { timeUs, traffic } = simulate(schedule, this.#machine, { bytes: this.#bytes })
    const { parameters } = schedule
    const alternative = { algorithm: text, parameters, timeUs, ...sentIn(traffic), planMs }
    this.#tried.set(text, { setting, family: atDefaults(algorithm).id, alternative })
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

  #sizeOf({ algorithm, segments }: CutAlgorithm): number {
    const { operations, entries } = leastSize(algorithm, { ...this.#shape, segments }, undefined)
    return operations + entries
  }
}

function placeOf(family: string): number {
  return algorithms.findIndex(({ id }) => id === family)
}
