import { insertRows, mergeRows, movesOf, type RowWidth, rowWord, sortRows } from './rows.js'

/**
 * Sorts the sorted runs that lie one after the other in `words`, run k in words `[bounds[k], bounds[k + 1])`, with
 * `spare` of the same length. Returns the one of the two that holds the result.
 *
 * Chooses the method that moves rows least often. More than four runs of evenly spread keys are distributed over
 * buckets once. Otherwise merging neighbors takes ceil(lg runs) passes of unpredictable branches; radix sort takes one
 * cheaper pass per 8 bits of the range of colors and of keys. Radix sort is stable, so it needs runs whose ranks ascend
 * from run to run: then equal rows of several runs are in order already.
 */
export function sortRuns(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  const edges = bounds.filter((bound, k) => k === 0 || bound > bounds[k - 1])
  const stages = Math.ceil(Math.log2(Math.max(1, edges.length - 1)))
  if (stages < leastStages || words.length < leastRows * width) return mergeStages(width, words, edges, spare)
  if (stages >= leastStagesToDistribute && distributeRuns(width, words, edges, spare)) return spare
  return doRanksAscend(width, words, edges) && movesOf(width, words) <= stages
    ? sortRows(width, words, spare)
    : mergeStages(width, words, edges, spare)
}

/** The least number of stages, and of rows, for which another method than merging may win. */
const leastStages = 2
const leastRows = 64
/** The least number of stages for which distribution wins: it takes about as long as three. */
const leastStagesToDistribute = 3

/** Merges neighbors in pairs, stage by stage; an odd run is carried. */
function mergeStages(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  let from = words
  let to = spare
  let edges = bounds
  while (edges.length > 2) {
    const next: number[] = [edges[0]]
    for (let k = 0; k + 1 < edges.length; k += 2) {
      const start = edges[k]
      const middle = edges[k + 1]
      const end = edges[k + 2] ?? middle
      mergeRows(width, from, start, middle, from, middle, end, to, start)
      next.push(end)
    }
    edges = next
    const merged = to
    to = from
    from = merged
  }
  return from
}

function doRanksAscend(width: RowWidth, words: Int32Array, edges: readonly number[]): boolean {
  let highest = -1
  for (let run = 0; run + 1 < edges.length; run++) {
    const below = highest
    for (let at = edges[run] + rowWord.rank; at < edges[run + 1]; at += width) {
      const rank = words[at]
      if (rank < below) return false
      if (rank > highest) highest = rank
    }
  }
  return true
}

/**
 * Sorts the sorted runs that lie one after the other in `words`, run k in words `[edges[k], edges[k + 1])`, into
 * `spare` of the same length. Rows are distributed over half as many buckets as there are rows, by the place of their
 * keys between the least and the greatest. Each bucket then holds few rows, and an insertion sort orders neighbors.
 * This is done by parts of the range of values, each of as many rows as fit in the cache. A run is cut in one place per
 * part, and its rows fill the buckets from front to back.
 *
 * Returns false, with `words` unchanged, if keys are spread so unevenly that some buckets would hold too many rows.
 */
function distributeRuns(
  width: RowWidth,
  words: Int32Array,
  edges: readonly number[],
  spare: Int32Array,
): boolean {
  const scale = scaleOf(width, words, edges)
  const rows = words.length / width
  const parts = Math.ceil(rows / rowsPerPart)
  const counters = new Int32Array(bucketsFor(rows))
  const from = Int32Array.from(edges)
  const to = new Int32Array(edges.length - 1)
  for (let part = 0, at = 0; part < parts; part++) {
    const low = (scale.values / parts) * part
    const high = part + 1 === parts ? Number.POSITIVE_INFINITY : (scale.values / parts) * (part + 1)
    let length = 0
    for (let run = 0; run < to.length; run++) {
      to[run] = firstAtLeast(width, words, from[run], edges[run + 1], scale, high)
      length += to[run] - from[run]
    }
    const bucketing = bucketingOf(length / width, scale, low, scale.values / parts)
    const next = counters.subarray(0, bucketing.buckets).fill(0)
    for (let run = 0; run < to.length; run++) count(width, words, from[run], to[run], bucketing, next)
    if (!isEven(next, length / width)) return false
    for (let bucket = 0, start = at; bucket < next.length; bucket++) {
      const size = next[bucket] * width
      next[bucket] = start
      start += size
    }
    for (let run = 0; run < to.length; run++)
      scatterRows(width, words, from[run], to[run], bucketing, next, spare)
    insertRows({ width, leading: 3 }, spare, at, at + length)
    from.set(to)
    at += length
  }
  return true
}

/** The scale of the values of rows: `(color - leastColor) * keys + key - leastKey` never falls as rows ascend. */
interface Scale {
  readonly leastColor: number
  readonly leastKey: number
  /** The number of keys that a color may have, and the number of values. */
  readonly keys: number
  readonly values: number
}

/** The division into buckets: a row's bucket is `floor((value - low) * factor)`. */
interface Bucketing extends Scale {
  readonly low: number
  readonly factor: number
  readonly buckets: number
}

/** The number of rows distributed together: 1.5 MiB. */
const rowsPerPart = 2 ** 17
/**
 * The average number of rows per bucket: few enough that most are in order, enough that the counters stay in the cache.
 */
const rowsPerBucket = 2
/** The most buckets. It limits the counters to 512 KiB, which is small compared with the rows. */
const mostBuckets = 2 ** 17

function bucketsFor(rows: number): number {
  return Math.max(1, Math.min(mostBuckets, Math.ceil(rows / rowsPerBucket)))
}

/** Returns the bytes that {@link distributeRuns} allocates temporarily. */
export function scratchBytes(rows: number): number {
  return 4 * bucketsFor(rows)
}

/**
 * Returns the scale of the rows. Runs are sorted, so only their ends are read for colors, and for keys if there is one
 * color.
 */
function scaleOf(width: RowWidth, words: Int32Array, edges: readonly number[]): Scale {
  let leastColor = words[0]
  let greatestColor = leastColor
  let leastKey = words[rowWord.key]
  let greatestKey = leastKey
  for (let run = 0; run + 1 < edges.length; run++) {
    const first = edges[run]
    const last = edges[run + 1] - width
    leastColor = Math.min(leastColor, words[first])
    greatestColor = Math.max(greatestColor, words[last])
    leastKey = Math.min(leastKey, words[first + rowWord.key])
    greatestKey = Math.max(greatestKey, words[last + rowWord.key])
  }
  if (leastColor !== greatestColor) {
    for (let at = rowWord.key; at < words.length; at += width) {
      const key = words[at]
      if (key < leastKey) leastKey = key
      if (key > greatestKey) greatestKey = key
    }
  }
  const keys = greatestKey - leastKey + 1
  return { leastColor, leastKey, keys, values: (greatestColor - leastColor) * keys + keys }
}

function bucketingOf(rows: number, scale: Scale, low: number, values: number): Bucketing {
  const buckets = bucketsFor(rows)
  // The factor is slightly smaller, so that rounding never gives a bucket beyond the last.
  return { ...scale, low, factor: (buckets * (1 - 2 ** -40)) / values, buckets }
}

/** Returns the first word, of rows from `from` to `to`, of a row whose value is at least `value`. */
function firstAtLeast(
  width: RowWidth,
  words: Int32Array,
  from: number,
  to: number,
  { leastColor, leastKey, keys }: Scale,
  value: number,
): number {
  let low = from / width
  let high = to / width
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = middle * width
    if ((words[at] - leastColor) * keys + (words[at + 1] - leastKey) < value) low = middle + 1
    else high = middle
  }
  return low * width
}

function count(
  width: RowWidth,
  words: Int32Array,
  from: number,
  to: number,
  { leastColor, leastKey, keys, low, factor }: Bucketing,
  rows: Int32Array,
): void {
  for (let at = from; at < to; at += width) {
    const value = (words[at] - leastColor) * keys + (words[at + 1] - leastKey)
    const bucket = ((value - low) * factor) | 0
    rows[bucket] = rows[bucket] + 1
  }
}

/** The most comparisons per row that the last pass may take; random keys take about one. */
const mostComparisons = 8

function isEven(rows: Int32Array, total: number): boolean {
  let comparisons = 0
  for (let bucket = 0; bucket < rows.length; bucket++) comparisons += rows[bucket] * (rows[bucket] - 1)
  return comparisons / 2 <= mostComparisons * total
}

function scatterRows(
  width: RowWidth,
  words: Int32Array,
  from: number,
  to: number,
  { leastColor, leastKey, keys, low, factor }: Bucketing,
  next: Int32Array,
  spare: Int32Array,
): void {
  for (let at = from; at < to; at += width) {
    const color = words[at]
    const key = words[at + 1]
    const bucket = (((color - leastColor) * keys + (key - leastKey) - low) * factor) | 0
    const o = next[bucket]
    next[bucket] = o + width
    spare[o] = color
    spare[o + 1] = key
    spare[o + 2] = words[at + 2]
    if (width === 4) spare[o + 3] = words[at + 3]
  }
}
