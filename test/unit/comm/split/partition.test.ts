import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { pivotOf, sampleRows } from '../../../../src/comm/split/minimal.js'
import { compareRows, type RowWidth } from '../../../../src/comm/split/rows.js'

/** Rows of few colors and keys; ranks differ. */
function rowsOf(width: RowWidth, count: number, seed: number): Int32Array {
  const random = mulberry32(seed)
  const words = new Int32Array(count * width)
  for (let row = 0, at = 0; row < count; row++, at += width) {
    words[at] = random() % 3
    words[at + 1] = (random() % 5) - 2
    words[at + 2] = (row * 7919) % count
    if (width === 4) words[at + 3] = words[at + 2] + 100
  }
  return words
}

const anyRows = fc.record({
  width: fc.constantFrom<RowWidth>(3, 4),
  // 7919 is prime and larger, so ranks of rows differ.
  count: fc.integer({ min: 1, max: 60 }),
  seed: fc.nat(),
})

describe('pivotOf', () => {
  it('is a sampled row and, of two or more rows, not the greatest', () => {
    fc.assert(
      fc.property(
        fc.array(anyRows, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 16 }),
        fc.nat({ max: 400 }),
        (parts, most, wanted) => {
          // One set of ranks: part i has the ranks congruent to i.
          const lists = parts.map(({ count, seed }, i) => {
            const words = rowsOf(3, count, seed)
            for (let at = 2; at < words.length; at += 3) words[at] = words[at] * parts.length + i
            return words
          })
          const samples = lists.map((words, i) => sampleRows(3, words, 0, words.length, most, i))
          const counts = lists.map((words) => words.length / 3)
          const pivot = pivotOf(samples, counts, wanted)
          const rows = lists.flatMap((words) =>
            Array.from({ length: words.length / 3 }, (_, i) => words.subarray(i * 3, i * 3 + 3)),
          )
          const sampled = samples.map((words) => words.length / 3).reduce((sum, n) => sum + n, 0)
          expect(rows.some((row) => compareRows(row, 0, pivot, 0) === 0)).toBe(true)
          if (sampled > 1) expect(rows.some((row) => compareRows(row, 0, pivot, 0) > 0)).toBe(true)
        },
      ),
    )
  })

  it('separates about as many rows as wanted, in proportion to the rows that each sample represents', () => {
    const large = rowsOf(3, 9_000, 1)
    const small = rowsOf(3, 1_000, 2)
    // All of the small part is above all of the large one.
    for (let at = 0; at < small.length; at += 3) small[at] = 9
    const samples = [large, small].map((words) => sampleRows(3, words, 0, words.length, 16, 7))
    const isLarge = (wanted: number) => pivotOf(samples, [9_000, 1_000], wanted)[0] < 9
    expect(isLarge(4_500)).toBe(true)
    expect(isLarge(8_900)).toBe(true)
    expect(isLarge(9_500)).toBe(false)
  })
})
