import { expect, test } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { RowCompressor } from '../../../../src/topology/friends/friend-rows.js'

const bitsOf = (words: Int32Array, count: number): number[] =>
  Array.from({ length: count }, (_, c) => (words[c >> 5] >>> (c & 31)) & 1)

test.each([1, 2, 3, 7])('RowCompressor selects the columns of a row and packs them, %i words', (words) => {
  const draw = mulberry32(words)
  const compressor = new RowCompressor()
  for (let run = 0; run < 400; run++) {
    // From no columns to all of them, in words that are full, empty or between.
    const density = [0, 0.1, 0.5, 0.9, 1][run % 5]
    const word = () => {
      let bits = 0
      for (let b = 0; b < 32; b++) if (draw() / 2 ** 32 < density) bits |= 1 << b
      return draw() % 8 === 0 ? (draw() % 2 === 0 ? 0 : -1) : bits
    }
    const rows = Int32Array.from({ length: 2 * words }, word)
    compressor.prepare(rows, 0, words)
    const into = new Int32Array(words + 2).fill(77)
    const size = compressor.compress(rows, words, into, 1)
    const kept = bitsOf(rows.subarray(0, words), 32 * words)
    const expected = bitsOf(rows.subarray(words), 32 * words).filter((_, c) => kept[c] === 1)
    const needed = Math.ceil(expected.length / 32)
    expect(bitsOf(into.subarray(1), needed * 32)).toEqual([
      ...expected,
      ...new Array(needed * 32 - expected.length).fill(0),
    ])
    expect(size).toBe(expected.reduce((sum, bit) => sum + bit, 0))
    expect([into[0], ...into.subarray(1 + needed)].every((untouched) => untouched === 77)).toBe(true)
  }
})
