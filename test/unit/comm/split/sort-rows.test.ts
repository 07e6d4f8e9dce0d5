import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { sortRows } from '../../../../src/comm/split/rows.js'
import { cases } from '../../../support/soak.js'

/** Rows of 3 or 4 words; the last says where the row was. */
function rowsOf(width: 3 | 4, count: number, word: (word: 'color' | 'key' | 'rank') => number): Int32Array {
  const words = new Int32Array(width * count)
  for (let i = 0, at = 0; i < count; i++, at += width) {
    words.set([word('color'), word('key'), width === 3 ? i : word('rank')], at)
    if (width === 4) words[at + 3] = i
  }
  return words
}

/** The same by the engine's own stable sort of row numbers. */
function expectedRows(width: 3 | 4, words: Int32Array, leading: 2 | 3): Int32Array {
  const order = Array.from({ length: words.length / width }, (_, i) => i)
  const byWord = (a: number, b: number, word: number) => words[a * width + word] - words[b * width + word]
  order.sort((a, b) => byWord(a, b, 0) || byWord(a, b, 1) || (leading === 3 ? byWord(a, b, 2) : 0))
  const sorted = new Int32Array(words.length)
  for (const [i, row] of order.entries())
    sorted.set(words.subarray(row * width, (row + 1) * width), i * width)
  return sorted
}

const extremes = [-(2 ** 31), -1, 0, 1, 2 ** 31 - 1]

describe('sortRows', () => {
  it('orders by color and key, optionally by rank, and is stable', () => {
    const value = fc.oneof(fc.constantFrom(...extremes), fc.integer({ min: -40, max: 40 }), fc.integer())
    const rows = fc.array(fc.tuple(value, value, value), { maxLength: 400 })
    fc.assert(
      fc.property(
        rows,
        fc.constantFrom(3 as const, 4 as const),
        fc.constantFrom(2 as const, 3 as const),
        (all, width, leading) => {
          const words = Int32Array.from(all.flatMap((row, i) => (width === 3 ? row : [...row, i])))
          const expected = expectedRows(width, words, leading)
          expect(sortRows(width, words, new Int32Array(words.length), leading)).toEqual(expected)
        },
      ),
      { numRuns: cases(300, 300) },
    )
  })

  // Beyond 2^14 rows it cuts them into parts first, and parts into parts where many rows are alike in their
  // highest bits.
  it.each<[string, (draw: () => number) => number]>([
    ['evenly spread', (draw) => Math.floor((draw() - 0.5) * 2 ** 32)],
    ['nearly all in one place', (draw) => (draw() < 0.001 ? 2 ** 31 - 1 : Math.floor(draw() * 2 ** 20))],
    ['denser and denser towards 0', (draw) => Math.floor(2 ** 31 * draw() ** 30)],
    ['few and far between', (draw) => extremes[Math.floor(draw() * extremes.length)]],
    ['all the same', () => -7],
  ])('orders many rows of keys that are %s', (_, key) => {
    for (const colors of [3, 2 ** 31]) {
      for (const width of [3, 4] as const) {
        const draw = seededRandom(colors + width)
        const words = rowsOf(width, 40_000, (word) =>
          word === 'color' ? Math.floor(draw() * colors) : key(draw),
        )
        const sorted = sortRows(width, words.slice(), new Int32Array(words.length))
        expect(Buffer.from(sorted.buffer).equals(Buffer.from(expectedRows(width, words, 2).buffer))).toBe(
          true,
        )
      }
    }
  })

  it('accepts sorted rows and no rows', () => {
    const words = Int32Array.of(0, 5, 9, 0, 5, 8, 2, -1, 0)
    expect(sortRows(3, words, new Int32Array(9))).toBe(words)
    expect(sortRows(3, new Int32Array(0), new Int32Array(0))).toHaveLength(0)
  })
})
