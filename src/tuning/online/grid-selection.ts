import { mixedWord } from '../../base/hash.js'
import { wrongValue } from '../../errors.js'
import { cellOfPlace, intervalOf, type OpenGrid } from '../models/decision-grid.js'

export interface ProbabilityBounds {
  /**
   * The order of bounds. `projected`: bounds hold afterwards. `literal`: the order of the source, in which dividing by
   * the sum breaks them again. `none`: no bounds.
   */
  readonly kind: 'projected' | 'literal' | 'none'
  /** The least probability. Default 0.03; for more than 33 settings, one by their number. */
  readonly least?: number
  /** The greatest probability. Default 0.5; 1 for one setting. */
  readonly most?: number
}

const defaultBounds: ProbabilityBounds = { kind: 'projected' }

/**
 * Returns the probability of each setting, in proportion to its weight and within bounds. Weights of 0 get the least.
 *
 * @param weights at least 0 and finite, one above 0; of settings that are chosen among
 * @returns as many numbers, of sum 1
 * @throws ERR_ARGUMENT without weights, and if all are 0
 * @see Steiner 2023 §4.6.2
 */
export function boundedProbabilities(
  weights: ArrayLike<number>,
  { kind, least = 0.03, most = 0.5 }: ProbabilityBounds = defaultBounds,
): Float64Array {
  const count = weights.length
  const shares = Float64Array.from(weights)
  const sum = sumOf(shares)
  if (!(sum > 0) || !Number.isFinite(sum) || shares.some((weight) => !(weight >= 0)))
    throw wrongValue('ERR_ARGUMENT', 'probabilities: expected weights of at least 0, one above 0', shares)
  for (let i = 0; i < count; i++) shares[i] /= sum
  if (kind === 'none') return shares
  const low = Math.min(least, 1 / count)
  const high = Math.max(most, 1 / count)
  const bounded = (scale: number): Float64Array =>
    shares.map((share) => Math.min(high, Math.max(low, scale * share)))
  return divided(bounded(kind === 'literal' ? 1 : scaleOfSumOne(bounded)))
}

/** Returns the scale at which shares within bounds have sum 1. The sum grows with it, from at most 1 to at least 1. */
function scaleOfSumOne(bounded: (scale: number) => Float64Array): number {
  let [low, high] = [0, 1]
  while (sumOf(bounded(high)) < 1 && high < 2 ** 60) high *= 2
  // These halvings suffice for every bit of a double.
  for (let i = 0; i < 120; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (sumOf(bounded(middle)) < 1) low = middle
    else high = middle
  }
  return high
}

function divided(values: Float64Array): Float64Array {
  const sum = sumOf(values)
  return values.map((value) => value / sum)
}

function sumOf(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** Returns sums of probabilities up to each place; the last is 1, whatever the rounding. */
export function cumulativeSums(probabilities: ArrayLike<number>): Float64Array {
  const sums = Float64Array.from(probabilities)
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1]
  sums[sums.length - 1] = 1
  return sums
}

/** Returns the first place whose sum is at least `drawn`. Allocates nothing. @param drawn from 0 to 1 */
export function placeOfDraw(sums: Float64Array, drawn: number): number {
  let place = 0
  while (sums[place] < drawn) place++
  return place
}

/**
 * A rule for the decision of a cell: the probabilities of the settings that may serve a call. A logic is a pure
 * function, so a further one changes neither the grid nor the calls.
 *
 * @see Steiner 2023 §4.6.2
 */
export interface SelectionLogic {
  readonly name: string
  /** The rule without performances: `uniform` may try every setting, as if each were 1. */
  readonly untrained: 'uniform' | 'default'
  /**
   * @param performances 0 to 1, at least one, of the settings that may serve; not all 0
   * @returns as many probabilities, of sum 1
   */
  readonly probabilities: (performances: Float64Array) => Float64Array
}

/** Returns the logic that explores: each setting in proportion to its speed, within bounds. */
export function tuningLogic(bounds: ProbabilityBounds = defaultBounds): SelectionLogic {
  return {
    name: 'tuning',
    untrained: 'uniform',
    probabilities: (performances) => boundedProbabilities(performances, bounds),
  }
}

/** The logic that takes the best setting, of equal ones that of the lowest number. */
export const tunedLogic: SelectionLogic = {
  name: 'tuned',
  untrained: 'default',
  probabilities: (performances) => {
    let best = 0
    for (let i = 1; i < performances.length; i++) if (performances[i] > performances[best]) best = i
    return performances.map((_, i) => Number(i === best))
  },
}

/** The logic that leaves every call to the default, for grids that are not trained: the baseline of comparisons. */
export const defaultLogic: SelectionLogic = { ...tunedLogic, name: 'default' }

/** A cell that is ready: numbers of settings, and sums of their probabilities. */
export interface ReadyCell {
  readonly numbers: Int32Array
  readonly sums: Float64Array
  /** The number of every call if none is drawn; -1 if one is. */
  readonly only: number
}

/** The number that leaves a call to the default. */
export const leftToDefault = 0

const nothingReady: ReadyCell = {
  numbers: new Int32Array(0),
  sums: new Float64Array(0),
  only: leftToDefault,
}

/** Returns the number of the setting for a draw from 0 to 1. Allocates nothing. */
export function numberDrawn({ numbers, sums }: ReadyCell, drawn: number): number {
  return numbers[placeOfDraw(sums, drawn)]
}

/**
 * A choice among the settings of a grid for the calls of one communicator that the same settings may serve. A cell is
 * made ready at its first call: 12 bytes for each of its settings.
 */
export class GridSelection {
  readonly #grid: OpenGrid
  readonly #logic: SelectionLogic
  readonly #eligible: Int32Array
  readonly #firstCell: number
  /** The cells by interval of bytes. */
  readonly #cells: (ReadyCell | undefined)[]

  /**
   * @param eligible numbers of the settings that may serve, ascending; those that the grid excludes are left out
   * @param nodes and processesPerNode of the communicator
   * @throws ERR_ARGUMENT for a logic that explores with a grid without performances
   */
  constructor(
    grid: OpenGrid,
    logic: SelectionLogic,
    eligible: Iterable<number>,
    nodes: number,
    processesPerNode: number,
  ) {
    if (grid.isTrained && grid.performances === undefined && logic !== tunedLogic)
      throw wrongValue('ERR_ARGUMENT', `logic ${logic.name}: expected a grid with performances`, undefined)
    this.#grid = grid
    this.#logic = logic
    this.#eligible = Int32Array.from(eligible).filter((number) => !grid.excluded?.includes(number))
    this.#firstCell = cellOfPlace(grid.axes, nodes, processesPerNode) * grid.axes.bytes.length
    this.#cells = new Array(grid.axes.bytes.length).fill(undefined)
  }

  /**
   * Returns the number of the setting for a call; 0 to leave it to the default. Allocates nothing after the first call
   * of a cell.
   *
   * @param drawn from 0 to 1
   */
  choose(bytes: number, drawn: number): number {
    const cell = this.cellOf(bytes)
    return cell.only >= 0 ? cell.only : numberDrawn(cell, drawn)
  }

  /** Returns the probabilities of settings for so many bytes, by number; empty if calls are left to the default. */
  probabilitiesOf(bytes: number): ReadonlyMap<number, number> {
    const { numbers, sums } = this.cellOf(bytes)
    return new Map(Array.from(numbers, (number, i) => [number, sums[i] - (i === 0 ? 0 : sums[i - 1])]))
  }

  /** Returns the cell of calls of so many bytes, made ready. */
  cellOf(bytes: number): ReadyCell {
    const interval = intervalOf(this.#grid.axes.bytes, bytes)
    return this.#cells[interval] ?? this.#ready(interval)
  }

  #ready(interval: number): ReadyCell {
    const ready = this.#made(this.#firstCell + interval)
    this.#cells[interval] = ready
    return ready
  }

  #made(cell: number): ReadyCell {
    const { settings, isTrained, performances, best } = this.#grid
    const eligible = this.#eligible
    if (!isTrained) {
      if (this.#logic.untrained === 'default' || eligible.length === 0) return nothingReady
      return readyCell(eligible, new Float64Array(eligible.length).fill(1 / eligible.length))
    }
    if (performances === undefined)
      return eligible.includes(best[cell])
        ? readyCell(Int32Array.of(best[cell]), Float64Array.of(1))
        : nothingReady
    const first = cell * settings.length
    const known = Float64Array.from(eligible, (number) =>
      number <= settings.length ? performances[first + number - 1] : 0,
    )
    // The grid knows other settings, but none of those that may serve this call.
    if (!known.some((value) => value > 0)) {
      if (this.#logic.untrained === 'default' || eligible.length === 0) return nothingReady
      known.fill(1)
    }
    const probabilities = this.#logic.probabilities(known)
    const chosen = [...eligible.keys()].filter((i) => probabilities[i] > 0)
    return readyCell(
      Int32Array.from(chosen, (i) => eligible[i]),
      Float64Array.from(chosen, (i) => probabilities[i]),
    )
  }
}

function readyCell(numbers: Int32Array, probabilities: Float64Array): ReadyCell {
  return { numbers, sums: cumulativeSums(probabilities), only: numbers.length === 1 ? numbers[0] : -1 }
}

/**
 * Returns a number that the ranks of a call draw alike without a message. It depends on its arguments only, not on
 * other calls of a rank. It is one of 2^32 values, evenly spread over [0, 1).
 *
 * All arguments count modulo 2^32. Allocates nothing.
 *
 * @param seed of the run
 * @param communicator alike on all its members
 * @param call number of the call on that communicator
 * @param collective place of the collective among all
 */
export function callDraw(seed: number, communicator: number, call: number, collective: number): number {
  return drawOfCall(communicatorDraws(seed, communicator), call, collective)
}

/** Returns the part that the draws of one communicator share, for {@link drawOfCall}. */
export function communicatorDraws(seed: number, communicator: number): number {
  return mixedWord(mixedWord(seed ^ 0x9e3779b9) ^ communicator)
}

/** Returns the number of {@link callDraw}. @param draws from {@link communicatorDraws} */
export function drawOfCall(draws: number, call: number, collective: number): number {
  const hash = mixedWord((draws + 0x7f4a7c15) ^ call)
  return (mixedWord((hash + 0x2545f491) ^ collective) >>> 0) / 2 ** 32
}
