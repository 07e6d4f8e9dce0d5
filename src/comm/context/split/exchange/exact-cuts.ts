import { bytesOf, wordsOf } from '../../../../base/bytes.js'
import type { Exchange } from '../../../calls/exchange.js'
import { allgatherBytes } from '../../../calls/exchange-patterns.js'
import { evenBounds, type SliceBounds } from '../../../table/slice-bounds.js'
import type { Rows } from '../rows/rows.js'
import { evenTargets, Owner, Seeker, verdictWords } from '../rows/splitters.js'
import { exchangeSteps } from './exchange-steps.js'
import { alltoallWords } from './process-group.js'

const stepsPerRound = 128

/** Where a column cuts its lists. */
export interface Cuts {
  /** First row of every slice in my list, then its length: `sorters + 1` of them. */
  readonly cuts: Int32Array
  /** Where the slices begin in the whole table. */
  readonly bounds: SliceBounds
}

/**
 * Cuts for slices that differ by at most one row, found by the search for exact splitters: two exchanges per round.
 */
export async function exactCuts(column: Exchange, rows: Rows, total: number): Promise<Cuts> {
  const targets = evenTargets(total, column.count)
  const seeker = new Seeker(rows, targets)
  const owner = new Owner(targets[column.me]!)
  for (let round = 0; !seeker.isDone; round++) {
    const step = exchangeSteps.splitters + round * stepsPerRound
    const answers = await alltoallWords(column, seeker.answers(), step)
    seeker.apply(await verdictsOfAll(column, owner.decide(answers), step + stepsPerRound / 2))
  }
  return { cuts: seeker.cuts, bounds: evenBounds(total, column.count) }
}

async function verdictsOfAll(column: Exchange, verdict: Int32Array, step: number): Promise<Int32Array> {
  const all = new Int32Array(column.count * verdictWords)
  const verdicts = await allgatherBytes(column, bytesOf(verdict), step)
  verdicts.forEach((bytes, k) => {
    all.set(wordsOf(bytes), k * verdictWords)
  })
  return all
}
