import { describe, expect, it } from 'vitest'
import { matchingVerdictText } from '../../../../src/cli/output/matching-comparison.js'
import {
  compareRank,
  crossoverLength,
  matchingVerdict,
  summedDesigns,
} from '../../../../src/messages/matching-queues/compare-designs.js'
import { matchingDesignNames, type NamedDesign } from '../../../../src/messages/matching-queues/designs.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import {
  meteredReplay,
  PackedTrace,
  timedReplay,
} from '../../../../src/messages/matching-queues/packed-replay.js'
import { reverseSearch } from '../../../support/matching-microbenchmarks.js'
import { randomTrace } from '../../../support/matching-traces.js'
import { workloadTrace } from '../../../support/matching-workloads.js'
import { replayTrace } from '../../../support/replay-trace.js'

/** A clock that advances by a tick a reading: times count readings, and tests do not depend on the machine. */
function ticking(tickMs = 1): () => number {
  let ticks = 0
  return () => tickMs * ticks++
}

const limit = () => ({ clock: ticking(), mostMs: 1e9 })
const limits = () => ({ timed: limit(), metered: { clock: () => 0, mostMs: 1e9 } })
const all = matchingDesignNames.map((name): NamedDesign => ({ name }))

function packed(operations: Iterable<MatchingOperation>, processes: number): PackedTrace {
  const trace = new PackedTrace({ processes })
  for (const operation of operations) trace.push(operation)
  return trace
}

const arrive = (source: number, tag: number): MatchingOperation => ({
  ...{ kind: 'arrive', context: 0, source, tag },
})
const ask = (kind: 'post' | 'probe', source: number, tag: number): MatchingOperation => ({
  ...{ kind, context: 0, source, tag },
})

describe('a packed trace', () => {
  it('has the operations that it was given', () => {
    const operations = [...randomTrace({ operations: 500, processes: 8, wildcards: 0.3, seed: 2 })]
    const trace = packed(operations, 8)
    expect(trace.length).toBe(500)
    // Zero bytes are those of an operation without.
    const full = operations.map((each) => (each.kind === 'cancel' ? each : { bytes: 0, ...each }))
    expect([...trace.operations()]).toEqual(full)
    expect([...trace.first(20).operations()]).toEqual(full.slice(0, 20))
  })

  it('has collectives and their calls', () => {
    const operations = [...workloadTrace('hotspot', { processes: 16, rounds: 1 })]
    expect([...packed(operations, 16).operations()]).toEqual(operations)
  })
})

describe('replays of a packed trace', () => {
  it.each(all)('count what a replay of its operations counts: $name', (design) => {
    const operations = [...randomTrace({ operations: 2000, processes: 8, wildcards: 0.2, seed: 7 })]
    const trace = packed(operations, 8)
    const [{ facts }] = [packed([], 8)]
    const counts = { posted: new Map(), unexpected: new Map() }
    const given = { ...facts, counts }
    const { posted, unexpected, operations: done } = meteredReplay(trace, design, given, limits().metered)
    expect(replayTrace(operations, design, given)).toMatchObject({ posted, unexpected, operations: done })
    expect(timedReplay(trace, design, given, limit()).operations).toBe(2000)
  })

  it('are stopped at their limit', () => {
    const trace = packed(randomTrace({ operations: 20_000, processes: 8, wildcards: 0, seed: 7 }), 8)
    const few = { clock: ticking(), mostMs: 10 }
    const { operations } = timedReplay(trace, { name: 'list' }, { processes: 8 }, few)
    expect(operations).toBeGreaterThan(0)
    expect(operations).toBeLessThan(20_000)
    const slow = { clock: ticking(), mostMs: 5000 }
    const metered = meteredReplay(trace, { name: 'list' }, { processes: 8 }, slow)
    expect(metered.operations).toBeGreaterThan(0)
    expect(metered.operations).toBeLessThan(20_000)
  })
})

describe('a replay whose operations take long', () => {
  const trace = packed(randomTrace({ operations: 4096, processes: 8, wildcards: 0, seed: 7 }), 8)

  it('reads its clock more often, and is stopped soon', () => {
    const slow = { clock: ticking(100), mostMs: 300 }
    expect(timedReplay(trace, { name: 'list' }, { processes: 8 }, slow).operations).toBe(256 + 128 + 64)
  })

  it('is repeated only within its limit', () => {
    const { ms } = timedReplay(trace, { name: 'list' }, { processes: 8 }, limit())
    const timed = { clock: ticking(), mostMs: 1.5 * ms }
    const { designs } = compareRank(0, trace, [{ name: 'list' }], { ...limits(), timed })
    expect(designs).toMatchObject([{ replays: 1, operations: trace.length, stopped: false }])
  })
})

describe('a comparison', () => {
  const reversed = () => compareRank(0, packed(reverseSearch(64, 10), 64), all, limits())

  it('names the receive that waits, and what lies before its message', () => {
    const { cause } = reversed()
    // The receives of source s pass 10 s entries first, and one less each.
    const passed = 10 * 630 - 45
    const shared = passed / ((630 * 631) / 2)
    expect(cause).toMatchObject({
      ...{ queue: 'unexpected', context: 0, source: 63, tags: [0, 9], searches: 10, passed, share: shared },
      ...{ isProbe: false, isMissing: false, order: 'newest-first' },
      alike: { sources: [1, 63], distinctSources: 63, searches: 630, order: 'newest-first' },
      deepest: {
        ...{ source: 63, tag: 9, found: true, passed: 630 },
        before: { sources: [1, 63], distinctSources: 63, distinctTags: 10, anySource: 0 },
      },
    })
  })

  it('names the source whose searches pass most together, not the deepest search', () => {
    const tags = Array.from({ length: 50 }, (_, tag) => tag)
    const operations = [
      ...tags.map((tag) => arrive(2, tag)),
      ...[arrive(1, 99), ask('post', 1, 99)],
      ...tags.map((tag) => ask('post', 2, 49 - tag)),
    ]
    const { cause } = compareRank(0, packed(operations, 4), all, limits())
    const passed = (50 * 51) / 2
    expect(cause).toMatchObject({
      ...{ source: 2, tags: [0, 49], passed, share: passed / (passed + 51), order: 'newest-first' },
      alike: { distinctSources: 2, share: 1 },
    })
  })

  it('knows probes as the cause, and those that find nothing', () => {
    const operations = [
      ...Array.from({ length: 9 }, (_, tag) => arrive(1, tag)),
      ...Array.from({ length: 9 }, () => ask('probe', 2, -1)),
    ]
    const { cause } = compareRank(0, packed(operations, 4), all, limits())
    expect(cause).toMatchObject({
      ...{ source: 2, tags: undefined, isProbe: true, isMissing: true, order: 'mixed' },
    })
    expect(cause?.deepest).toMatchObject({ isProbe: true, found: false, passed: 9 })
  })

  it('names the message that arrives where receives are long', () => {
    const posts = Array.from({ length: 50 }, (_, i): MatchingOperation => {
      return { kind: 'post', context: 2, source: i % 2 === 0 ? -1 : 3, tag: i }
    })
    const trace = packed([...posts, { kind: 'arrive', context: 2, source: 3, tag: 49 }], 4)
    expect(compareRank(1, trace, all, limits()).cause).toMatchObject({
      ...{ queue: 'posted', context: 2, source: 3, tags: [49, 49], passed: 50 },
      deepest: { before: { sources: [3, 3], distinctSources: 1, distinctTags: 49, anySource: 25 } },
    })
  })

  it('marks designs whose replays were stopped, those with a clock around each search too', () => {
    const trace = packed(randomTrace({ operations: 20_000, processes: 8, wildcards: 0, seed: 7 }), 8)
    const stopping = { ...limits(), metered: { clock: ticking(), mostMs: 5000 } }
    const steps: string[] = []
    const rank = compareRank(0, trace, [{ name: 'list' }, { name: 'index' }], stopping, (name) =>
      steps.push(name),
    )
    expect(rank.matchedOperations).toBeLessThan(trace.length)
    expect(rank.designs[0]).toMatchObject({ stopped: true, operations: trace.length })
    expect(rank.designs[0].countedOperations).toBeLessThanOrEqual(rank.matchedOperations)
    expect(steps.slice(0, 4)).toEqual(['list', 'index', 'list', 'index'])
  })

  it('adds up ranks, of which overheads are those of the largest', () => {
    const rank = reversed()
    const [one] = summedDesigns([rank])
    const [two] = summedDesigns([rank, { ...rank, rank: 1 }])
    expect([two.searches, two.traversals]).toEqual([2 * one.searches, 2 * one.traversals])
    expect([two.queues, two.overheadBytes, two.nsPerOperation]).toEqual([
      ...[one.queues, one.overheadBytes],
      expect.closeTo(one.nsPerOperation),
    ])
    expect(one.traversals).toBe((630 * 631) / 2)
  })

  it('finds the queue length from which on searches are faster', () => {
    const times = (ms: readonly number[]) => ({
      searches: new Float64Array(ms.length).fill(100),
      ms: Float64Array.from(ms),
    })
    const list = times([1, 1, 2, 4, 8])
    expect(crossoverLength(list, times([2, 2, 2, 2, 2]))).toBe(4)
    expect(crossoverLength(list, times([0.5, 0.5, 1, 1, 1]))).toBe(0)
    expect(crossoverLength(list, times([0, 0, 0, 0, 9]))).toBe(null)
    const rare = times([2, 2, 2, 2, 99])
    rare.searches[4] = 29
    expect(crossoverLength(list, rare)).toBe(4)
  })
})

describe('a verdict', () => {
  const verdictOf = (ms: Readonly<Record<string, number>>, passed = 50, isTrained = false) => {
    const rank = compareRank(0, packed(reverseSearch(4, 2), 4), all, limits())
    const sums = summedDesigns([rank]).map((sum) => ({
      ...sum,
      ms: ms[sum.design.name] ?? 100,
      traversals: sum.design.name === 'list' ? passed * sum.searches : sum.traversals,
    }))
    return matchingVerdict([rank], sums, isTrained)
  }

  it('goes by time', () => {
    expect(verdictOf({ list: 50, index: 10, bins: 9.5 })).toMatchObject({ kind: 'own', best: { ms: 9.5 } })
    expect(verdictOf({ list: 50, index: 10, bins: 8.1 }).kind).toBe('own')
    expect(verdictOf({ list: 50, index: 10, bins: 7.9 }).kind).toBe('other')
    expect(verdictOf({ list: 50, index: 10, bins: 5 })).toMatchObject({
      ...{ kind: 'other', best: { design: { name: 'bins' } }, worst: { rank: 0 } },
    })
    expect(verdictOf({ list: 12, index: 15, bins: 10 }).kind).toBe('healthy')
  })

  it('is that a program is healthy where a list passes few entries, or takes less than a millisecond', () => {
    const kinds = [
      [verdictOf({ list: 50, index: 10 }, 2), verdictOf({ list: 50, index: 10 }, 2.1)],
      [verdictOf({ list: 0.9, index: 0.1 }), verdictOf({ list: 1.1, index: 0.1 })],
    ].map((each) => each.map(({ kind }) => kind))
    expect(kinds).toEqual([
      ['healthy', 'own'],
      ['healthy', 'own'],
    ])
  })

  it('says that a design learned from what it replayed, unless it had another run', () => {
    const times = { list: 50, index: 10, clusters: 1 }
    expect(verdictOf(times)).toMatchObject({ kind: 'other', isSelfTrained: true })
    expect(matchingVerdictText(verdictOf(times))).toMatch(/were trained on the traces that they replayed/)
    expect(verdictOf(times, 50, true).isSelfTrained).toBe(false)
  })

  it('is none where nothing was searched', () => {
    const nothing = compareRank(0, packed([], 4), all, limits())
    const { kind, worst } = matchingVerdict([nothing], summedDesigns([nothing]))
    expect([kind, worst]).toEqual(['none', undefined])
  })
})
