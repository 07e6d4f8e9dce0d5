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
export function isTight(digits: readonly number[], product: number, count: number): boolean {
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
    add([...even].reverse())
    for (const first of [2, 3, 4, 8, 16]) {
      if (first >= count) break
      const rest = evenRadices(Math.ceil(count / first), length)
      add([first, ...rest])
      add([...rest, first])
    }
  }
  return [...lists.values()].sort((a, b) => a.length - b.length || compare(a, b))
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
    for (const digits of [even, [...even].reverse()]) lists.set(digits.join('.'), digits)
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

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
