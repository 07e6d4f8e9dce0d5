import fc from 'fast-check'
import { type Communicator, local, run } from 'rankweave'
import { describe, it } from 'vitest'
import { checkOfCollective } from '../../src/conformance/algorithm-checks.js'
import { variants } from '../support/algorithm-checks.js'
import { cases, isSoak } from '../support/soak.js'

const mostRanks = isSoak ? 33 : 12

/** Who runs on which process, how frames travel, and which algorithm moves how much. */
const calls = fc.record({
  ranks: fc.integer({ min: 1, max: mostRanks }),
  processes: fc.constantFrom(1, 2, 4, 8),
  seed: fc.integer({ min: 0, max: 1000 }),
  delay: fc.constantFrom(0, 3),
  limits: fc.constantFrom(
    {},
    { eagerLimitBytes: 0, creditBytes: 0 },
    { eagerLimitBytes: 64, creditBytes: 500 },
  ),
  isCyclic: fc.boolean(),
  bulk: fc.boolean(),
  algorithm: fc.constantFrom(...variants.filter(({ collective }) => checkOfCollective.has(collective))),
  segments: fc.constantFrom(undefined, 1, 2, 3, 7),
  root: fc.nat(),
  length: fc.constantFrom(0, 1, 2, 5, 33, 1200),
})

describe('algorithms of collectives', () => {
  it('agree with the oracle on random layouts, whatever is delivered first', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (call) => {
        const { ranks, processes, bulk, seed, delay, limits, isCyclic, algorithm, segments, root, length } =
          call
        const fabric = local({
          processes: Math.min(ranks, processes),
          seed,
          bulk,
          scribble: true,
          faults: { delay },
        })
        const main = async (world: Communicator) => {
          const cycle = Math.ceil(ranks / processes)
          const comm = isCyclic ? await world.split(0, (world.rank % cycle) * ranks + world.rank) : world
          const check = checkOfCollective.get(algorithm.collective)!
          const options = { algorithm: algorithm.id, ...(segments === undefined ? {} : { segments }) }
          await check(comm, options, { slot: seed, length, root: root % ranks })
        }
        await run(main, { ranks, fabric, ...limits })
      }),
      { numRuns: cases(150), seed: 20261123 },
    )
  })
})
