import { below, mulberry32 } from '../../../base/random.js'
import type { RowWidth } from './rows.js'
import { sortRows } from './sort-rows.js'

/**
 * Moves the rows in words `[from, to)` that come up to `pivot`, itself included, before the others, in place and not
 * stably. Returns the first word of the others.
 */
export function partitionRows(
  width: RowWidth,
  words: Int32Array,
  from: number,
  to: number,
  pivot: Int32Array,
): number {
  const color = pivot[0]
  const key = pivot[1]
  const rank = pivot[2]
  let i = from
  let j = to
  for (;;) {
    for (; i < j; i += width) {
      const c = words[i]
      const k = words[i + 1]
      if (c !== color ? c > color : k !== key ? k > key : words[i + 2] > rank) break
    }
    for (; i < j; j -= width) {
      const c = words[j - width]
      const k = words[j - width + 1]
      if (c !== color ? c < color : k !== key ? k < key : words[j - width + 2] <= rank) break
    }
    if (i >= j) return i
    j -= width
    for (let word = 0; word < width; word++) {
      const moved = words[i + word]
      words[i + word] = words[j + word]
      words[j + word] = moved
    }
    i += width
  }
}

/** The words of a sample: color, key and rank. */
export const sampleWords = 3

/** Samples at most `most` of the rows in words `[from, to)`: one of each of as many equal parts, at random. */
export function sampleRows(
  width: RowWidth,
  words: Int32Array,
  from: number,
  to: number,
  most: number,
  seed: number,
): Int32Array {
  const rows = (to - from) / width
  const picked = Math.min(rows, most)
  const sample = new Int32Array(picked * sampleWords)
  const random = mulberry32(seed)
  for (let i = 0; i < picked; i++) {
    const first = Math.floor((i * rows) / picked)
    const next = Math.floor(((i + 1) * rows) / picked)
    const at = from + (first + below(random, next - first)) * width
    for (let word = 0; word < sampleWords; word++) sample[i * sampleWords + word] = words[at + word]
  }
  return sample
}

/**
 * Returns a row of several samples that about `wanted` rows come up to; never the greatest of two or more. Every sample
 * represents `rows` of its index.
 */
export function pivotOf(samples: readonly Int32Array[], rows: readonly number[], wanted: number): Int32Array {
  const width = 4
  const count = samples.reduce((sum, sample) => sum + sample.length / sampleWords, 0)
  const words = new Int32Array(count * width)
  let at = 0
  samples.forEach((sample, index) => {
    for (let i = 0; i < sample.length; i += sampleWords, at += width) {
      for (let word = 0; word < sampleWords; word++) words[at + word] = sample[i + word]
      words[at + sampleWords] = index
    }
  })
  sortRows(width, words, new Int32Array(words.length), 3)
  let upTo = 0
  at = 0
  for (; at < words.length - 2 * width; at += width) {
    const index = words[at + sampleWords]
    upTo += (rows[index] * sampleWords) / samples[index].length
    if (upTo >= wanted) break
  }
  return words.slice(at, at + sampleWords)
}
