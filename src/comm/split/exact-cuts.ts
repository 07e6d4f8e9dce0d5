import { bytesOf, wordsOf } from '../../base/bytes.js'
import { packWords, unpackWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes } from '../../calls/exchange/exchange-patterns.js'
import { evenBounds, type SliceBounds } from '../table/slice-bounds.js'
import { alltoallWords, exchangeSteps } from './process-group.js'
import { countRows, type SplitRows } from './sort/rows.js'
import { regularSample, sampledWindows } from './sort/sampled-windows.js'
import { evenTargets, Seeker, SplitterOwner, verdictWords } from './sort/splitters.js'

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
