import { packWords, unpackWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { processOf } from '../../messages/process/world-layout.js'
import type { CommTable } from '../table/distributed-table.js'
import { mergeRows, type RowWidth, rowWord, type SplitRows, sortRows } from './rows.js'
import type { SplitCall, SplitMeter, SplitParent } from './split-call.js'

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

/** Finds the world ranks of the rows of a split, and the parent's processes that host them. */
export class RowLocator {
  /** The words per row: 4 if the parent's table was distributed, since rows then carry their world ranks. */
  readonly width: RowWidth
  readonly #parent: SplitParent
  readonly #table: CommTable
  /** The index in the parent of every world process. */
  readonly #indexOf: Int32Array

  constructor(parent: SplitParent) {
    const { layout } = parent.runtime
    this.width = parent.wasDistributed ? 4 : 3
    this.#parent = parent
    this.#table = parent.table
    this.#indexOf = new Int32Array(layout.processes).fill(-1)
    let index = 0
    for (const process of parent.processes.processes) this.#indexOf[process] = index++
  }

  /** Returns the world rank of the row at word `at`. */
  worldRank({ words, width }: SplitRows, at: number): number {
    return width === 4
      ? words[at + rowWord.worldRank]
      : (this.#table.lookup(words[at + rowWord.rank]) as number)
  }

  /** Returns the index in the parent of the process that hosts a world rank. */
  process(worldRank: number): number {
    return this.#indexOf[processOf(this.#parent.runtime.layout, worldRank)]
  }
}

/** Returns the rows of the ranks hosted here that chose a color, sorted or by rank. The meter counts them as held. */
export function localRows({ parent, request, meter }: SplitCall, width: RowWidth, sorted = true): SplitRows {
  const { color, key } = request
  let rows = 0
  for (let i = 0; i < color.length; i++) if (color[i] !== -1) rows++
  const words = new Int32Array(rows * width)
  meter.hold(words)
  for (let i = 0, at = 0; i < color.length; i++) {
    if (color[i] === -1) continue
    words[at + rowWord.color] = color[i]
    words[at + rowWord.key] = key[i]
    words[at + rowWord.rank] = parent.localRanks[i]
    if (width === 4) words[at + rowWord.worldRank] = parent.worldRank(i)
    at += width
  }
  if (!sorted) return { words, width }
  const spare = new Int32Array(words.length)
  meter.hold(spare)
  // Local ranks ascend and the sort is stable, so ties are in rank order.
  sortRows(width, words, spare)
  meter.hold(null, spare)
  return { words, width }
}
