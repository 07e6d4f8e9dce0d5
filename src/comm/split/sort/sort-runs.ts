import { distributeRuns } from './distribute.js'
import { mergeRows, type RowWidth, rowWord } from './rows.js'
import { movesOf, sortRows } from './sort-rows.js'

/**
 * Sorts the sorted runs that lie one after the other in `words`, run k in words `[bounds[k], bounds[k + 1])`, with
 * `spare` of the same length. Returns the one of the two that holds the result.
 *
 * Chooses the method that moves rows least often. More than four runs of evenly spread keys are distributed over
 * buckets once. Otherwise merging neighbors takes ceil(lg runs) passes of unpredictable branches; radix sort takes one
 * cheaper pass per 8 bits of the range of colors and of keys. Radix sort is stable, so it needs runs whose ranks ascend
 * from run to run: then equal rows of several runs are in order already.
 */
export function sortRuns(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  const edges = bounds.filter((bound, k) => k === 0 || bound > bounds[k - 1])
  const stages = Math.ceil(Math.log2(Math.max(1, edges.length - 1)))
  if (stages < leastStages || words.length < leastRows * width) return mergeStages(width, words, edges, spare)
  if (stages >= leastStagesToDistribute && distributeRuns(width, words, edges, spare)) return spare
  return doRanksAscend(width, words, edges) && movesOf(width, words) <= stages
    ? sortRows(width, words, spare)
    : mergeStages(width, words, edges, spare)
}

/** The least number of stages, and of rows, for which another method than merging may win. */
const leastStages = 2
const leastRows = 64
/** The least number of stages for which distribution wins: it takes about as long as three. */
const leastStagesToDistribute = 3

/** Merges neighbors in pairs, stage by stage; an odd run is carried. */
function mergeStages(
  width: RowWidth,
  words: Int32Array,
  bounds: readonly number[],
  spare: Int32Array,
): Int32Array {
  let from = words
  let to = spare
  let edges = bounds
  while (edges.length > 2) {
    const next: number[] = [edges[0]]
    for (let k = 0; k + 1 < edges.length; k += 2) {
      const start = edges[k]
      const middle = edges[k + 1]
      const end = edges[k + 2] ?? middle
      mergeRows(width, from, start, middle, from, middle, end, to, start)
      next.push(end)
    }
    edges = next
    const merged = to
    to = from
    from = merged
  }
  return from
}

function doRanksAscend(width: RowWidth, words: Int32Array, edges: readonly number[]): boolean {
  let highest = -1
  for (let run = 0; run + 1 < edges.length; run++) {
    const below = highest
    for (let at = edges[run] + rowWord.rank; at < edges[run + 1]; at += width) {
      const rank = words[at]
      if (rank < below) return false
      if (rank > highest) highest = rank
    }
  }
  return true
}
