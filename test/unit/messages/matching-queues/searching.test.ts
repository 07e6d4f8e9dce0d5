import { describe, expect, it } from 'vitest'
import { QueueElement, RoutedDesign } from '../../../../src/messages/matching-queues/design.js'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import { ANY_SOURCE } from '../../../../src/messages/matching-queues/entry-list.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import { MatchingReplay } from '../../../../src/messages/matching-queues/replay.js'
import { ListsBySource } from '../../../../src/messages/matching-queues/source-lists.js'
import { groupedSenders, lastElement, reverseSearch } from '../../../support/matching-microbenchmarks.js'
import { elementOf, passedBy } from '../../../support/matching-traces.js'
import { replayTrace } from '../../../support/replay-trace.js'

/** Entries that the receives of a trace pass in the mean. */
function meanPassed(trace: Iterable<MatchingOperation>, name: 'list' | 'source-lists' | 'index') {
  const { unexpected } = replayTrace(trace, { name }, { processes: 1024 })
  return unexpected.traversals / unexpected.searches
}

it('a list passes half of the messages that are received in reverse', () => {
  expect(meanPassed(reverseSearch(64, 10), 'list')).toBe(315.5)
  expect(meanPassed(groupedSenders(4), 'list')).toBe(324.5)
})

describe('lists per source', () => {
  it('pass messages of one source only where a list passes all, again and again', () => {
    expect(meanPassed(lastElement(64, 10), 'list')).toBe(631)
    expect(meanPassed(lastElement(64, 10), 'source-lists')).toBe(11)
    const { unexpected } = replayTrace(lastElement(8, 10, 5), { name: 'source-lists' }, { processes: 8 })
    expect([unexpected.size, unexpected.inserted]).toEqual([70, 5 * 71])
  })

  it('take a place for each rank of each communicator', () => {
    const sizes = new Map([[3, 4]])
    const design = new RoutedDesign(
      new ListsBySource<QueueElement>({ processes: 100, communicatorSizes: sizes }),
      { processes: 8 },
    )
    design.insert(elementOf(99))
    design.insert(new QueueElement(0, { context: 3, source: 1, tag: 0 }))
    design.insert(new QueueElement(0, { context: 3, source: 1, tag: 0 }))
    expect(design.counters()).toMatchObject({ queues: 2, overheadBytes: 8 * (100 + 4) })
  })

  it('without receives from any source no search looks for one', () => {
    const made = (noAnySource: boolean) =>
      makeMatchingDesign<QueueElement>({ name: 'source-lists' }, 'posted', { processes: 8, noAnySource })
    const passed = (noAnySource: boolean) => {
      const posted = made(noAnySource)
      if (!noAnySource) posted.insert(elementOf(ANY_SOURCE, 9))
      posted.insert(elementOf(1))
      return passedBy(posted, () => posted.search(elementOf(1)))
    }
    expect([passed(false), passed(true)]).toEqual([2, 1])
    expect(() => made(true).insert(elementOf(ANY_SOURCE))).toThrow(
      "expected a receive that names its source, got 'ANY_SOURCE'",
    )
  })
})

it('bins pass the elements of one bin, and all of them for a wildcard', () => {
  const design = { name: 'bins', options: { bins: 4096 } } as const
  const unexpected = makeMatchingDesign<QueueElement>(design, 'unexpected', { processes: 100 })
  for (let source = 0; source < 100; source++) unexpected.insert(elementOf(source))
  expect(passedBy(unexpected, () => unexpected.peek(elementOf(99)))).toBeLessThan(10)
  expect(passedBy(unexpected, () => unexpected.peek(elementOf(ANY_SOURCE, 5)))).toBe(100)
})

describe('the index', () => {
  it('passes a few entries per search, however long the queue is', () => {
    for (const processes of [64, 1024]) {
      const { unexpected } = replayTrace(reverseSearch(processes, 10), { name: 'index' }, { processes })
      expect(unexpected.traversals / unexpected.searches).toBeLessThan(4)
      expect(unexpected.overheadBytes).toBeGreaterThan(unexpected.longest * 16)
    }
  })

  it('counts what a search compares', () => {
    const replay = new MatchingReplay({ name: 'index' }, { processes: 8 })
    for (let tag = 0; tag < 5; tag++) replay.apply({ kind: 'arrive', context: 0, source: 1, tag })
    replay.apply({ kind: 'post', context: 0, source: 1, tag: 3 })
    expect(replay.report('unexpected').traversals).toBe(4)
    replay.apply({ kind: 'probe', context: 0, source: 1, tag: 9 })
    expect(replay.report('unexpected').traversals).toBe(8)
    expect(replay.report('unexpected').searches).toBe(2)
  })
})
