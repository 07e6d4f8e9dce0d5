import { type RowWidth, rowWord } from './rows.js'

/**
 * Sorts the sorted runs that lie one after the other in `words`, run k in words `[edges[k], edges[k + 1])`, into
 * `spare` of the same length, by where their keys lie between the least and the greatest: rows are dealt to about as
 * many buckets as there are rows, which then hold few rows each, and a last pass puts neighbors in order. Every run
 * goes through the buckets once from front to back, so memory is read and written in order.
 *
 * False, with `spare` as it was, where the keys are so unevenly spread that some buckets would hold too many rows.
 */
export function distributeRuns(
  width: RowWidth,
  words: Int32Array,
  edges: readonly number[],
  spare: Int32Array,
): boolean {
  const scale = scaleOf(width, words, edges)
  const next = countBuckets(width, words, scale)
  if (!isEven(next, words.length / width)) return false
  let start = 0
  for (let bucket = 0; bucket < next.length; bucket++) {
    const rows = next[bucket]!
    next[bucket] = start
    start += rows * width
  }
  deal(width, words, scale, next, spare)
  settle(width, spare)
  return true
}

/** A row's bucket is `floor(((color - leastColor) * keys + key - leastKey) * factor)`: it never falls as rows ascend. */
interface Scale {
  readonly leastColor: number
  readonly leastKey: number
  /** Keys that a color may have. */
  readonly keys: number
  readonly factor: number
  readonly buckets: number
}

/** Rows per bucket on average: few enough that most are alone, enough that the counters stay in the cache. */
const rowsPerBucket = 2
/** What the counters take must not show beside the rows: 768 KiB at most. */
const mostBuckets = 3 * 2 ** 16

function bucketsFor(rows: number): number {
  return Math.max(1, Math.min(mostBuckets, Math.ceil(rows / rowsPerBucket)))
}

/** Bytes that {@link distributeRuns} takes for a while, besides what it is given. */
export function scratchBytes(rows: number): number {
  return 4 * bucketsFor(rows)
}

/** Runs are sorted, so colors need a look at their ends only. */
function scaleOf(width: RowWidth, words: Int32Array, edges: readonly number[]): Scale {
  let leastColor = words[0]!
  let greatestColor = leastColor
  for (let run = 0; run + 1 < edges.length; run++) {
    leastColor = Math.min(leastColor, words[edges[run]!]!)
    greatestColor = Math.max(greatestColor, words[edges[run + 1]! - width]!)
  }
  let leastKey = words[rowWord.key]!
  let greatestKey = leastKey
  if (leastColor === greatestColor) {
    for (let run = 0; run + 1 < edges.length; run++) {
      leastKey = Math.min(leastKey, words[edges[run]! + rowWord.key]!)
      greatestKey = Math.max(greatestKey, words[edges[run + 1]! - width + rowWord.key]!)
    }
  } else {
    for (let at = rowWord.key; at < words.length; at += width) {
      const key = words[at]!
      if (key < leastKey) leastKey = key
      if (key > greatestKey) greatestKey = key
    }
  }
  const buckets = bucketsFor(words.length / width)
  const keys = greatestKey - leastKey + 1
  const values = (greatestColor - leastColor) * keys + keys
  // Just below, so that rounding leads to no bucket beyond the last.
  return { leastColor, leastKey, keys, factor: (buckets * (1 - 2 ** -40)) / values, buckets }
}

function countBuckets(width: RowWidth, words: Int32Array, scale: Scale): Int32Array {
  const { leastColor, leastKey, keys, factor, buckets } = scale
  const rows = new Int32Array(buckets)
  for (let at = 0; at < words.length; at += width) {
    const bucket = (((words[at]! - leastColor) * keys + (words[at + 1]! - leastKey)) * factor) | 0
    rows[bucket] = rows[bucket]! + 1
  }
  return rows
}

/** Comparisons per row that the last pass may take; random keys take about half as many as a bucket has rows. */
const mostComparisons = 16

function isEven(rows: Int32Array, count: number): boolean {
  let comparisons = 0
  for (let bucket = 0; bucket < rows.length; bucket++) comparisons += rows[bucket]! * (rows[bucket]! - 1)
  return comparisons / 2 <= mostComparisons * count
}

function deal(width: RowWidth, words: Int32Array, scale: Scale, next: Int32Array, spare: Int32Array): void {
  const { leastColor, leastKey, keys, factor } = scale
  for (let at = 0; at < words.length; at += width) {
    const color = words[at]!
    const key = words[at + 1]!
    const bucket = (((color - leastColor) * keys + (key - leastKey)) * factor) | 0
    const o = next[bucket]!
    next[bucket] = o + width
    spare[o] = color
    spare[o + 1] = key
    spare[o + 2] = words[at + 2]!
    if (width === 4) spare[o + 3] = words[at + 3]!
  }
}

/** Insertion sort of rows that are nearly in order. */
function settle(width: RowWidth, words: Int32Array): void {
  for (let at = width; at < words.length; at += width) {
    const color = words[at]!
    const key = words[at + 1]!
    const rank = words[at + 2]!
    const worldRank = width === 4 ? words[at + 3]! : 0
    let to = at
    for (; to > 0; to -= width) {
      const from = to - width
      const colorBefore = words[from]!
      const keyBefore = words[from + 1]!
      const isInOrder =
        colorBefore !== color
          ? colorBefore < color
          : keyBefore !== key
            ? keyBefore < key
            : words[from + 2]! < rank
      if (isInOrder) break
      words[to] = colorBefore
      words[to + 1] = keyBefore
      words[to + 2] = words[from + 2]!
      if (width === 4) words[to + 3] = words[from + 3]!
    }
    if (to === at) continue
    words[to] = color
    words[to + 1] = key
    words[to + 2] = rank
    if (width === 4) words[to + 3] = worldRank
  }
}
