import { groupsOfTable } from '../../src/comm/split/conventional.js'
import { evenTargets, Seeker, SplitterOwner, verdictWords } from '../../src/comm/split/exact-cuts.js'
import { mergeRows, rowsBetween, type SplitRows, sortRows } from '../../src/comm/split/rows.js'
import { sortRuns } from '../../src/comm/split/sort-runs.js'
import type { PhaseTable } from './paper-table.js'

/**
 * The method of Sack 2011 §2.4, on one machine (docs/study/split-measurements.md): the p
 * sorters run one after another and a phase takes as long as its slowest sorter; the blocks are collected by
 * two processes, which move and merge the volume of every stage; data moves in memory. One color, random
 * keys, 12-byte entries; p is a power of two.
 */

/** Seconds on the critical path of a split by parallel sort with distributed tables, without latency. */
export interface SorterRow extends PhaseTable<number> {
  readonly entries: number
  readonly sorters: number
  /**
   * Rounds of the search for splitters, and messages on the critical path (docs/split-algorithms.md#costs).
   */
  readonly rounds: number
  readonly messages: number
}

const width = 3

/**
 * Sorted lists of one size, one after another: ranks ascend from list to list. {@link halved} consumes them.
 */
export interface Lists {
  readonly entries: number
  readonly count: number
  readonly words: Int32Array
  /** As long as `words`. */
  readonly spare: Int32Array
}

export function randomLists(entries: number, count: number): Lists {
  const words = new Int32Array(entries * width)
  const rows = entries / count
  const spare = new Int32Array(words.length)
  let state = 12345
  for (let list = 0; list < count; list++) {
    const own = words.subarray(list * rows * width, (list + 1) * rows * width)
    for (let i = 0, at = 0; i < rows; i++, at += width) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      own[at + 1] = state
      own[at + 2] = list * rows + i
    }
    sortRows(width, own, spare.subarray(0, own.length))
  }
  return { entries, count, words, spare }
}

/** Half as many lists, twice as long. */
export function halved({ entries, count, words, spare }: Lists): Lists {
  const length = (entries / count) * width
  for (let list = 0; list < count; list += 2) {
    const start = list * length
    mergeRows(width, words, start, start + length, words, start + length, start + 2 * length, spare, start)
  }
  return { entries, count: count / 2, words: spare, spare: words }
}

/** One row of the table with as many sorters as there are lists. */
export function measureSorters(lists: Lists, runs: number): SorterRow {
  const { entries, count: sorters } = lists
  const rows = entries / sorters
  const all = rowsOf(lists)
  const received = new Int32Array(rows * width)
  const spare = new Int32Array(rows * width)
  const collects: number[] = []
  const searches: number[] = []
  // By sorter: a disturbed run affects one sorter only.
  const exchanges = all.map((): number[] => [])
  const merges = all.map((): number[] => [])
  let rounds = 0
  for (let run = 0; run < runs; run++) {
    collects.push(stages(all[0], all[1], rows, spare, received))
    let found!: Search
    searches.push(secondsOf(() => (found = search(all, entries))) / sorters)
    rounds = found.rounds
    let below: Int32Array | undefined
    for (let k = 0; k < sorters; k++) {
      const bounds = [0]
      exchanges[k].push(
        secondsOf(() => {
          found.seekers.forEach(({ cuts }, i) => {
            const piece = rowsBetween(all[i], cuts[k], cuts[k + 1])
            const at = bounds[bounds.length - 1]
            received.set(piece, at)
            bounds.push(at + piece.length)
          })
        }),
      )
      let slice: Int32Array = received
      merges[k].push(secondsOf(() => (slice = sortRuns(width, received, bounds, spare))))
      requireSlice(slice, bounds[bounds.length - 1] === rows * width, below)
      below = slice.slice(-width)
    }
  }
  const log = Math.ceil(Math.log2(sorters))
  const times = {
    collect: middle(collects),
    splitters: middle(searches),
    exchange: Math.max(...exchanges.map(middle)),
    merge: Math.max(...merges.map(middle)),
  }
  return {
    entries,
    sorters,
    rounds,
    messages: Math.ceil(Math.log2(rows)) + 2 * log + (2 * rounds + 2) * log + (sorters - 1),
    ...times,
    total: times.collect + times.splitters + times.exchange + times.merge,
  }
}

/**
 * Seconds of a split that merges at every stage (docs/split-algorithms.md#conventional-and-merging), of two
 * lists.
 */
export function measureMerging(lists: Lists, runs: number): number {
  const [own, peer] = rowsOf(lists) as [SplitRows, SplitRows]
  const received = new Int32Array(own.words.length)
  const { spare, entries } = lists
  const samples = Array.from({ length: runs }, () => stages(own, peer, entries, received, spare))
  requireSlice(spare, true, undefined)
  return middle(samples)
}

/** Seconds of our conventional split (B1): every stage doubles the rows, then all are sorted. */
export function measureConventional({ entries, words, spare }: Lists, runs: number): number {
  const samples = Array.from({ length: runs }, () => {
    let members!: Int32Array
    const took = secondsOf(() => {
      spare.set(words.subarray(0, width))
      for (let h = 1; h < entries; h *= 2) {
        spare.set(words.subarray(h * width, Math.min(2 * h, entries) * width), h * width)
      }
      const color = new Int32Array(entries)
      const key = new Int32Array(entries)
      for (let i = 0, at = 0; i < entries; i++, at += width) {
        color[i] = spare[at]
        key[i] = spare[at + 1]
      }
      ;({ members } = groupsOfTable({ color, key }))
    })
    for (let i = 1; i < entries; i++) {
      if (spare[members[i - 1] * width + 1] > spare[members[i] * width + 1]) throw wrong()
    }
    return took
  })
  return middle(samples)
}

/** Stages of two processes: each moves h rows and merges them with its own h, until all `rows` are merged. */
function stages(
  own: SplitRows,
  peer: SplitRows,
  rows: number,
  received: Int32Array,
  merged: Int32Array,
): number {
  return secondsOf(() => {
    for (let h = 1; 2 * h <= rows; h *= 2) {
      received.set(rowsBetween(peer, 0, h))
      mergeRows(width, own.words, 0, h * width, received, 0, h * width, merged, 0)
    }
  })
}

interface Search {
  readonly seekers: Seeker[]
  readonly rounds: number
}

function search(lists: readonly SplitRows[], entries: number): Search {
  const p = lists.length
  const targets = evenTargets(entries, p)
  const seekers = lists.map((rows) => new Seeker(rows, targets))
  const owners = lists.map((_, k) => new SplitterOwner(targets[k]))
  while (!seekers[0].isDone) {
    const answers = seekers.map((seeker) => seeker.answers())
    const verdicts = new Int32Array(p * verdictWords)
    owners.forEach((owner, k) => {
      verdicts.set(owner.decide(answers.map((of) => of[k])), k * verdictWords)
    })
    for (const seeker of seekers) seeker.apply(verdicts)
  }
  return { seekers, rounds: Math.max(...owners.map(({ rounds }) => rounds)) }
}

function rowsOf({ entries, count, words }: Lists): SplitRows[] {
  const length = (entries / count) * width
  return Array.from({ length: count }, (_, i) => ({
    width,
    words: words.subarray(i * length, (i + 1) * length),
  }))
}

/** A slice is wrong if it is not sorted, has another length, or begins below the end of the previous one. */
function requireSlice(slice: Int32Array, isFull: boolean, below: Int32Array | undefined): void {
  const before = (a: Int32Array, i: number, b: Int32Array, j: number) =>
    a[i + 1] < b[j + 1] || (a[i + 1] === b[j + 1] && a[i + 2] < b[j + 2])
  let isRight = isFull
  for (let at = width; at < slice.length; at += width) isRight &&= before(slice, at - width, slice, at)
  if (below !== undefined) isRight &&= before(below, 0, slice, 0)
  if (!isRight) throw wrong()
}

function wrong(): Error {
  return new Error('the sorted rows are not in order')
}

function secondsOf(work: () => void): number {
  const begin = performance.now()
  work()
  return (performance.now() - begin) / 1000
}

/** The median; of an even number of samples the higher one. */
function middle(samples: readonly number[]): number {
  return [...samples].sort((a, b) => a - b)[samples.length >> 1]
}
