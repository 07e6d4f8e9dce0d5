import { RankweaveError } from '../../errors.js'

/** Which digit of a number is corrected first. */
export type DigitOrder = 'lowest' | 'highest'

/**
 * From one number to another in steps, each of which corrects a digit of a mixed-radix notation. A number past the last one
 * stands for the number with the highest digit one lower, so the notation suits any count.
 */
export class Digits {
  readonly steps: number
  readonly #weights: Int32Array
  readonly #lowestFirst: boolean
  /** All weights below the numbers are powers of two: remainders are bits, several times as fast. */
  readonly #isBinary: boolean

  /**
   * @param radices of the digits, lowest first; their product must be at least `count` of every `between`
   * @param most the largest count that occurs
   */
  constructor(radices: readonly number[], first: DigitOrder, most: number) {
    this.steps = radices.length
    this.#lowestFirst = first === 'lowest'
    this.#weights = new Int32Array(radices.length + 1).fill(1)
    for (const [i, radix] of radices.entries()) {
      // Weights beyond the numbers are all alike.
      this.#weights[i + 1] = Math.min(this.#weights[i] * radix, Math.max(1, most))
    }
    this.#isBinary = this.#weights.every((weight) => weight >= most || (weight & (weight - 1)) === 0)
  }

  /** The number after a step, of numbers below `count`. */
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

  /** The weight of the highest digit that is not always 0. */
  #top(count: number): number {
    let i = this.#weights.length - 1
    while (this.#weights[i] >= count) i--
    return this.#weights[i]
  }
}

/** Radices of 2, as many as it takes. */
export function binaryRadices(count: number): number[] {
  const radices: number[] = []
  for (let product = 1; product < count; product *= 2) radices.push(2)
  return radices
}

/** @throws ERR_STRATEGY for radices whose product is below a count */
export function requireCover(
  kind: string,
  name: string,
  radices: readonly number[],
  count: number,
  what: string,
): void {
  const product = radices.reduce((all, radix) => all * radix, 1)
  if (product >= count) return
  throw new RankweaveError(
    'ERR_STRATEGY',
    `${kind}: expected ${name} whose product is at least ${count}, ${what}, got ${radices.join('.') || 'none'}, product ${product}`,
  )
}
