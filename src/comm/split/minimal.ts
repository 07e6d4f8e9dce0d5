import type { Exchange } from '../collective-engine.js'
import { allgatherBytes } from '../exchange-patterns.js'
import { givenBounds, type SliceBounds } from '../tables/slice-bounds.js'
import type { SplitAlgorithm } from './algorithm.js'
import { alltoallWords } from './exchange-group.js'
import { splitBySorting } from './parallel-sort.js'
import { compareRows, type Rows, type RowWidth } from './rows.js'
import { sortedRows } from './sorted-rows.js'
import { steps } from './steps.js'
import { bytesOf, wordsOf } from './words.js'

/**
 * Split with nothing but everybody's own share (Siebert and Wolf 2010): a quicksort of all rows over all processes, in
 * place, each of which always holds as many rows as it brought. In every round each segment of positions that still
 * spans processes agrees on a pivot, counts who has how many rows below it, and moves those to its front. About lg P
 * rounds of three small exchanges; O(n / P) rows and O(P) counts per process.
 */
export const splitMinimally: SplitAlgorithm = (call) =>
  splitBySorting(call, async (column, rows, _total, meter) => {
    const lengths = await allgatherBytes(
      column,
      bytesOf(Int32Array.of(rows.words.length / rows.width)),
      steps.quicksort,
    )
    const starts = new Float64Array(column.count + 1)
    lengths.forEach((bytes, i) => {
      starts[i + 1] = starts[i]! + wordsOf(bytes)[0]
    })
    const bounds = givenBounds(starts)
    meter.enter('exchange')
    const held = await quicksort(column, rows, bounds)
    meter.enter('merge')
    return { rows: sortedRows(held), bounds }
  })

/** Positions `start` to `end - 1`, whose rows are those of the same positions of the sorted table in some order. */
interface Segment {
  readonly start: number
  readonly end: number
}

const pivotWords = 3

async function quicksort(column: Exchange, rows: Rows, bounds: SliceBounds): Promise<Rows> {
  const base = bounds.start(column.me)
  const limit = bounds.start(column.me + 1)
  const { width } = rows
  let { words } = rows
  let segments: Segment[] = spanning([{ start: 0, end: bounds.rows }], bounds)
  for (let round = 0; segments.length > 0; round++) {
    const step = steps.quicksort + (round + 1) * 192
    // Every process knows all segments, and speaks about those it has rows of.
    const mine = segments.map(({ start, end }) => ({
      from: Math.max(start, base),
      to: Math.min(end, limit),
    }))
    const pivots = await agreePivots(column, segments, mine, { words, width }, base, step)
    const below = mine.map(({ from, to }, s) => countBelow(words, width, from - base, to - base, pivots[s]!))
    const counts = (await allgatherBytes(column, bytesOf(Int32Array.from(below)), step + 64)).map(wordsOf)
    const next: Segment[] = []
    const outgoing = Array.from({ length: column.count }, (): number[] => [])
    segments.forEach((segment, s) => {
      const sum = counts.reduce((total, theirs) => total + theirs[s]!, 0)
      // Of a pivot that is the least, the row itself goes to the front: a segment always gets smaller.
      const inclusive = sum === 0
      const middle = segment.start + Math.max(1, sum)
      next.push({ start: segment.start, end: middle }, { start: middle, end: segment.end })
      const { from, to } = mine[s]!
      if (from >= to) return
      let front = segment.start
      let back = middle
      for (let process = 0; process < column.me; process++) {
        const held = overlap(bounds, process, segment)
        const theirs = inclusive ? (process === pivots[s]!.holder ? 1 : 0) : counts[process]![s]!
        front += theirs
        back += held - theirs
      }
      for (let position = from; position < to; position++) {
        const at = (position - base) * width
        const order = compareRows(words, at, pivots[s]!.row, 0)
        const target = order < 0 || (inclusive && order === 0) ? front++ : back++
        const list = outgoing[bounds.sliceOf(target)]!
        list.push(target)
        for (let i = 0; i < width; i++) list.push(words[at + i]!)
      }
    })
    const moved = words.slice()
    const arrived = await alltoallWords(
      column,
      outgoing.map((list) => Int32Array.from(list)),
      step + 128,
    )
    for (const list of arrived) {
      for (let at = 0; at < list.length; at += 1 + width) {
        moved.set(list.subarray(at + 1, at + 1 + width), (list[at]! - base) * width)
      }
    }
    words = moved
    segments = spanning(next, bounds)
  }
  return { words, width }
}

interface Pivot {
  /** Color, key and rank. */
  readonly row: Int32Array
  /** Process that holds the row. */
  readonly holder: number
}

/** Of every segment the weighted median of what its processes propose. */
async function agreePivots(
  column: Exchange,
  segments: readonly Segment[],
  mine: readonly { readonly from: number; readonly to: number }[],
  { words, width }: Rows,
  base: number,
  step: number,
): Promise<Pivot[]> {
  const proposed: number[] = []
  mine.forEach(({ from, to }, s) => {
    if (from >= to) return
    const at = (((from + to - 1) >> 1) - base) * width
    proposed.push(s, to - from, ...words.subarray(at, at + pivotWords))
  })
  const all = (await allgatherBytes(column, bytesOf(Int32Array.from(proposed)), step)).map(wordsOf)
  const candidates = segments.map((): { weight: number; row: Int32Array; holder: number }[] => [])
  all.forEach((list, holder) => {
    for (let at = 0; at < list.length; at += 2 + pivotWords) {
      const row = list.subarray(at + 2, at + 2 + pivotWords)
      candidates[list[at]!]!.push({ weight: list[at + 1]!, row, holder })
    }
  })
  return candidates.map((of) => {
    of.sort((a, b) => compareRows(a.row, 0, b.row, 0))
    const half = of.reduce((sum, { weight }) => sum + weight, 0) / 2
    let sum = 0
    return of.find(({ weight }) => {
      sum += weight
      return sum >= half
    })!
  })
}

function countBelow(words: Int32Array, width: RowWidth, from: number, to: number, { row }: Pivot): number {
  let below = 0
  for (let i = from; i < to; i++) if (compareRows(words, i * width, row, 0) < 0) below++
  return below
}

/** Rows of a segment that a process holds. */
function overlap(bounds: SliceBounds, process: number, { start, end }: Segment): number {
  return Math.max(0, Math.min(end, bounds.start(process + 1)) - Math.max(start, bounds.start(process)))
}

/** Segments of more than one process; the others are sorted where they are. */
function spanning(segments: readonly Segment[], bounds: SliceBounds): Segment[] {
  return segments.filter(({ start, end }) => end > start && bounds.sliceOf(start) !== bounds.sliceOf(end - 1))
}
