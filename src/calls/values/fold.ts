import type { Kernel } from '../../messages/datatype/operation.js'
import type { Combiner } from './combiner.js'

// The ranks of one process combine their values in memory: consecutive ranks in the order of the tree over ranks. Its
// node (l, i) covers the ranks `[i * 2^l, (i + 1) * 2^l)`. The value of a node is `left op right` of its two halves, or
// that of the left half if the right one is empty.

interface Operand<V> {
  readonly value: V
  readonly owned: boolean
}

/** The values of the ranks here, by local index; `owned` if they may be overwritten. */
export interface Leaves<V> {
  readonly values: readonly V[]
  readonly owned: boolean
}

/**
 * Returns the value of `ranks` leaves from `first` on, with O(lg ranks) live values: equal subtrees merge like the
 * digits of a binary counter.
 */
export function foldRanks<V>(
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  first: number,
  ranks: number,
): Operand<V> {
  const { values } = leaves
  if (ranks === 1) return { value: values[first]!, owned: leaves.owned }
  const stack: V[] = []
  const owned: boolean[] = []
  const mergeTop = () => {
    const right = stack.pop() as V
    const rightOwned = owned.pop()!
    const top = stack.length - 1
    stack[top] = combiner.combine(stack[top]!, owned[top], right, rightOwned)
    owned[top] = true
  }
  for (let leaf = 0; leaf < ranks; leaf++) {
    stack.push(values[first + leaf]!)
    owned.push(leaves.owned)
    for (let full = leaf + 1; full % 2 === 0; full /= 2) mergeTop()
  }
  while (stack.length > 1) mergeTop()
  return { value: stack[0]!, owned: owned[0] }
}

/**
 * Returns the values of all nodes over `ranks` leaves from `first` on, by level from the leaves to the root. Nothing is
 * overwritten.
 */
export function nodeValues<V>(
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  first: number,
  ranks: number,
): readonly (readonly V[])[] {
  const levels: V[][] = [leaves.values.slice(first, first + ranks)]
  for (let below = levels[0]; below.length > 1; below = levels[levels.length - 1]) {
    const level: V[] = []
    for (let i = 0; i < below.length; i += 2) {
      level.push(i + 1 < below.length ? combiner.combine(below[i]!, false, below[i + 1]!, false) : below[i]!)
    }
    levels.push(level)
  }
  return levels
}

export interface Before<V> {
  readonly value: V
  readonly owned: boolean
}

/**
 * Appends to `result` the combination of all that precedes each leaf; undefined for the first if nothing precedes it.
 * The first is owned if `before` is. The second is not owned if `before` is null, since it is the first leaf itself.
 * All others are owned: they replace the values of nodes.
 *
 * @param levels of {@link nodeValues}
 * @param before null for nothing
 */
export function appendPrefixes<V>(
  combiner: Combiner<V>,
  levels: readonly (readonly V[])[],
  before: Before<V> | null,
  result: (Before<V> | undefined)[],
): void {
  let prefixes: (V | undefined)[] = [before?.value]
  for (let level = levels.length - 2; level >= 0; level--) {
    const values = levels[level]
    const next = new Array<V | undefined>(values.length)
    for (let i = 0; i < values.length; i += 2) {
      const prefix = prefixes[i / 2]
      next[i] = prefix
      if (i + 1 === values.length) continue
      // The leftmost branch of the whole tree is the only one without a prefix.
      const isFirst = i === 0 && before === null
      next[i + 1] = isFirst ? values[i] : combiner.combine(prefix as V, false, values[i]!, level > 0)
    }
    prefixes = next
  }
  prefixes.forEach((value, leaf) => {
    const isShared = leaf === 0 ? before?.owned !== true : leaf === 1 && before === null
    result.push(value === undefined ? undefined : { value, owned: !isShared })
  })
}

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
