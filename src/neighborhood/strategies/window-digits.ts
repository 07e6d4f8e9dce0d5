/** This exceeds the offsets of any dimension. */
const largestWeight = 2 ** 29

/** Corrects the offsets of one dimension digit by digit of a mixed-radix notation. Offset 0 stays 0 in every step. */
export class WindowDigits {
  readonly steps: number
  readonly #low: number
  readonly #weights: Int32Array

  /**
   * @param low the lowest offset, at most 0
   * @param radices lowest first, with a product of at least the number of offsets
   */
  constructor(low: number, radices: readonly number[]) {
    this.steps = radices.length
    this.#low = -low
    this.#weights = new Int32Array(radices.length + 1).fill(1)
    for (const [i, radix] of radices.entries()) {
      // Weights beyond the offsets are equal.
      this.#weights[i + 1] = Math.min(this.#weights[i] * radix, largestWeight)
    }
  }

  /** Returns the distance along an offset that a block has travelled after a step. */
  after(step: number, offset: number): number {
    if (step >= this.steps - 1) return offset
    const weight = this.#weights[step + 1]
    return ((offset + this.#low) % weight) - (this.#low % weight)
  }
}

/**
 * Returns the radices of fewest messages, then of fewest steps, for a window of some offsets; 9 gives 3.3, 5 gives 2.3.
 */
export function windowRadices(offsets: number): number[] {
  if (offsets <= 1) return []
  let best = [offsets]
  for (let radix = 2; radix < Math.min(offsets, 5); radix++) {
    const tried = [radix, ...windowRadices(Math.ceil(offsets / radix))]
    const saved = messages(best) - messages(tried)
    if (saved > 0 || (saved === 0 && tried.length < best.length)) best = tried
  }
  return best
}

const messages = (radices: readonly number[]): number => radices.reduce((sum, radix) => sum + radix - 1, 0)
