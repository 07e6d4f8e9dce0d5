import { integersOption, type NamedOptions, wordOption } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
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

/**
 * Returns the lists of radices whose product covers a count, without radices that could be smaller or left out. `4.2`
 * and `2.4` are two lists. Lists are ordered by number of digits, then lexicographically.
 *
 * @param largest the largest radix
 */
export function coveringRadices(count: number, largest = count): number[][] {
  if (count <= 1) return [[]]
  const found: number[][] = []
  const extend = (digits: number[], product: number): void => {
    if (product >= count) {
      if (isTight(digits, product, count)) found.push(digits)
      return
    }
    for (let radix = 2; radix <= Math.min(largest, count); radix++) {
      extend([...digits, radix], product * radix)
      // A larger last digit would cover more than needed.
      if (product * radix >= count) break
    }
  }
  extend([], 1)
  return found.sort((a, b) => a.length - b.length || compare(a, b))
}

/** Whether every digit must be as large as given. */
function isTight(digits: readonly number[], product: number, count: number): boolean {
  return digits.every((radix) => (product / radix) * (radix - 1) < count)
}

/**
 * Returns a selection of {@link coveringRadices} that stays small for any count. For a count of at most 32 it has all.
 * Beyond, it has lists of at most two different radices that divide the work evenly, and these with one other digit at
 * either end.
 */
export function usefulRadices(count: number): number[][] {
  if (count <= 32) return coveringRadices(count).filter((digits) => digits.length < 6)
  const lists = new Map<string, number[]>()
  const add = (digits: number[]): void => {
    const product = digits.reduce((all, radix) => all * radix, 1)
    if (isTight(digits, product, count)) lists.set(digits.join('.'), digits)
  }
  for (let length = 1; 2 ** (length - 1) < count; length++) {
    const even = evenRadices(count, length)
    add(even)
    add(even.toReversed())
    for (const first of [2, 3, 4, 8, 16]) {
      if (first >= count) break
      const rest = evenRadices(Math.ceil(count / first), length)
      add([first, ...rest])
      add([...rest, first])
    }
  }
  return [...lists.values()].sort((a, b) => a.length - b.length || compare(a, b))
}

/** Returns those of {@link usefulRadices} with several digits: one digit would send every block straight to its end. */
export function severalRadices(count: number): number[][] {
  return usefulRadices(count).filter((radices) => radices.length > 1)
}

/**
 * Returns radices for offsets below a count: even ones, smallest and largest first, and pairs of which one is about
 * twice the other.
 */
export function offsetRadices(count: number): number[][] {
  if (count <= 1) return [[]]
  const lists = new Map<string, number[]>()
  for (let length = 1; 2 ** (length - 1) < count; length++) {
    const even = evenRadices(count, length)
    for (const digits of [even, even.toReversed()]) lists.set(digits.join('.'), digits)
  }
  const large = Math.ceil(1.5 * Math.sqrt(count))
  const small = Math.ceil(count / large)
  if (small > 1)
    for (const digits of [
      [large, small],
      [small, large],
    ])
      lists.set(digits.join('.'), digits)
  return [...lists.values()]
}

/** Returns radices that differ by at most one, largest first, with the smallest product that covers a count. */
export function evenRadices(count: number, length: number): number[] {
  const small = Math.max(2, Math.floor(count ** (1 / length) + 1e-9))
  const digits = new Array<number>(length).fill(small)
  let product = small ** length
  for (let i = 0; i < length && product < count; i++) {
    product = (product / digits[i]) * (digits[i] + 1)
    digits[i]++
  }
  return digits
}

/** Lists radices for one part of a strategy that has several: those useful alone, without the longest odd ones. */
export function fewRadices(count: number): number[][] {
  const even = new Set<string>()
  for (let length = 1; 2 ** (length - 1) < count; length++) {
    const digits = evenRadices(count, length)
    even.add(digits.join('.'))
    even.add(digits.toReversed().join('.'))
  }
  const powers = (digits: readonly number[]) => digits.every((radix) => (radix & (radix - 1)) === 0)
  return usefulRadices(count).filter(
    (digits) => even.has(digits.join('.')) || (powers(digits) && digits.length <= 4),
  )
}

/** Returns the most messages that a rank sends for each digit, in the order in which the digits are corrected. */
export function messagesByDigit(radices: readonly number[], first: DigitOrder = 'lowest'): number[] {
  const messages = radices.map((radix) => radix - 1)
  return first === 'highest' ? messages.reverse() : messages
}

/**
 * Lists radices that cover as much: in another order, with two digits for one or one for two, or with one digit changed
 * by one and another as large as needed.
 */
export function similarRadices(radices: readonly number[] | undefined, count: number): number[][] {
  if (radices === undefined || count <= 1) return []
  const found = swaps(radices)
  for (let i = 0; i < radices.length; i++) {
    const half = Math.ceil(radices[i] / 2)
    found.push(radices.toSpliced(i, 1, half, 2), radices.toSpliced(i, 1, 2, half))
    if (i > 0) found.push(radices.toSpliced(i - 1, 2, Math.min(count, radices[i - 1] * radices[i])))
    for (const other of [radices[i] - 1, radices[i] + 1]) {
      const changed = radices.with(i, other)
      for (let j = 0; j < radices.length; j++) {
        const rest = productOf(changed) / changed[j]
        if (i !== j) found.push(changed.with(j, Math.ceil(count / rest)))
      }
    }
  }
  const fits = (digits: readonly number[]): boolean => {
    const product = productOf(digits)
    return digits.every((radix) => radix > 1) && product >= count && isTight(digits, product, count)
  }
  return distinct(found.filter(fits), radices)
}

function productOf(radices: readonly number[]): number {
  return radices.reduce((product, radix) => product * radix, 1)
}

/** Returns the lists in which two neighbors that differ are swapped. */
export function swaps(list: readonly number[]): number[][] {
  return list.slice(1).flatMap((next, i) => (next === list[i] ? [] : [list.toSpliced(i, 2, next, list[i])]))
}

/** Returns the lists that differ from each other and from a known one. */
export function distinct(all: readonly number[][], known: readonly number[]): number[][] {
  const texts = new Map(all.map((list) => [list.join('.'), list]))
  texts.delete(known.join('.'))
  return [...texts.values()]
}

/**
 * Returns the strategy with one option of two values at its other value. The options declared last helped most often.
 * An option that is at its default again is not written.
 */
export function switched<S extends object>(options: NamedOptions, strategy: S): S[] {
  const given: Readonly<Record<string, unknown>> = withDefaults(options, strategy)
  return Object.entries(options)
    .filter(([, { words = [] }]) => words.length === 2)
    .map(([name, { words = [], default: initial }]) => {
      const other = words.find((word) => word !== given[name])
      return { ...strategy, [name]: other === initial ? undefined : other }
    })
    .reverse()
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
