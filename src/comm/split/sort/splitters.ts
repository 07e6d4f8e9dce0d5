import { compareRows, countRows, rowsBelow, type SplitRows } from './rows.js'
import { sortRows } from './sort-rows.js'

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
