import { bytesOf, wordsOf } from '../../base/bytes.js'
import { packWords, unpackWords } from '../../base/packing.js'
import { allgatherBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { evenBounds, type SliceBounds } from '../table/slice-service.js'
import { alltoallWords, exchangeSteps } from './process-group.js'
import { compareRows, countRows, type RowWidth, rowsBelow, type SplitRows, sortRows } from './rows.js'

const stepsPerRound = 128

export interface Cuts {
  /** The first row of every slice in the own list, then its length: `sorters + 1` of them. */
  readonly cuts: Int32Array
  /** The places where the slices begin in the whole table. */
  readonly bounds: SliceBounds
}

/**
 * The number of samples of all sorters together, if each has at least `leastSamples`; then the limits of the rows in
 * question that an owner requests.
 */
const samplesInAll = 2048
const leastSamples = 8
const mostFewRows = 8192
const leastFewRows = 64

/**
 * Cuts slices that differ by at most one row, found by the search for exact splitters. Regular samples narrow it down
 * first; then two exchanges per round halve what remains, until there are few rows.
 */
export async function exactCuts(column: Exchange, rows: SplitRows, total: number): Promise<Cuts> {
  const targets = evenTargets(total, column.count)
  const seeker = new Seeker(rows, targets)
  // The windows of all splitters together are no more than a share.
  const fewRows = Math.max(leastFewRows, Math.min(mostFewRows, Math.ceil(total / column.count)))
  const owner = new SplitterOwner(targets[column.me], fewRows)
  const most = Math.floor(samplesInAll / column.count)
  if (column.count > 1 && most >= leastSamples) await narrow(column, rows, targets, seeker, most)
  for (let round = 0; !seeker.isDone; round++) {
    const step = exchangeSteps.splitters + round * stepsPerRound
    const answers = await alltoallWords(column, seeker.answers(), step)
    seeker.apply(await verdictsOfAll(column, owner.decide(answers), step + stepsPerRound / 2))
  }
  return { cuts: seeker.cuts, bounds: evenBounds(total, column.count) }
}

async function narrow(
  column: Exchange,
  rows: SplitRows,
  targets: Float64Array,
  seeker: Seeker,
  most: number,
): Promise<void> {
  const own = packWords([Int32Array.of(countRows(rows)), regularSample(rows, most)])
  const all = (await allgatherBytes(column, own, exchangeSteps.samples)).map(unpackWords)
  const lengths = all.map(([length]) => length[0])
  const samples = all.map(([, sample]) => sample)
  sampledWindows(rows, samples, lengths, targets).forEach(({ from, to }, k) => {
    if (k < column.count && targets[k] > 0) seeker.narrow(k, from, to)
  })
}

async function verdictsOfAll(column: Exchange, verdict: Int32Array, step: number): Promise<Int32Array> {
  const all = new Int32Array(column.count * verdictWords)
  const verdicts = await allgatherBytes(column, bytesOf(verdict), step)
  verdicts.forEach((bytes, k) => {
    all.set(wordsOf(bytes), k * verdictWords)
  })
  return all
}

/**
 * Exact splitters by weighted medians (Saukas and Song; docs/split-algorithms.md#exact-splitters), as two state
 * machines that send no messages themselves. Every sorter has a sorted list; splitter k, owned by sorter k, must have
 * exactly `targets[k]` rows of all lists below it. A **seeker** answers for its list; an **owner** decides for its
 * splitter. One round is two exchanges: every seeker to every owner (`answers`), every owner to all (`verdict`). When
 * few rows remain in question, the owner requests all of them, and the next verdict is the last.
 */

/** The words of a pivot, the part of a row that orders it. */
const pivotWords = 3

/** The words that an owner sends to all: what to do with the window, then the next pivot. */
const verdictWord = { status: 0, pivot: 1 } as const
export const verdictWords = 1 + pivotWords

/**
 * The status of a verdict. `probe`: the first pivot. `left`, `right`: its window was too far right, or left. `done`:
 * the last pivot was the splitter.
 */
const status = { probe: 0, left: 1, right: 2, done: 3, idle: 4 } as const
/** Added to a status if the next answer is the window, without a pivot. */
const gathering = 8

/**
 * The words that a seeker sends to an owner: rows below the pivot, whether the pivot is its own, and a proposal for
 * either half.
 */
const answerWord = { below: 0, left: 1, right: 1 + 1 + pivotWords } as const
const answerWords = 1 + 2 * (1 + pivotWords)

/**
 * Returns the targets that all processes of a column search: splitter k has `targets[k]` rows below it; 0 to `sorters`.
 */
export function evenTargets(rows: number, sorters: number): Float64Array {
  return Float64Array.from({ length: sorters + 1 }, (_, k) => Math.floor((k * rows) / sorters))
}

/** A sorter's list in the search for all splitters. */
export class Seeker {
  /** The row at which each slice begins in this list; the last is its length. Final once all splitters are done. */
  readonly cuts: Int32Array
  readonly #rows: SplitRows
  readonly #sorters: number
  readonly #low: Int32Array
  readonly #high: Int32Array
  readonly #below: Int32Array
  readonly #equal: Uint8Array
  readonly #open: Uint8Array
  /** The splitters whose owner has requested the window. */
  readonly #gathers: Uint8Array

  constructor(rows: SplitRows, targets: Float64Array) {
    const sorters = targets.length - 1
    const length = countRows(rows)
    this.#rows = rows
    this.#sorters = sorters
    this.cuts = new Int32Array(sorters + 1)
    this.cuts[sorters] = length
    this.#low = new Int32Array(sorters)
    this.#high = new Int32Array(sorters).fill(length)
    this.#below = new Int32Array(sorters)
    this.#equal = new Uint8Array(sorters)
    this.#gathers = new Uint8Array(sorters)
    // A target of 0 needs no search: its cut is 0 everywhere.
    this.#open = Uint8Array.from({ length: sorters }, (_, k) => (targets[k] > 0 ? 1 : 0))
  }

  get isDone(): boolean {
    return !this.#open.includes(1)
  }

  /** Narrows splitter k to rows of this list from `from` on and below `to`, before the first answers. */
  narrow(k: number, from: number, to: number): void {
    this.#low[k] = from
    this.#high[k] = to
  }

  /** Returns the answers to all owners, by splitter; empty for those that are done. */
  answers(): Int32Array[] {
    return Array.from({ length: this.#sorters }, (_, k) => {
      if (this.#open[k] === 0) return new Int32Array(0)
      if (this.#gathers[k] === 1) return this.#window(k)
      const answer = new Int32Array(answerWords)
      const below = this.#below[k]
      answer[answerWord.below] = below
      this.#propose(answer, answerWord.left, this.#low[k], Math.min(this.#high[k], below))
      this.#propose(answer, answerWord.right, Math.max(this.#low[k], below + this.#equal[k]), this.#high[k])
      return answer
    })
  }

  /** Applies the verdicts of all owners, in the order of their splitters. */
  apply(verdicts: Int32Array): void {
    for (let k = 0; k < this.#sorters; k++) {
      if (this.#open[k] === 0) continue
      const at = k * verdictWords
      const word = verdicts[at + verdictWord.status]
      const decision = word & ~gathering
      if (decision === status.done) {
        this.#open[k] = 0
        // The pivot is that of the verdict before this one or, for a window, this one's.
        this.cuts[k] =
          this.#gathers[k] === 1 ? rowsBelow(this.#rows, verdicts, at + verdictWord.pivot) : this.#below[k]
        continue
      }
      if (decision === status.left) this.#high[k] = Math.min(this.#high[k], this.#below[k])
      if (decision === status.right) this.#low[k] = Math.max(this.#low[k], this.#below[k] + this.#equal[k])
      if ((word & gathering) !== 0) {
        this.#gathers[k] = 1
        continue
      }
      const { words, width } = this.#rows
      const below = rowsBelow(this.#rows, verdicts, at + verdictWord.pivot)
      const isMine =
        below * width < words.length &&
        compareRows(words, below * width, verdicts, at + verdictWord.pivot) === 0
      this.#below[k] = below
      this.#equal[k] = isMine ? 1 : 0
    }
  }

  /** Returns the first row of a window, then its rows. */
  #window(k: number): Int32Array {
    const low = this.#low[k]
    const rows = Math.max(0, this.#high[k] - low)
    const { words, width } = this.#rows
    const answer = new Int32Array(1 + rows * pivotWords)
    answer[0] = low
    for (let i = 0, to = 1; i < rows; i++, to += pivotWords) {
      const row = (low + i) * width
      for (let word = 0; word < pivotWords; word++) answer[to + word] = words[row + word]
    }
    return answer
  }

  /** Writes weight and median of rows `low` to `high - 1`. */
  #propose(answer: Int32Array, at: number, low: number, high: number): void {
    const weight = Math.max(0, high - low)
    answer[at] = weight
    if (weight === 0) return
    const { words, width } = this.#rows
    const row = (low + ((weight - 1) >> 1)) * width
    for (let i = 0; i < pivotWords; i++) answer[at + 1 + i] = words[row + i]
  }
}

export class SplitterOwner {
  /** The rounds of answers so far, without the first proposals. */
  rounds = 0
  /** The largest share of the rows in question that a round has left over; 3/4 at most. */
  worstRemainder = 0
  readonly #target: number
  readonly #fewRows: number
  #state: 'idle' | 'begun' | 'probing' | 'gathering' | 'done'
  #weight = 0

  /** @param fewRows requests all rows in question once they are no more than this; 0: never */
  constructor(target: number, fewRows = 0) {
    this.#target = target
    this.#fewRows = fewRows
    this.#state = target > 0 ? 'begun' : 'idle'
  }

  /** Returns the verdict on one answer of every seeker; seekers that are done have sent nothing. */
  decide(answers: readonly Int32Array[]): Int32Array {
    const verdict = new Int32Array(verdictWords)
    if (this.#state === 'idle' || this.#state === 'done') {
      verdict[verdictWord.status] = status.idle
      return verdict
    }
    if (this.#state === 'begun') {
      // There is no pivot yet, so nothing is below it and everything is on the right.
      this.#state = 'probing'
      this.#weight = this.#choose(answers, answerWord.right, verdict)
      this.#gatherIfFew(verdict)
      return verdict
    }
    if (this.#state === 'gathering') {
      this.#state = 'done'
      verdict[verdictWord.status] = status.done
      verdict.set(splitterIn(answers, this.#target), verdictWord.pivot)
      return verdict
    }
    this.rounds++
    let below = 0
    for (const answer of answers) below += answer[answerWord.below]
    if (below === this.#target) {
      this.#state = 'done'
      verdict[verdictWord.status] = status.done
      return verdict
    }
    const isLeft = below > this.#target
    verdict[verdictWord.status] = isLeft ? status.left : status.right
    const before = this.#weight
    this.#weight = this.#choose(answers, isLeft ? answerWord.left : answerWord.right, verdict)
    this.worstRemainder = Math.max(this.worstRemainder, this.#weight / before)
    this.#gatherIfFew(verdict)
    return verdict
  }

  #gatherIfFew(verdict: Int32Array): void {
    if (this.#weight > this.#fewRows) return
    this.#state = 'gathering'
    verdict[verdictWord.status] = verdict[verdictWord.status] | gathering
  }

  /** Writes the weighted median of the proposals at word `at` as the next pivot; returns their weight. */
  #choose(answers: readonly Int32Array[], at: number, verdict: Int32Array): number {
    const proposals = answers.filter((answer) => answer[at] > 0)
    proposals.sort((a, b) => compareRows(a, at + 1, b, at + 1))
    let weight = 0
    for (const proposal of proposals) weight += proposal[at]
    let sum = 0
    for (const proposal of proposals) {
      sum += proposal[at]
      if (2 * sum < weight) continue
      verdict.set(proposal.subarray(at + 1, at + 1 + pivotWords), verdictWord.pivot)
      break
    }
    return weight
  }
}

/** Returns the row with `target` rows below it, from all windows. Rows below the windows count, rows above do not. */
function splitterIn(windows: readonly Int32Array[], target: number): Int32Array {
  let below = 0
  let length = 0
  for (const window of windows) {
    below += window[0]
    length += window.length - 1
  }
  const rows = new Int32Array(length)
  let at = 0
  for (const window of windows) {
    rows.set(window.subarray(1), at)
    at += window.length - 1
  }
  sortRows(pivotWords, rows, new Int32Array(length), pivotWords)
  const from = (target - below) * pivotWords
  return rows.subarray(from, from + pivotWords)
}

const sampleWords = 3

/** Samples about `most` rows of a sorted list at regular distances. */
export function regularSample(rows: SplitRows, most: number): Int32Array {
  const length = countRows(rows)
  const picked = Math.min(length, most)
  const words = new Int32Array(picked * sampleWords)
  for (let i = 0; i < picked; i++) {
    const at = sampledRow(i, picked, length) * rows.width
    for (let word = 0; word < sampleWords; word++) words[i * sampleWords + word] = rows.words[at + word]
  }
  return words
}

/** Returns the row of a list of `length` rows that is sample i of `picked`. */
function sampledRow(i: number, picked: number, length: number): number {
  return Math.floor(((2 * i + 1) * length) / (2 * picked))
}

/** The rows of the own list, from one sample up to another, between which a splitter is. */
interface Window {
  readonly from: number
  readonly to: number
}

/**
 * Returns windows of the own list for splitters with `targets` rows of all lists below them. They follow from the
 * regular samples of all lists of `lengths` rows. A sample at row i of its list has i rows of that list below it. Of
 * another list it has at least the rows up to that list's last sample below, and at most those up to its next.
 *
 * @param targets ascending
 */
export function sampledWindows(
  mine: SplitRows,
  samples: readonly Int32Array[],
  lengths: ArrayLike<number>,
  targets: Float64Array,
): Window[] {
  const sorted = inOrder(samples)
  const counts = samples.map((words) => words.length / sampleWords)
  /** The number of samples of every list that are below the current one. */
  const passed = new Int32Array(samples.length)
  const mostIn = (list: number) => {
    const next = passed[list]
    return next < counts[list] ? sampledRow(next, counts[list], lengths[list]) : lengths[list]
  }
  const leastIn = (list: number) =>
    passed[list] === 0 ? 0 : sampledRow(passed[list] - 1, counts[list], lengths[list]) + 1
  // The most and the least number of rows below the current sample. Both ascend from sample to sample.
  let most = 0
  let least = 0
  for (let list = 0; list < samples.length; list++) most += mostIn(list)
  const from = new Int32Array(targets.length)
  const to = new Int32Array(targets.length).fill(countRows(mine))
  let bounded = 0
  let begun = 0
  for (let at = 0; at < sorted.length; at += sortedWords) {
    const list = sorted[at + sampleWords]
    // A sample has exactly the rows in front of it in its own list below it.
    const atLeast = least - leastIn(list) + mostIn(list)
    for (; begun < targets.length && most > targets[begun]; begun++) {
      if (at > 0) from[begun] = rowsBelow(mine, sorted, at - sortedWords)
    }
    for (; bounded < targets.length && atLeast > targets[bounded]; bounded++) {
      to[bounded] = rowsBelow(mine, sorted, at)
    }
    least -= leastIn(list)
    most -= mostIn(list)
    passed[list] = passed[list] + 1
    least += leastIn(list)
    most += mostIn(list)
  }
  for (; begun < targets.length && sorted.length > 0; begun++) {
    from[begun] = rowsBelow(mine, sorted, sorted.length - sortedWords)
  }
  return Array.from(targets, (_, k) => ({ from: from[k], to: to[k] }))
}

const sortedWords: RowWidth = 4

function inOrder(samples: readonly Int32Array[]): Int32Array {
  const length = samples.reduce((sum, words) => sum + words.length / sampleWords, 0)
  const all = new Int32Array(length * sortedWords)
  let at = 0
  samples.forEach((words, list) => {
    for (let i = 0; i < words.length; i += sampleWords, at += sortedWords) {
      for (let word = 0; word < sampleWords; word++) all[at + word] = words[i + word]
      all[at + sampleWords] = list
    }
  })
  return sortRows(sortedWords, all, new Int32Array(all.length), sampleWords)
}
