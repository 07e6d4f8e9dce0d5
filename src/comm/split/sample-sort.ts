import { bytesOf, wordsOf } from '../../base/bytes.js'
import { allgatherBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { givenBounds } from '../table/slice-service.js'
import type { Cuts } from './exact-cuts.js'
import { splitBySorting } from './parallel-sort.js'
import { exchangeSteps } from './process-group.js'
import {
  compareRows,
  countRows,
  mergeRows,
  type RowWidth,
  rowsBelow,
  rowsBetween,
  type SplitRows,
} from './rows.js'
import type { AwaitingAlgorithm, SplitMeter } from './split-call.js'

/**
 * Splits like `parallel-sort`, with splitters from regular samples instead of a search
 * (docs/split-algorithms.md#sample-sort). It makes two exchanges whatever the data, for slices of up to about 2 N / p
 * rows, whose bounds must be stored. Received rows are merged while the rest is in flight.
 */
export const splitBySampleSort: AwaitingAlgorithm = (call) =>
  splitBySorting(call, async (column, rows, _total, meter) => {
    const { cuts, bounds } = await sampledCuts(column, rows)
    return { rows: await exchangeWhileMerging(column, rows, cuts, meter), bounds }
  })

/** Returns this sorter's slice of every list, merged in order of arrival. */
async function exchangeWhileMerging(
  column: Exchange,
  rows: SplitRows,
  cuts: Int32Array,
  meter: SplitMeter,
): Promise<SplitRows> {
  const { me, count } = column
  meter.enter('exchange')
  const merged = new GrowingMerge(rows.width, meter)
  const pieceFor = (peer: number) => rowsBetween(rows, cuts[peer], cuts[peer + 1])
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    column.send(peer, exchangeSteps.exchange, bytesOf(pieceFor(peer)))
  }
  merged.take(pieceFor(me).slice())
  meter.hold(null, rows.words)
  const peers = Array.from({ length: count }, (_, peer) => peer).filter((peer) => peer !== me)
  await Promise.all(
    peers.map(async (peer) => merged.take(wordsOf(await column.receive(peer, exchangeSteps.exchange)))),
  )
  return { words: merged.finish(), width: rows.width }
}

/**
 * Merges sorted runs into one. Runs of about the same length are merged, so that every row is moved O(lg runs) times.
 */
class GrowingMerge {
  readonly #width: RowWidth
  readonly #meter: SplitMeter
  /** The runs, each less than half as long as the one before. */
  readonly #runs: Int32Array[] = []

  constructor(width: RowWidth, meter: SplitMeter) {
    this.#width = width
    this.#meter = meter
  }

  take(run: Int32Array): void {
    this.#meter.hold(run)
    if (run.length > 0) this.#runs.push(run)
    this.#mergeWhile((before, last) => before.length < 2 * last.length)
  }

  finish(): Int32Array {
    this.#mergeWhile(() => true)
    return this.#runs[0] ?? new Int32Array(0)
  }

  #mergeWhile(isDue: (before: Int32Array, last: Int32Array) => boolean): void {
    this.#meter.enter('merge')
    const runs = this.#runs
    while (runs.length > 1 && isDue(runs[runs.length - 2], runs[runs.length - 1])) {
      const last = runs.pop()!
      const before = runs.pop()!
      const merged = new Int32Array(before.length + last.length)
      this.#meter.hold(merged)
      mergeRows(this.#width, before, 0, before.length, last, 0, last.length, merged, 0)
      this.#meter.hold(null, before, last)
      runs.push(merged)
    }
    this.#meter.enter('exchange')
  }
}

/**
 * Cuts at samples: every sorter contributes p rows at regular intervals; every p-th of all of them, sorted, is a
 * splitter.
 */
async function sampledCuts(column: Exchange, rows: SplitRows): Promise<Cuts> {
  const { count } = column
  const offered = (await allgatherBytes(column, bytesOf(sample(rows, count)), exchangeSteps.samples)).map(
    wordsOf,
  )
  const samples = offered.flatMap((words) =>
    Array.from({ length: words.length / sampleWords }, (_, i) => words.subarray(i * sampleWords)),
  )
  samples.sort((a, b) => compareRows(a, 0, b, 0))
  const cuts = new Int32Array(count + 1)
  cuts[count] = countRows(rows)
  for (let k = 1; k < count; k++) {
    const splitter = samples[Math.floor((k * samples.length) / count)]
    cuts[k] = rowsBelow(rows, splitter, 0)
  }
  // The start of slice k is the sum of its cuts in all lists.
  const starts = new Float64Array(count + 1)
  for (const theirs of await allgatherBytes(column, bytesOf(cuts), exchangeSteps.samples + 64)) {
    wordsOf(theirs).forEach((cut, k) => {
      starts[k] += cut
    })
  }
  return { cuts, bounds: givenBounds(starts) }
}

const sampleWords = 3

function sample(rows: SplitRows, count: number): Int32Array {
  const length = countRows(rows)
  const picked = Math.min(length, count)
  const words = new Int32Array(picked * sampleWords)
  for (let i = 0; i < picked; i++) {
    const at = Math.floor(((2 * i + 1) * length) / (2 * picked)) * rows.width
    words.set(rows.words.subarray(at, at + sampleWords), i * sampleWords)
  }
  return words
}
