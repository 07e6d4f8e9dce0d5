import { countRows, type RowWidth, rowsBelow, type SplitRows } from './rows.js'
import { sortRows } from './sort-rows.js'

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
export interface Window {
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
