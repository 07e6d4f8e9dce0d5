import fc from 'fast-check'
import { type Communicator, local, run } from 'rankweave'
import { describe, it } from 'vitest'
import { checkedCollectives } from '../../src/conformance/collective-checks.js'
import { cases } from '../support/soak.js'

/**
 * Ranks of every process (some host none), how frames travel, who is in which communicator, and what is
 * called.
 */
const worlds = fc.record({
  ranksPerProcess: fc
    .array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 })
    .filter((counts) => counts.some((count) => count > 0)),
  seed: fc.integer({ min: 0, max: 1000 }),
  delay: fc.constantFrom(0, 3),
  maxPayloadBytes: fc.constantFrom(1024, 4096, 2 ** 20),
  limits: fc.constantFrom(
    {},
    { eagerLimitBytes: 0, creditBytes: 0 },
    { eagerLimitBytes: 64, creditBytes: 500 },
  ),
  keys: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 30, maxLength: 30 }),
  colors: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 30, maxLength: 30 }),
  calls: fc.array(
    fc.record({
      check: fc.integer({ min: 0, max: checkedCollectives.length - 1 }),
      length: fc.constantFrom(0, 1, 2, 7, 300),
      inPart: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
})

describe('collectives', () => {
  it('agree with their oracles on random layouts, started concurrently on two communicators', async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        async ({ ranksPerProcess, seed, delay, maxPayloadBytes, limits, keys, colors, calls }) => {
          const fabric = local({ ranksPerProcess, seed, maxPayloadBytes, scribble: true, faults: { delay } })
          const ranks = ranksPerProcess.reduce((a, b) => a + b, 0)
          const main = async (world: Communicator) => {
            const part = await world.split(colors[world.rank], keys[world.rank])
            await Promise.all(
              calls.map(({ check, length, inPart }, slot) =>
                checkedCollectives[check].check(inPart ? part : world, slot, length),
              ),
            )
          }
          await run(main, { ranks, fabric, ...limits })
        },
      ),
      { numRuns: cases(200, 75), seed: 20240611 },
    )
  })
})
