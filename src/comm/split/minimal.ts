import { bytesOf, wordsOf } from '../../base/bytes.js'
import { below, mulberry32 } from '../../base/random.js'
import { allgatherBytes, allSent, type Exchange } from '../../calls/exchange/exchange.js'
import { evenBounds, type SliceBounds } from '../table/slice-service.js'
import { splitBySorting } from './parallel-sort.js'
import { exchangeSteps, subrange } from './process-group.js'
import { countRows, type RowWidth, type SplitRows, sortRows } from './rows.js'
import type { AwaitingAlgorithm, SplitMeter } from './split-call.js'

/**
 * Splits in minimal memory, after Siebert and Wolf 2010 (docs/split-algorithms.md#minimal): a quicksort of all rows
 * over all processes, each of which holds N / P positions. The processes of a segment of positions agree on a pivot,
 * divide their rows in place, and send both parts to their new positions. Then both halves proceed independently, until
 * each is on one process. Besides its rows, a process holds what it receives, and a few words per process of a segment.
 */
export const splitMinimally: AwaitingAlgorithm = (call) =>
  splitBySorting(
    call,
    async (column, rows, total, meter) => {
      const bounds = evenBounds(total, column.count)
      meter.enter('exchange')
      const { width } = rows
      const words = await new Quicksort(column, bounds, width, meter).sort(rows)
      meter.enter('merge')
      const spare = new Int32Array(words.length)
      meter.hold(spare)
      sortRows(width, words, spare, 3)
      meter.hold(null, spare)
      return { rows: { words, width }, bounds }
    },
    'any order',
  )

const stepsPerRound = 256
const step = { samples: 0, counts: 64, move: 128, few: 192 } as const

/** The least number of samples of all processes of a segment together, and the most of one process. */
const samplesInAll = 64
const mostSamples = 16

/**
 * Segments of a quarter of a share, and no more rows than this, are sorted by every process that has a part of them.
 */
const mostFewRows = 1024
const leastFewRows = 16

class Quicksort {
  readonly #column: Exchange
  readonly #bounds: SliceBounds
  readonly #width: RowWidth
  readonly #meter: SplitMeter
  readonly #fewRows: number
  /** The positions of this process: `#base` to `#limit - 1`. */
  readonly #base: number
  readonly #limit: number
  /** The rows at these positions. */
  #words: Int32Array = new Int32Array(0)

  constructor(column: Exchange, bounds: SliceBounds, width: RowWidth, meter: SplitMeter) {
    this.#column = column
    this.#bounds = bounds
    this.#width = width
    this.#meter = meter
    this.#base = bounds.start(column.me)
    this.#limit = bounds.start(column.me + 1)
    const share = Math.ceil(bounds.rows / column.count)
    this.#fewRows = Math.max(leastFewRows, Math.min(mostFewRows, share >>> 2))
  }

  /**
   * Returns the rows at this process's positions of the sorted table, in any order.
   *
   * @param own the rows that this process contributes, overwritten
   */
  async sort(own: SplitRows): Promise<Int32Array> {
    const column = this.#column
    // First the rows are balanced, so that every process has its share.
    const counts = await this.#allCounts(column, countRows(own), exchangeSteps.quicksort + step.counts)
    if (
      counts.every((rows, process) => rows === this.#bounds.start(process + 1) - this.#bounds.start(process))
    ) {
      this.#words = own.words
    } else {
      this.#words = new Int32Array((this.#limit - this.#base) * this.#width)
      this.#meter.hold(this.#words)
      const run = { word: 0, start: 0, counts }
      await this.#move(column, 0, own.words, [run], exchangeSteps.quicksort + step.move)
      this.#meter.hold(null, own.words)
    }
    await this.#sortSegment(0, this.#bounds.rows, 1)
    return this.#words
  }

  /** Sorts positions `start` to `end - 1` between processes; two segments share one process at most. */
  async #sortSegment(start: number, end: number, round: number): Promise<void> {
    if (start === end) return
    const first = this.#bounds.sliceOf(start)
    const last = this.#bounds.sliceOf(end - 1)
    const { me } = this.#column
    if (first === last || me < first || me > last) return
    const group = subrange(this.#column, first, last - first + 1)
    const base = exchangeSteps.quicksort + round * stepsPerRound
    if (end - start <= this.#fewRows) return this.#sortFew(group, start, end, base + step.few)

    const pivot = await this.#choosePivot(group, first, start, end, base + step.samples)
    const [from, to] = this.#wordsIn(start, end)
    const above = partitionRows(this.#width, this.#words, from, to, pivot)
    const low = await this.#allCounts(group, (above - from) / this.#width, base + step.counts)
    const high = low.map((rows, i) => this.#rowsOf(first + i, start, end) - rows)
    const middle = start + low.reduce((sum, rows) => sum + rows, 0)
    const runs = [
      { word: from, start, counts: low },
      { word: above, start: middle, counts: high },
    ]
    await this.#move(group, first, this.#words, runs, base + step.move)
    await Promise.all([
      this.#sortSegment(start, middle, round + 1),
      this.#sortSegment(middle, end, round + 1),
    ])
  }

  /**
   * Returns a row that separates the segment near the boundary of processes next to its middle, from samples of all. It
   * is never the greatest row, so that both halves are smaller.
   */
  async #choosePivot(
    group: Exchange,
    first: number,
    start: number,
    end: number,
    at: number,
  ): Promise<Int32Array> {
    const [from, to] = this.#wordsIn(start, end)
    const most = Math.min(mostSamples, Math.ceil(samplesInAll / group.count))
    const own = sampleRows(this.#width, this.#words, from, to, most, start ^ at)
    const samples = (await allgatherBytes(group, bytesOf(own), at)).map(wordsOf)
    const rows = samples.map((_, i) => this.#rowsOf(first + i, start, end))
    return pivotOf(samples, rows, this.#boundaryIn(start, end) - start)
  }

  /** Returns the boundary of two processes, of those inside a segment, that is closest to its middle. */
  #boundaryIn(start: number, end: number): number {
    const middle = Math.floor((start + end) / 2)
    const slice = this.#bounds.sliceOf(middle)
    const before = this.#bounds.start(slice)
    const after = this.#bounds.start(slice + 1)
    return after >= end || (before > start && middle - before < after - middle) ? before : after
  }

  /** Sorts a small segment: every process with a part of it gets all of it, sorts it, and retains its own part. */
  async #sortFew(group: Exchange, start: number, end: number, at: number): Promise<void> {
    const [from, to] = this.#wordsIn(start, end)
    const parts = await allgatherBytes(group, bytesOf(this.#words.subarray(from, to)), at)
    const all = new Int32Array((end - start) * this.#width)
    const spare = new Int32Array(all.length)
    this.#meter.hold(all)
    this.#meter.hold(spare)
    let filled = 0
    for (const part of parts) {
      all.set(wordsOf(part), filled)
      filled += part.byteLength >>> 2
    }
    sortRows(this.#width, all, spare, 3)
    const skipped = (Math.max(start, this.#base) - start) * this.#width
    this.#words.set(all.subarray(skipped, skipped + to - from), from)
    this.#meter.hold(null, all, spare)
  }

  /** Returns the place of this process's rows of a segment: the first word, and the one after the last. */
  #wordsIn(start: number, end: number): [number, number] {
    const from = Math.max(start, this.#base)
    const to = Math.max(from, Math.min(end, this.#limit))
    return [(from - this.#base) * this.#width, (to - this.#base) * this.#width]
  }

  #rowsOf(process: number, start: number, end: number): number {
    const { start: startOf } = this.#bounds
    return Math.max(0, Math.min(end, startOf(process + 1)) - Math.max(start, startOf(process)))
  }

  async #allCounts(group: Exchange, mine: number, at: number): Promise<Int32Array> {
    const all = await allgatherBytes(group, bytesOf(Int32Array.of(mine)), at)
    return Int32Array.from(all, (bytes) => wordsOf(bytes)[0])
  }

  #move(
    group: Exchange,
    first: number,
    from: Int32Array,
    runs: Parameters<typeof moveRuns>[2],
    at: number,
  ): Promise<void> {
    const into = { words: this.#words, width: this.#width, first, bounds: this.#bounds }
    return moveRuns(group, from, runs, into, this.#meter, at)
  }
}

/** The rows of all processes of a group that go to consecutive positions, in the order of the processes. */
interface MovingRun {
  /** The word where this process's rows begin. */
  readonly word: number
  /** The position of the first row of the first process. */
  readonly start: number
  readonly counts: Int32Array
}

interface Positions {
  readonly words: Int32Array
  readonly width: RowWidth
  /** The bounds by process of the column, of which the group is processes `first` and up. */
  readonly bounds: SliceBounds
  readonly first: number
}

/**
 * Moves runs to their positions: one message per run and pair of processes that has rows to move; both know its length
 * from the counts. The own rows are taken from `from`, which may be `into.words`: nothing is overwritten before
 * everything to send has been taken. Run i uses step `step + i`.
 *
 * @param runs at most two, by position and by word
 */
async function moveRuns(
  group: Exchange,
  from: Int32Array,
  runs: readonly MovingRun[],
  into: Positions,
  meter: SplitMeter,
  step: number,
): Promise<void> {
  const { me, count } = group
  const { words, width, first, bounds } = into
  const base = bounds.start(first + me)
  const limit = bounds.start(first + me + 1)
  /** The own rows that stay: where they are, where they go, and how many words. */
  const staying: { readonly at: number; readonly to: number; readonly length: number }[] = []
  runs.forEach(({ word, start, counts }, i) => {
    let position = start
    for (let process = 0; process < me; process++) position += counts[process]
    const end = position + counts[me]
    for (let at = word; position < end; ) {
      const dest = bounds.sliceOf(position)
      const rows = Math.min(end, bounds.start(dest + 1)) - position
      const length = rows * width
      if (dest === first + me) staying.push({ at, to: (position - base) * width, length })
      else group.send(dest - first, step + i, bytesOf(from.subarray(at, at + length)))
      at += length
      position += rows
    }
  })
  const arriving: Promise<{ readonly rows: Int32Array; readonly to: number }>[] = []
  for (const [i, { start, counts }] of runs.entries()) {
    let position = start
    for (let source = 0; source < count; source++) {
      const low = Math.max(position, base)
      position += counts[source]
      if (source === me || low >= Math.min(position, limit)) continue
      const to = (low - base) * width
      arriving.push(group.receive(source, step + i).then((bytes) => ({ rows: wordsOf(bytes), to })))
    }
  }
  const arrived = await Promise.all(arriving)
  for (const { rows } of arrived) meter.hold(rows)
  // The sent memory is borrowed until its receivers have taken it.
  await allSent(group)
  // If two parts move the same way, the one in front goes first.
  if (staying.length === 2 && staying[0].to > staying[0].at) staying.reverse()
  for (const { at, to, length } of staying) {
    if (from !== words || at !== to) words.set(from.subarray(at, at + length), to)
  }
  for (const { rows, to } of arrived) {
    words.set(rows, to)
    meter.hold(null, rows)
  }
}

/**
 * Moves the rows in words `[from, to)` that come up to `pivot`, itself included, before the others, in place and not
 * stably. Returns the first word of the others.
 */
function partitionRows(
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
const sampleWords = 3

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
