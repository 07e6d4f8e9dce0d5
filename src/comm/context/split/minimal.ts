import { bytesOf, wordsOf } from '../../../base/bytes.js'
import { GrowingInt32Array } from '../../../base/growing-array.js'
import type { Exchange } from '../../calls/exchange.js'
import { bcastBytes } from '../../calls/exchange-patterns.js'
import { evenBounds, type SliceBounds } from '../../table/slice-bounds.js'
import { exchangeSteps } from './exchange/exchange-steps.js'
import { subrange } from './exchange/process-group.js'
import { splitBySorting } from './parallel-sort.js'
import type { AwaitingAlgorithm } from './plan/split-call.js'
import type { SplitMeter } from './plan/split-meter.js'
import { compareRows, type RowWidth } from './rows/rows.js'
import { sortRows } from './rows/sort-rows.js'

/**
 * Split in minimal memory (Siebert and Wolf 2010): a quicksort of all rows over all processes, each of which holds
 * N / P positions. The processes of a segment of positions agree on a pivot, count the rows below it by a scan, and
 * move those to the front; then both halves proceed independently. O(lg N) rounds with high probability, of O(lg P)
 * messages each; besides rows, a process holds O(1) words per segment, and takes part in at most two at a time.
 */
export const splitMinimally: AwaitingAlgorithm = (call) =>
  splitBySorting(call, async (column, rows, total, meter) => {
    const bounds = evenBounds(total, column.count)
    meter.enter('exchange')
    const quicksort = new Quicksort(column, bounds, rows.width, meter)
    const { width } = rows
    const words = await quicksort.sort(rows.words)
    meter.enter('merge')
    const spare = new Int32Array(words.length)
    meter.hold(spare)
    sortRows(width, words, spare, 3)
    meter.hold(null, spare)
    return { rows: { words, width }, bounds }
  })

const pivotWords = 3
/** Steps per round. */
const stepsPerRound = 256
const step = { pivot: 0, scan: 64, move: 128 } as const

class Quicksort {
  readonly #column: Exchange
  readonly #bounds: SliceBounds
  readonly #width: RowWidth
  readonly #meter: SplitMeter
  /** Positions of this process: `#base` to `#limit - 1`. */
  readonly #base: number
  readonly #limit: number
  /** The rows at these positions. */
  #words = new Int32Array(0)

  constructor(column: Exchange, bounds: SliceBounds, width: RowWidth, meter: SplitMeter) {
    this.#column = column
    this.#bounds = bounds
    this.#width = width
    this.#meter = meter
    this.#base = bounds.start(column.me)
    this.#limit = bounds.start(column.me + 1)
  }

  /** The rows at my positions of the sorted table, in any order. @param words the rows that I contribute */
  async sort(words: Int32Array): Promise<Int32Array> {
    const width = this.#width
    this.#words = new Int32Array((this.#limit - this.#base) * width)
    this.#meter.hold(this.#words)
    // First the rows are balanced, so that every process has its share.
    const { before } = await scanned(this.#column, words.length / width, exchangeSteps.quicksort + step.scan)
    const items = new GrowingInt32Array(16)
    for (let at = 0, position = before; at < words.length; at += width) {
      this.#push(items, position++, words, at)
    }
    this.#meter.hold(null, words)
    await this.#move(this.#column, 0, items, exchangeSteps.quicksort + step.move)
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
    const width = this.#width

    const position = start + (pivotHash(start, end, round) % (end - start))
    const holder = this.#bounds.sliceOf(position) - first
    const at = (position - this.#base) * width
    const own = group.me === holder ? bytesOf(this.#words.slice(at, at + pivotWords)) : null
    const pivot = wordsOf(await bcastBytes(group, holder, own, base + step.pivot))

    const from = Math.max(start, this.#base)
    const to = Math.max(from, Math.min(end, this.#limit))
    const counted = await scanned(group, this.#countBelow(from, to, pivot), base + step.scan)
    // A pivot that is the least row moves to the front itself, so that both halves are smaller.
    const isLeast = counted.sum === 0
    const sum = isLeast ? 1 : counted.sum
    const before = isLeast ? (group.me > holder ? 1 : 0) : counted.before
    let front = start + before
    let back = start + sum + (from - start) - before
    const items = new GrowingInt32Array(16)
    for (let row = from; row < to; row++) {
      const word = (row - this.#base) * width
      const order = compareRows(this.#words, word, pivot, 0)
      this.#push(items, order < 0 || (isLeast && order === 0) ? front++ : back++, this.#words, word)
    }
    await this.#move(group, first, items, base + step.move)
    await Promise.all([
      this.#sortSegment(start, start + sum, round + 1),
      this.#sortSegment(start + sum, end, round + 1),
    ])
  }

  #push(items: GrowingInt32Array, position: number, words: Int32Array, at: number): void {
    items.push(position)
    for (let i = 0; i < this.#width; i++) items.push(words[at + i]!)
  }

  #countBelow(from: number, to: number, pivot: Int32Array): number {
    let below = 0
    for (let row = from; row < to; row++) {
      if (compareRows(this.#words, (row - this.#base) * this.#width, pivot, 0) < 0) below++
    }
    return below
  }

  /**
   * Sends rows to the processes of their positions, and stores mine. No process knows which others have rows for it,
   * so partners are fixed: in round r, all rows whose remaining distance has bit r set move by that distance.
   */
  async #move(group: Exchange, first: number, items: GrowingInt32Array, base: number): Promise<void> {
    const { me, count } = group
    const itemWords = 1 + this.#width
    let held = items
    for (let distance = 1, round = 0; distance < count; distance *= 2, round++) {
      const staying = new GrowingInt32Array(16)
      const moving = new GrowingInt32Array(16)
      for (let at = 0; at < held.length; at += itemWords) {
        const item = held.view().subarray(at, at + itemWords)
        const dest = this.#bounds.sliceOf(item[0]!) - first
        const isMoving = (((dest - me + count) % count) & distance) !== 0
        ;(isMoving ? moving : staying).append(item)
      }
      this.#meter.hold(held.view())
      this.#meter.hold(moving.view())
      group.send((me + distance) % count, base + round, bytesOf(moving.view()))
      staying.append(wordsOf(await group.receive((me - distance + count) % count, base + round)))
      this.#meter.hold(null, held.view(), moving.view())
      held = staying
    }
    for (let at = 0; at < held.length; at += itemWords) {
      const item = held.view().subarray(at, at + itemWords)
      this.#words.set(item.subarray(1), (item[0]! - this.#base) * this.#width)
    }
  }
}

/** The sum of all values, and that of the values before mine: O(1) words and O(lg count) messages. */
async function scanned(
  group: Exchange,
  mine: number,
  base: number,
): Promise<{ readonly before: number; readonly sum: number }> {
  const { me, count } = group
  let upToMe = mine
  let round = 0
  for (let distance = 1; distance < count; distance *= 2, round++) {
    if (me + distance < count) group.send(me + distance, base + round, bytesOf(Int32Array.of(upToMe)))
    if (me >= distance) upToMe += wordsOf(await group.receive(me - distance, base + round))[0]!
  }
  const last = me === count - 1 ? bytesOf(Int32Array.of(upToMe)) : null
  const [sum] = wordsOf(await bcastBytes(group, count - 1, last, base + round)) as unknown as [number]
  return { before: upToMe - mine, sum }
}

/** A pseudo-random number, the same on all processes. */
function pivotHash(start: number, end: number, round: number): number {
  let hash = Math.imul(start ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul((hash ^ (hash >>> 15) ^ end) + round, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
