import { collectiveConformance } from 'rankweave/conformance'
import { describe, it } from 'vitest'
import { local } from '../../src/fabric/local/local.js'

const ranks = [1, 2, 3, 4, 7, 8, 16]
const fabrics = [
  local({ processes: 1 }),
  local({ processes: 2, seed: 1, scribble: true }),
  local({ processes: 5, nodes: 2, seed: 2, scribble: true, maxPayloadBytes: 1024 }),
]

describe.each(fabrics)('a world on $processes processes', (fabric) => {
  const { processes } = fabric
  const expected = { kind: 'local', processes, places: 'one thread' } as const
  describe.each(ranks)('%i ranks', (count) => {
    const options = { ranks: count, expected, seed: count }
    for (const { name, run } of collectiveConformance(fabric, options)) {
      // Algorithms on `local`: below on one layout, on others in property/collective-algorithms.test.ts.
      if (!name.startsWith('algorithm ')) it(name, run)
    }
  })
})

// Ranks that are ahead in the next round must not disturb the checks of the others.
describe('several rounds on one world', () => {
  const fabric = local({ processes: 3, seed: 3, scribble: true, faults: { delay: 2 } })
  const expected = { kind: 'local', processes: 3, places: 'one thread' } as const
  const options = { ranks: 5, expected, seed: 3, rounds: 3, sharedWorlds: true }
  for (const { name, run } of collectiveConformance(fabric, options)) it(name, run)
})
