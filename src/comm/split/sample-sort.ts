import type { Exchange } from '../collective-engine.js'
import { allgatherBytes } from '../exchange-patterns.js'
import { givenBounds } from '../tables/slice-bounds.js'
import type { SplitAlgorithm } from './algorithm.js'
import type { Cuts } from './exact-cuts.js'
import { exchangeAndMerge, splitBySorting } from './parallel-sort.js'
import { compareRows, countRows, type Rows, rowsBelow } from './rows.js'
import { steps } from './steps.js'
import { bytesOf, wordsOf } from './words.js'

/**
 * Like `parallel-sort`, with splitters from regular samples instead of a search (split.md §12): two exchanges whatever
 * the data, for slices of up to about 2 N / p rows, whose bounds must be kept.
 */
export const splitBySampleSort: SplitAlgorithm = (call) =>
  splitBySorting(call, async (column, rows, _total, meter) => {
    const { cuts, bounds } = await sampledCuts(column, rows)
    return { rows: await exchangeAndMerge(column, rows, cuts, meter), bounds }
  })

/** Every sorter offers p rows at regular places; every p-th of all of them, sorted, is a splitter. */
async function sampledCuts(column: Exchange, rows: Rows): Promise<Cuts> {
  const { count } = column
  const offered = (await allgatherBytes(column, bytesOf(sample(rows, count)), steps.samples)).map(wordsOf)
  const samples = offered.flatMap((words) =>
    Array.from({ length: words.length / sampleWords }, (_, i) => words.subarray(i * sampleWords)),
  )
  samples.sort((a, b) => compareRows(a, 0, b, 0))
  const cuts = new Int32Array(count + 1)
  cuts[count] = countRows(rows)
  for (let k = 1; k < count; k++) {
    const splitter = samples[Math.floor((k * samples.length) / count)]!
    cuts[k] = rowsBelow(rows, splitter, 0)
  }
  // Slice k begins where all lists are cut for it.
  const starts = new Float64Array(count + 1)
  for (const theirs of await allgatherBytes(column, bytesOf(cuts), steps.samples + 64)) {
    wordsOf(theirs).forEach((cut, k) => {
      starts[k]! += cut
    })
  }
  return { cuts, bounds: givenBounds(starts) }
}

const sampleWords = 3

function sample(rows: Rows, count: number): Int32Array {
  const length = countRows(rows)
  const picked = Math.min(length, count)
  const words = new Int32Array(picked * sampleWords)
  for (let i = 0; i < picked; i++) {
    const at = Math.floor(((2 * i + 1) * length) / (2 * picked)) * rows.width
    words.set(rows.words.subarray(at, at + sampleWords), i * sampleWords)
  }
  return words
}
