import { packWords, unpackWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { RowLocator } from './row-locator.js'
import { mergeRows, type SplitRows } from './sort/rows.js'
import type { SplitMeter } from './split-meter.js'

/**
 * The data that a group of processes has collected: all their rows, sorted, and the context counter that each process
 * drew.
 */
export interface Collected {
  readonly rows: SplitRows
  readonly counters: Int32Array
}

/**
 * Collects the sorted rows of all processes of a group on each of them, merged as they arrive
 * (docs/split-algorithms.md#conventional-and-merging). It uses Bruck's distances for any number of processes. In the
 * step of distance d a process passes on its rows of the first c = min(d, m - d) contributors, itself being the first.
 * If c < d, those rows are picked out by their owner.
 *
 * @param place index in the group of a process
 */
export async function collectRows(
  group: Exchange,
  own: SplitRows,
  counter: number,
  locator: RowLocator,
  place: (process: number) => number,
  meter: SplitMeter,
  step: number,
): Promise<Collected> {
  const { me, count } = group
  const { width } = own
  let { words } = own
  const held = [counter]
  for (let distance = 1, round = 0; distance < count; distance *= 2, round++) {
    const wanted = Math.min(distance, count - distance)
    const passed =
      wanted === distance
        ? words
        : pick({ words, width }, locator, (process) => (place(process) - me + count) % count < wanted)
    group.send(
      (me - distance + count) % count,
      step + round,
      packWords([Int32Array.from(held.slice(0, wanted)), passed]),
    )
    const bytes = await group.receive((me + distance) % count, step + round)
    const [counters, theirs] = unpackWords(bytes) as [Int32Array, Int32Array]
    meter.hold(bytes)
    for (const counter of counters) held.push(counter)
    const merged = new Int32Array(words.length + theirs.length)
    meter.hold(merged)
    mergeRows(width, words, 0, words.length, theirs, 0, theirs.length, merged, 0)
    meter.hold(null, bytes, words)
    words = merged
  }
  const counters = new Int32Array(count)
  held.forEach((drawn, i) => {
    counters[(me + i) % count] = drawn
  })
  return { rows: { words, width }, counters }
}

function pick(
  { words, width }: SplitRows,
  locator: RowLocator,
  isWanted: (process: number) => boolean,
): Int32Array {
  const picked = new Int32Array(words.length)
  let length = 0
  for (let at = 0; at < words.length; at += width) {
    if (!isWanted(locator.process(locator.worldRank({ words, width }, at)))) continue
    for (let i = 0; i < width; i++) picked[length++] = words[at + i]
  }
  return picked.subarray(0, length)
}
