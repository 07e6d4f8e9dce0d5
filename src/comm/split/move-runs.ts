import { bytesOf, wordsOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange.js'
import { allSent } from '../../calls/exchange-patterns.js'
import type { SliceBounds } from '../table/slice-bounds.js'
import type { RowWidth } from './sort/rows.js'
import type { SplitMeter } from './split-meter.js'

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
export async function moveRuns(
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
