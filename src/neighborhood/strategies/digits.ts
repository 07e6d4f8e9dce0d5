import { integersOption, wordOption } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'

/** The digit of a number that is corrected first. */
export type DigitOrder = (typeof digitOrders)[number]

/** The steps from one number to another, both below a count. */
export interface DigitSteps {
  readonly steps: number
  /** Returns the number after a step. */
  between(step: number, from: number, to: number, count: number): number
}

/**
 * The number whose digits are corrected: a number itself, or the offset from one to the other, counted around all of
 * them.
 */
export type DigitsOf = 'number' | 'offset'

export const digitOrders = ['lowest', 'highest'] as const

export const digitsOption = wordOption(['number', 'offset'], {
  help: 'digits of numbers, or of distances from number to number, counted around',
  default: 'number',
})

export const orderOption = wordOption(digitOrders, {
  help: 'which digit is corrected first',
  default: 'lowest',
})

/**
 * Returns the option for radices of digits.
 * @param of the number that has the digits
 * @param covered the number that their product must reach
 */
export function radicesOption(of: string, covered: string) {
  return integersOption({
    least: 2,
    help: `of the digits of ${of}, lowest first; their product is at least ${covered}`,
    computed: '2 as often as needed',
  })
}

/** @param radices, first, most as in {@link Digits} */
export function digitSteps(
  of: DigitsOf,
  radices: readonly number[],
  first: DigitOrder,
  most: number,
): DigitSteps {
  return of === 'number' ? new Digits(radices, first, most) : new OffsetDigits(radices, first, most)
}

/**
 * Corrects in each step a digit of a mixed-radix notation of the number. A number past the last one stands for the
 * number with the highest digit one lower, so the notation suits any count.
 */
export class Digits implements DigitSteps {
  readonly steps: number
  readonly #weights: Int32Array
  readonly #lowestFirst: boolean
  /** Whether all weights below the numbers are powers of two. Remainders are then bits, several times as fast. */
  readonly #isBinary: boolean

  /**
   * @param radices of the digits, lowest first; their product must be at least `count` of every `between`
   * @param most the largest count of any `between`
   */
  constructor(radices: readonly number[], first: DigitOrder, most: number) {
    this.steps = radices.length
    this.#lowestFirst = first === 'lowest'
    this.#weights = cappedWeights(radices, most)
    this.#isBinary = this.#weights.every((weight) => weight >= most || (weight & (weight - 1)) === 0)
  }

  between(step: number, from: number, to: number, count: number): number {
    const weights = this.#weights
    let mixed: number
    if (this.#lowestFirst) {
      const weight = weights[step + 1]
      if (weight >= count) return to
      mixed = this.#isBinary ? (from & -weight) | (to & (weight - 1)) : from - (from % weight) + (to % weight)
    } else {
      const weight = weights[this.steps - 1 - step]
      if (weight >= count) return from
      mixed = this.#isBinary ? (to & -weight) | (from & (weight - 1)) : to - (to % weight) + (from % weight)
    }
    return mixed < count ? mixed : mixed - this.#top(count)
  }

  /** Returns the weight of the highest digit that is not always 0. */
  #top(count: number): number {
    let i = this.#weights.length - 1
    while (this.#weights[i] >= count) i--
    return this.#weights[i]
  }
}

/**
 * Travels in each step a digit of the offset. All numbers do the same, so any radices suit any count, even if their
 * product is larger.
 */
export class OffsetDigits implements DigitSteps {
  readonly steps: number
  readonly #weights: Int32Array
  readonly #lowestFirst: boolean

  /** @param radices, first, most as in {@link Digits} */
  constructor(radices: readonly number[], first: DigitOrder, most: number) {
    this.steps = radices.length
    this.#lowestFirst = first === 'lowest'
    this.#weights = cappedWeights(radices, most)
  }

  between(step: number, from: number, to: number, count: number): number {
    const weights = this.#weights
    const offset = to < from ? to - from + count : to - from
    const travelled = this.#lowestFirst
      ? offset % weights[step + 1]
      : offset - (offset % weights[this.steps - 1 - step])
    const at = from + travelled
    return at < count ? at : at - count
  }
}

/** Returns the products of the first radices, from none to all, capped beyond the numbers. */
export function cappedWeights(radices: readonly number[], most: number): Int32Array {
  const weights = new Int32Array(radices.length + 1).fill(1)
  for (const [i, radix] of radices.entries()) weights[i + 1] = Math.min(weights[i] * radix, Math.max(1, most))
  return weights
}

/** Returns as many radices of 2 as needed. */
export function binaryRadices(count: number): number[] {
  const radices: number[] = []
  for (let product = 1; product < count; product *= 2) radices.push(2)
  return radices
}

/**
 * A radix or a number of lanes may reach this even above the number that it divides, because a strategy may serve
 * communicators of several sizes.
 */
const largestAnywhere = 64

/** @throws ERR_STRATEGY for a number above both {@link largestAnywhere} and the number that it divides */
export function requireNoMore(kind: string, name: string, value: number, count: number, what: string): void {
  const most = Math.max(largestAnywhere, count)
  if (value <= most) return
  const expected = `${kind}: expected ${name} of at most ${most} for ${count}, ${what}`
  throw wrongValue('ERR_STRATEGY', expected, value)
}

/** So many digits of radix 2 number as many ranks as a topology may have. */
const mostRadices = 24

/**
 * @throws ERR_STRATEGY for radices whose product is below a count, for a radix far above it, and for more than
 *   {@link mostRadices}
 */
export function requireCover(
  kind: string,
  name: string,
  radices: readonly number[],
  count: number,
  what: string,
): void {
  if (radices.length > mostRadices)
    throw wrongValue('ERR_STRATEGY', `${kind}: expected at most ${mostRadices} ${name}`, radices.length)
  for (const radix of radices) requireNoMore(kind, name, radix, count, what)
  const product = radices.reduce((all, radix) => all * radix, 1)
  if (product >= count) return
  const message = `${kind}: expected ${name} whose product is at least ${count}, ${what}, got ${radices.join('.') || 'none'}, product ${product}`
  throw new RankweaveError('ERR_STRATEGY', message)
}
