import { local, run } from 'rankweave'
import { expect, it } from 'vitest'
import walk, { expectedTotals, ranksPerProcess, totalsOf, type Walked } from './collective-walk.js'
import { perTier } from './soak.js'
import type { Walk } from './walked-calls.js'

/** Numbers of processes, of one rank each. Up to 33 in `npm run soak:long`. */
const counts = perTier({ test: [], soak: [2, 5], long: Array.from({ length: 33 }, (_, n) => n + 1) })

/** A test for each of some collectives on each number of processes, which makes every call there is. */
export function testEveryCall(...collectives: readonly NonNullable<Walk['only']>['collective'][]): void {
  it.each(collectives.flatMap((collective) => counts.map((ranks) => [collective, ranks] as const)))(
    '%s over %i ranks, by every algorithm with all parameters and from all roots, equals the oracle',
    async (collective, ranks) => {
      const args: Walk = {
        processes: ranks,
        mostRanks: ranks,
        order: 'blocks',
        calls: 'all',
        only: { ranks, collective },
      }
      const fabric = local({ ranksPerProcess: ranksPerProcess(args), seed: ranks, scribble: true })
      const walked = await run((world, given: Walk) => walk(world, given), { ranks, fabric, args })
      const expected = expectedTotals(args)
      expect(expected.done).toBeGreaterThan(0)
      expect(totalsOf(walked as Walked[])).toEqual({ ...expected, compared: 0 })
    },
  )
}
