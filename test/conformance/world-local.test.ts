import { collectiveConformance } from 'rankweave/conformance'
import { describe, it } from 'vitest'
import { local } from '../../src/fabric/local/local.js'
import { isSoak, perTier } from '../support/soak.js'

/** Numbers of ranks; more of them in longer runs. */
const few = (...ranks: readonly number[]) =>
  perTier({ test: ranks, soak: [1, 3, 8, 16], long: [1, 2, 3, 4, 7, 8, 16] })
const layouts = [
  { fabric: local({ processes: 1 }), ranks: few(3) },
  { fabric: local({ processes: 2, seed: 1, scribble: true }), ranks: few(1, 5) },
  {
    fabric: local({ processes: 5, nodes: 2, seed: 2, scribble: true, maxPayloadBytes: 1024 }),
    ranks: few(4),
  },
]

describe.each(layouts)('a world on $fabric.processes processes', ({ fabric, ranks }) => {
  const { processes } = fabric
  const expected = { kind: 'local', processes, places: 'one thread' } as const
  describe.each(ranks)('%i ranks', (count) => {
    const options = { ranks: count, expected, seed: count, rounds: perTier({ test: 1, soak: 2, long: 3 }) }
    for (const [n, { name, run }] of collectiveConformance(fabric, options).entries()) {
      // Algorithms on `local`: below on one layout, on others in property/collective-algorithms.test.ts.
      if (name.startsWith('algorithm ')) continue
      // All strategies and mappings are below; in `npm test` each is on one of these layouts, too.
      if (
        !isSoak &&
        /^neighbor collectives by |^communicators reordered/.test(name) &&
        n % 3 !== processes >> 1
      )
        continue
      it(name, run)
    }
  })
})

// Ranks that are ahead in the next round must not disturb the checks of the others.
describe('several rounds on one world', () => {
  const fabric = local({ processes: 3, seed: 3, scribble: true, faults: { delay: 2 } })
  const expected = { kind: 'local', processes: 3, places: 'one thread' } as const
  const options = { ranks: 5, expected, seed: 3, rounds: isSoak ? 3 : 2, sharedWorlds: true }
  for (const { name, run } of collectiveConformance(fabric, options)) it(name, run)
})
