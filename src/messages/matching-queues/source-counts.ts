import type { MatchingQueue } from './element.js'

/**
 * The elements of each source that one process has added to one of its queues during a run, by context. They are a row
 * of the thesis's matrix A, which holds `A[i][j]` elements of source j for process i. Receives from any source count
 * for none.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (profiling)
 */
export type SourceCounts = ReadonlyMap<number, ArrayLike<number>>

/** The counts of a process for both queues, from which designs that learn from an earlier run start. */
export type QueueCounts = { readonly [Queue in MatchingQueue]: SourceCounts }

export function countsOfSources(counts: SourceCounts, processes: number): Float64Array {
  const sums = new Float64Array(processes)
  for (const row of counts.values())
    for (let source = 0; source < row.length; source++) sums[source] += row[source]
  return sums
}
