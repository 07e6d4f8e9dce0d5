import { describe, expect, it } from 'vitest'
import {
  matchingComparisonText,
  matchingVerdictText,
  searchCauseText,
  searchRemedyText,
} from '../../../../src/cli/output/matching-comparison.js'
import {
  compareRank,
  matchingVerdict,
  type SummedDesign,
  summedDesigns,
} from '../../../../src/messages/matching-queues/compare-designs.js'
import type { NamedDesign } from '../../../../src/messages/matching-queues/designs.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import { PackedTrace } from '../../../../src/messages/matching-queues/packed-replay.js'
import { reverseSearch } from '../../../support/matching-microbenchmarks.js'

const designs: readonly NamedDesign[] = [
  { name: 'list' },
  { name: 'source-lists' },
  { name: 'index' },
  { name: 'bins' },
]

/** A clock that advances by a tick a reading. */
function ticking(): () => number {
  let ms = 0
  return () => ms++
}

function compared(operations: Iterable<MatchingOperation>, meteredMs = 1e9) {
  const trace = new PackedTrace({ processes: 64 })
  for (const operation of operations) trace.push(operation)
  return compareRank(0, trace, designs, {
    timed: { clock: ticking(), mostMs: 1e9 },
    metered: { clock: ticking(), mostMs: meteredMs },
  })
}

const reversed = () => compared(reverseSearch(64, 4))

type Changed = Readonly<Record<string, Partial<SummedDesign>>>

function verdictText(changed: Changed): string {
  const rank = reversed()
  const sums = summedDesigns([rank]).map((sum) => {
    const change = changed[sum.design.name]
    return { ...sum, leastMs: change.ms ?? 0, longestRankMs: change.ms ?? 0, ...change }
  })
  return matchingVerdictText(matchingVerdict([rank], sums))
}

describe('the verdict on matching', () => {
  it('states gains against both MPI libraries, and what the index has already', () => {
    const text = verdictText({
      list: { ms: 60 },
      'source-lists': { ms: 12 },
      index: { ms: 4 },
      bins: { ms: 3.3 },
    })
    expect(text).toMatch(/^Matching took 60\.0 ms in all by one list and 4\.00 ms by the index of Rankweave/)
    expect(text).toContain(
      'Matching by an index is 15 times as fast as one list, the design of MPICH, and 3 times as fast as a list per source, that of Open MPI. Rankweave has that index already.',
    )
  })

  it('recommends another design than the index only beyond 1.25 times, and no gain where Open MPI has it', () => {
    const times = { list: { ms: 60 }, index: { ms: 4 } }
    const bins = verdictText({ ...times, 'source-lists': { ms: 12 }, bins: { ms: 3 } })
    expect(bins).toContain(
      'Matching by bins is 20 times as fast as one list, the design of MPICH, 4 times as fast as a list per source, that of Open MPI, and 1.3 times as fast as the index of Rankweave. That index is 15 times',
    )
    const sources = verdictText({ ...times, 'source-lists': { ms: 2 }, bins: { ms: 3 } })
    expect(sources).toContain(
      'the design of MPICH, which Open MPI has already, and 2 times as fast as the index',
    )
    expect(sources).toContain('and no faster than a list per source, that of Open MPI.')
  })

  it('says at least where the replay of the slower design was stopped', () => {
    const text = verdictText({
      list: { ms: 90_000, leastMs: 10_000, stopped: true },
      ...{ 'source-lists': { ms: 12 }, index: { ms: 4 }, bins: { ms: 4 } },
    })
    expect(text).toContain('Matching took at least 10.0 s in all by one list and 4.00 ms by the index')
    expect(text).toContain('is at least 2,500 times as fast as one list')
  })

  it('names the time of one rank where several took it', () => {
    const times = { 'source-lists': { ms: 12 }, index: { ms: 4 }, bins: { ms: 4 } }
    expect(verdictText({ list: { ms: 60, longestRankMs: 20 }, ...times })).toContain(
      'took 60.0 ms (20.0 ms of one rank) in all',
    )
  })
})

describe('a comparison', () => {
  it('says of how many operations counts are where replays were stopped', () => {
    const operations = function* (): Generator<MatchingOperation> {
      for (let tag = 0; tag < 6000; tag++) {
        yield { kind: 'post', context: 0, source: 1, tag }
        yield { kind: 'arrive', context: 0, source: 1, tag }
      }
    }
    const rank = { ...compared(operations(), 5000), file: 'rank-0.jsonl', bounded: false, shortened: false }
    const sums = summedDesigns([rank])
    const text = matchingComparisonText([rank], sums, matchingVerdict([rank], sums))
    expect(text).toMatch(/6,000 messages, [\d,]+ matched of the first [\d,]+ operations\n/)
    expect(text).toMatch(/posted receives: [\d,]+ searches of the first [\d,]+ operations, /)
    expect(text).toMatch(/^ +list \* /m)
  })
})

describe('the cause of long searches', () => {
  const arrivals = (sources: readonly number[]) =>
    sources.map((source, tag): MatchingOperation => ({ kind: 'arrive', context: 0, source, tag }))
  const nine = [...Array(9).keys()]

  it('names probes, and recommends matched ones', () => {
    const probes = nine.map((): MatchingOperation => ({ kind: 'probe', context: 0, source: 2, tag: -1 }))
    const cause = compared([...arrivals(nine.map(() => 1)), ...probes]).cause!
    expect(searchCauseText(3, cause)).toBe(
      '100% of the entries passed: rank 3 probes for source 2, any tag (communicator 0), mostly before the message is there',
    )
    expect(searchRemedyText(cause)).toMatch(/by a matched probe/)
  })

  it('names messages that pass receives', () => {
    const posts = nine.map((tag): MatchingOperation => ({ kind: 'post', context: 0, source: 1, tag }))
    const last = nine.map(
      (tag): MatchingOperation => ({ kind: 'arrive', context: 0, source: 1, tag: 8 - tag }),
    )
    const cause = compared([...posts, ...last]).cause!
    expect(searchCauseText(0, cause)).toBe(
      '100% of the entries passed: messages from source 1, tags 0 to 8 (communicator 0), arrive at rank 0, for the newest receive first',
    )
    expect(searchRemedyText(cause)).toBe('post receives in the order in which their messages arrive')
  })

  it('recommends any source where messages of others lie before', () => {
    const takes = nine.map(
      (tag): MatchingOperation => ({ kind: 'post', context: 0, source: 9 - tag, tag: 8 - tag }),
    )
    const cause = compared([...arrivals(nine.map((tag) => tag + 1)), ...takes]).cause!
    expect(searchRemedyText(cause)).toMatch(/ANY_SOURCE/)
  })
})
