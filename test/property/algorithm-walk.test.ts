import { local, run } from 'rankweave'
import { expect, it } from 'vitest'
import { callOptions } from '../../src/calls/collectives/options.js'
import { algorithms, servedCalls } from '../../src/collective/algorithms.js'
import { variantsOf } from '../support/algorithm-variants.js'
import { collectives } from '../support/collective-cases.js'
import walk, {
  expectedTotals,
  ranksPerProcess,
  totalsOf,
  type Walked,
  walks,
} from '../support/collective-walk.js'
import { hostsOf, rankCountsOf, type Walk } from '../support/walked-calls.js'

it('the calls that algorithms serve are those of a communicator, and their forms follow from their options', () => {
  expect(Object.keys(servedCalls)).toEqual(collectives)
  const all = Object.values(servedCalls)
  expect(all.flatMap(({ calls }) => calls).sort()).toEqual(Object.keys(callOptions).sort())
  for (const { calls, uneven, inPlace } of all) {
    for (const call of calls) {
      const options = callOptions[call as keyof typeof callOptions]
      expect([call, uneven.includes(call)]).toEqual([call, call.endsWith('v') || 'counts' in options])
      expect([call, inPlace]).toEqual([call, 'into' in options])
    }
  }
})

// `npm run soak` walks through communicators of up to 33 ranks: test/soak/collectives.soak.ts.

it.each<[Walk, { readonly eagerLimitBytes?: number }]>([
  [{ processes: 4, mostRanks: 4, order: 'blocks' }, {}],
  [{ processes: 3, mostRanks: 5, order: 'dealt' }, { eagerLimitBytes: 8 }],
  [{ processes: 5, mostRanks: 5, order: 'blocks', calls: 3 }, { eagerLimitBytes: 0 }],
])('every algorithm equals the oracle, or is refused as it says of itself: %j %j', async (given, limits) => {
  const fabric = local({ ranksPerProcess: ranksPerProcess(given), seed: 20261126, scribble: true })
  const ranks = ranksPerProcess(given).reduce((sum, count) => sum + count, 0)
  const walked = await run((world, args: Walk) => walk(world, args), {
    ranks,
    fabric,
    args: given,
    ...limits,
  })
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
