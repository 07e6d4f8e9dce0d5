import type { Kernel } from '../../messages/datatype/operation.js'

/** The pairs of one level of the tree, and their results, with the number that has no partner. */
interface Level {
  readonly left: Float64Array
  readonly right: Float64Array
  readonly combined: Float64Array
  readonly next: Float64Array
}

/**
 * Combines a number of each rank in the order of the tree ({@link foldRanks}), a level at a time. It reuses its memory.
 */
export class NumberFold {
  readonly #kernel: Kernel
  readonly #levels: readonly Level[]

  constructor(kernel: Kernel, ranks: number) {
    this.#kernel = kernel
    const levels: Level[] = []
    for (let count = ranks; count > 1; count = (count + 1) >> 1) {
      const pairs = count >> 1
      const next = new Float64Array((count + 1) >> 1)
      const combined = next.subarray(0, pairs)
      levels.push({ left: new Float64Array(pairs), right: new Float64Array(pairs), combined, next })
    }
    this.#levels = levels
  }

  /** @param first of the numbers to combine */
  fold(numbers: Float64Array, first: number): number {
    let from = numbers
    let at = first
    for (const { left, right, combined, next } of this.#levels) {
      const pairs = left.length
      for (let i = 0; i < pairs; i++) {
        left[i] = from[at + 2 * i]
        right[i] = from[at + 2 * i + 1]
      }
      this.#kernel(combined, left, right)
      if (next.length > pairs) next[pairs] = from[at + 2 * pairs]
      from = next
      at = 0
    }
    return from[at]
  }
}
