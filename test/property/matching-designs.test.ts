import { expect, test } from 'vitest'
import { ANY_SOURCE } from '../../src/messages/matching-queues/entry-list.js'
import { countSources } from '../../src/messages/matching-queues/replay.js'
import { allDesigns, designTexts, naiveMatches, randomTrace } from '../support/matching-traces.js'
import { replayTrace } from '../support/replay-trace.js'
import { cases } from '../support/soak.js'

const seeds = Array.from({ length: cases(40, 8) }, (_, seed) => seed)
const shares = [0, 0.1, 0.25, 0.5]
const sizes = [1, 3, 16, 40]

const traceOf = (seed: number) => {
  const wildcards = shares[seed % shares.length]
  const processes = sizes[(seed >> 2) % sizes.length]
  return { operations: 3000, processes, wildcards, seed }
}

/** Counts of another run, so that designs which start from them meet sources that they do not expect. */
const countsFor = (seed: number) => {
  const other = { ...traceOf(seed), operations: 500, seed: seed + 1000 }
  return countSources(randomTrace(other), { processes: other.processes })
}

const expected = new Map(seeds.map((seed) => [seed, naiveMatches(randomTrace(traceOf(seed)))]))

test.each(allDesigns.map((design, i) => [designTexts[i], design] as const))(
  '%s finds what the definition finds, in random traces with and without wildcards',
  (_, design) => {
    for (const seed of seeds) {
      const facts = { processes: traceOf(seed).processes, counts: countsFor(seed) }
      const { matches, posted, unexpected } = replayTrace(randomTrace(traceOf(seed)), design, facts)
      const differing = matches.findIndex((match, place) => match !== expected.get(seed)![place])
      expect(differing, `the first operation of seed ${seed} that differs`).toBe(-1)
      expect(posted.longest + unexpected.longest).toBeGreaterThan(10)
    }
  },
)

test('without receives from any source the hint changes no match', () => {
  for (const seed of seeds.slice(0, 4)) {
    const { processes } = traceOf(seed)
    // Queues are emptied from time to time by probes for any source.
    const trace = [...randomTrace({ ...traceOf(seed), wildcards: 0 })].filter(
      (operation) => operation.kind === 'cancel' || operation.source !== ANY_SOURCE,
    )
    const facts = { processes, counts: countsFor(seed), noAnySource: true }
    const matches = naiveMatches(trace)
    for (const design of allDesigns) {
      const replayed = replayTrace(trace, design, facts).matches
      expect(replayed.findIndex((match, place) => match !== matches[place])).toBe(-1)
    }
  }
})
