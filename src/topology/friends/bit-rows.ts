import { ones } from '../../base/ascending-set.js'

/** Counts the ones that two rows of bits, which begin at words a and b of one array, have in common. */
export function countCommon(bits: Int32Array, a: number, b: number, words: number): number {
  let count = 0
  for (let w = 0; w < words; w++) count += ones(bits[a + w] & bits[b + w])
  return count
}

/** Writes the intersection of two rows to word `to` of another array. Returns its number of ones. */
export function intersect(
  bits: Int32Array,
  a: number,
  b: number,
  words: number,
  into: Int32Array,
  to: number,
): number {
  let count = 0
  for (let w = 0; w < words; w++) {
    const common = bits[a + w] & bits[b + w]
    into[to + w] = common
    count += ones(common)
  }
  return count
}
