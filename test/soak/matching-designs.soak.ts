import { describe, expect, it } from 'vitest'
import { matchingDesignNames, parsedMatchingDesign } from '../../src/messages/matching-queues/designs.js'
import { countSources, MatchingReplay } from '../../src/messages/matching-queues/replay.js'
import { designTexts, randomTrace } from '../support/matching-traces.js'
import { demanded, perTier } from '../support/soak.js'

const operations = perTier({ test: 20_000, soak: 100_000, long: 1_000_000 })
const seeds = Array.from({ length: demanded(100, 3) }, (_, seed) => seed)
const processes = [2, 16, 64]

/** Of each design the last text: its parameters make more of it happen than the defaults do. */
const texts = matchingDesignNames.map(
  (name) => designTexts.findLast((text) => text.split(':')[0] === name) ?? name,
)

describe(`${operations} random operations`, () => {
  it.each(seeds)('of seed %d, with 0 to 50% wildcards, have equal matches with all designs', (seed) => {
    const trace = {
      operations,
      processes: processes[seed % processes.length],
      wildcards: (0.5 * seed) / Math.max(1, seeds.length - 1),
      seed: 100_000 + seed,
    }
    const counts = countSources(randomTrace({ ...trace, operations: 2000, seed }), trace)
    const replays = texts.map((text) => new MatchingReplay(parsedMatchingDesign(text), { ...trace, counts }))
    const [list, ...others] = replays
    for (const operation of randomTrace(trace)) {
      const match = list.apply(operation)
      for (const [i, other] of others.entries()) {
        if (other.apply(operation) === match) continue
        throw new Error(`${texts[i + 1]}: operation ${list.operations - 1} has another match`)
      }
    }
    expect(list.operations).toBeGreaterThanOrEqual(operations)
    for (const queue of ['posted', 'unexpected'] as const)
      expect(replays.map((replay) => replay.report(queue).longest)).toEqual(
        texts.map(() => list.report(queue).longest),
      )
  })
})
