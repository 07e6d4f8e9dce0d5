import { local, run } from 'rankweave'
import { expect, it } from 'vitest'
import { algorithms } from '../../../src/collective/algorithms.js'
import { variantsOf } from '../../support/algorithm-variants.js'
import walk, {
  expectedTotals,
  ranksPerProcess,
  totalsOf,
  type Walked,
  walks,
} from '../../support/collective-walk.js'
import { hostsOf, rankCountsOf, type Walk } from '../../support/walked-calls.js'

// `npm run soak` walks through communicators of up to 33 ranks: test/soak/collectives.soak.ts.

it.each<[Walk]>([
  [{ processes: 5, mostRanks: 5, order: 'blocks' }],
  [{ processes: 3, mostRanks: 7, order: 'blocks' }],
  [{ processes: 3, mostRanks: 7, order: 'dealt' }],
  [{ processes: 6, mostRanks: 6, order: 'blocks', calls: 5 }],
])('every algorithm equals the oracle, or is refused as it says of itself: %j', async (given) => {
  const fabric = local({ ranksPerProcess: ranksPerProcess(given), seed: 20261126, scribble: true })
  const ranks = ranksPerProcess(given).reduce((sum, count) => sum + count, 0)
  const walked = await run((world, args: Walk) => walk(world, args), { ranks, fabric, args: given })
  const expected = expectedTotals(given)
  expect(totalsOf(walked as Walked[])).toEqual({ ...expected, compared: 0 })
  expect(expected.refused).toBeGreaterThan(0)
})

it.each(walks.map((given) => [given]))(
  '%j uses every algorithm with all parameters, and the default',
  (given) => {
    const served = rankCountsOf(given).flatMap((ranks) => {
      const participants = new Set(hostsOf(given, ranks)).size
      return algorithms
        .flatMap((algorithm) => variantsOf(algorithm, participants))
        .filter((algorithm) => (algorithm.refuses?.({ ranks: participants }) ?? null) === null)
        .map(({ id }) => id)
    })
    expect(expectedTotals(given).methods).toBe(1 + new Set(served).size)
  },
)
