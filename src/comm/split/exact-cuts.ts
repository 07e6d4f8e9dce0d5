import type { Exchange } from '../collective-engine.js'
import { allgatherBytes } from '../exchange-patterns.js'
import { evenBounds } from '../tables/slice-bounds.js'
import { alltoallWords } from './exchange-group.js'
import type { FindCuts } from './parallel-sort.js'
import { evenTargets, Owner, Seeker, verdictWords } from './splitters.js'
import { steps } from './steps.js'
import { bytesOf, wordsOf } from './words.js'

const stepsPerRound = 128

/** Slices that differ by one row at most, by the search for exact splitters: two exchanges per round. */
export const exactCuts: FindCuts = async (column, rows, total) => {
  const targets = evenTargets(total, column.count)
  const seeker = new Seeker(rows, targets)
  const owner = new Owner(targets[column.me]!)
  for (let round = 0; !seeker.isDone; round++) {
    const step = steps.splitters + round * stepsPerRound
    const answers = await alltoallWords(column, seeker.answers(), step)
    seeker.hear(await verdictsOfAll(column, owner.decide(answers), step + stepsPerRound / 2))
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
