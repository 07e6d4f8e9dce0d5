import { type RankweaveError, wrongValue } from '../../errors.js'
import type { MatchingQueue } from './element.js'

/**
 * How many elements of each source one process has added to one of its queues during a run, by context: a row
 * of the thesis's matrix A, which holds `A[i][j]` elements of source j for process i. Receives from any source
 * count for none.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (profiling)
 */
export type SourceCounts = ReadonlyMap<number, ArrayLike<number>>

/** The counts of a process for both queues, which designs that learn from an earlier run start from. */
export type QueueCounts = { readonly [Queue in MatchingQueue]: SourceCounts }

/** The counts of all contexts together, an entry per source. */
export function countsOfSources(counts: SourceCounts, processes: number): Float64Array {
  const sums = new Float64Array(processes)
  for (const row of counts.values())
    for (let source = 0; source < row.length; source++) sums[source] += row[source]
  return sums
}

/** Rows of a matrix of at most so many processes fit into memory and into a text. */
const mostProcesses = 2 ** 14

/**
 * Numbers of every process and source as text: the number n of processes on a line, then n lines of n integers
 * joined by blanks. For counts (the thesis's A) and clusters (its B).
 *
 * @param rows n rows of n integers of at least 0
 */
export function matrixText(rows: readonly ArrayLike<number>[]): string {
  return `${[String(rows.length), ...rows.map((row) => Array.from(row).join(' '))].join('\n')}\n`
}

/**
 * The rows of a text that {@link matrixText} has written.
 * @throws ERR_FILE naming the line that is malformed
 */
export function matrixRows(text: string): Float64Array[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const [head = ''] = lines
  const n = Number(head)
  if (!/^\d+$/.test(head) || n > mostProcesses)
    throw fileError(1, `the number of processes, at most ${mostProcesses}`, head)
  if (lines.length !== n + 1) throw fileError(lines.length, `${n} rows`, lines.length - 1)
  return lines.slice(1).map((line, row) => {
    const words = line.split(' ')
    if (words.length !== n) throw fileError(row + 2, `${n} integers`, words.length)
    const odd = words.find((word) => !/^\d+$/.test(word) || !Number.isSafeInteger(Number(word)))
    if (odd !== undefined) throw fileError(row + 2, 'integers of at least 0', odd)
    return Float64Array.from(words, Number)
  })
}

function fileError(line: number, expected: string, got: string | number): RankweaveError {
  return wrongValue('ERR_FILE', `line ${line} of a matrix: expected ${expected}`, got)
}
