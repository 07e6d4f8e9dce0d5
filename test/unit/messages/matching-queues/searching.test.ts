import { describe, expect, it } from 'vitest'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import { isMatch, matchingTraffic, QueueElement } from '../../../../src/messages/matching-queues/element.js'
import { lastElement, reverseSearch } from '../../../../src/messages/matching-queues/microbenchmarks.js'
import { MatchingReplay, replayTrace } from '../../../../src/messages/matching-queues/replay.js'
import { RoutedDesign } from '../../../../src/messages/matching-queues/routed-design.js'
import { ListsBySource } from '../../../../src/messages/matching-queues/source-lists.js'
import { ANY_SOURCE, ANY_TAG } from '../../../../src/messages/matching-queues/wildcards.js'
import { allDesigns, designTexts, elementOf, passedBy } from '../../../support/matching-traces.js'

const facts = { processes: 8, counts: { posted: new Map(), unexpected: new Map() } }
const each = allDesigns.map((design, i) => [designTexts[i], design] as const)

describe('the rule of matching', () => {
  it.each([
    [3, 5, 3, 5, true],
    [3, 5, 2, 5, false],
    [3, 5, 3, 4, false],
    [ANY_SOURCE, 5, 2, 5, true],
    [ANY_SOURCE, 5, 2, 4, false],
    [3, ANY_TAG, 3, 4, true],
    [3, ANY_TAG, 2, 4, false],
    [ANY_SOURCE, ANY_TAG, 2, 4, true],
    [ANY_SOURCE, ANY_TAG, 0, 0x7fffffff, true],
  ])(
    'a receive of source %d and tag %d, a message of source %d and tag %d: %s',
    (a, b, source, tag, matches) => {
      expect(isMatch(elementOf(a, b), elementOf(source, tag))).toBe(matches)
      expect(isMatch(elementOf(source, tag), elementOf(a, b))).toBe(matches)
    },
  )

  it('never takes another context or another kind of traffic', () => {
    const wild = { source: ANY_SOURCE, tag: ANY_TAG }
    const message = { context: 1, source: 0, tag: 0 }
    expect(isMatch(new QueueElement(0, { context: 1, ...wild }), new QueueElement(0, message))).toBe(true)
    expect(isMatch(new QueueElement(0, { context: 0, ...wild }), new QueueElement(0, message))).toBe(false)
    const gather = new QueueElement(0, message, matchingTraffic('gather'))
    expect(isMatch(new QueueElement(0, { context: 1, ...wild }), gather)).toBe(false)
    expect(isMatch(new QueueElement(0, { context: 1, ...wild }, matchingTraffic('bcast')), gather)).toBe(
      false,
    )
    expect(isMatch(new QueueElement(0, { context: 1, ...wild }, matchingTraffic('gather')), gather)).toBe(
      true,
    )
  })
})

describe.each(each)('%s', (_, design) => {
  it('gives a message to the receive that was posted first, from any source or not', () => {
    const posted = makeMatchingDesign<QueueElement>(design, 'posted', facts)
    for (const [number, source] of [2, ANY_SOURCE, 2, ANY_SOURCE].entries())
      posted.insert(elementOf(source, 7, number))
    const order = [0, 1, 2, 3].map(() => posted.search(elementOf(2, 7))?.number)
    expect(order).toEqual([0, 1, 2, 3])
    expect(posted.search(elementOf(2, 7))).toBe(undefined)
    expect(posted.size).toBe(0)
  })

  it('gives a receive from any source the message that arrived first', () => {
    const unexpected = makeMatchingDesign<QueueElement>(design, 'unexpected', facts)
    for (const [number, source] of [5, 3, 5, 0, 7].entries())
      unexpected.insert(elementOf(source, number % 2, number))
    expect(unexpected.search(elementOf(ANY_SOURCE, 1))?.number).toBe(1)
    expect(unexpected.search(elementOf(ANY_SOURCE, ANY_TAG))?.number).toBe(0)
    expect(unexpected.search(elementOf(5, ANY_TAG))?.number).toBe(2)
    expect(unexpected.search(elementOf(ANY_SOURCE, ANY_TAG))?.number).toBe(3)
  })

  it('leaves what a peek finds, counts the peek, and removes what is cancelled', () => {
    const posted = makeMatchingDesign<QueueElement>(design, 'posted', facts)
    const elements = [0, 1, 2].map((number) => elementOf(4, 1, number))
    for (const element of elements) posted.insert(element)
    expect(posted.peek(elementOf(4, 1))).toBe(elements[0])
    expect(posted.size).toBe(3)
    posted.remove(elements[1])
    expect([posted.search(elementOf(4, 1)), posted.search(elementOf(4, 1))]).toEqual([
      elements[0],
      elements[2],
    ])
    expect(posted.counters().searches).toBe(3)
  })

  it('takes an element again that has left it', () => {
    const posted = makeMatchingDesign<QueueElement>(design, 'posted', facts)
    const element = elementOf(1)
    for (let i = 0; i < 40; i++) {
      posted.insert(element)
      expect(posted.search(elementOf(1))).toBe(element)
    }
  })
})

describe('lists per source', () => {
  it.each([
    [16, 10],
    [64, 10],
    [64, 100],
  ])(
    'MB3, %d processes of %d messages: a list passes all, a list per source those of one',
    (processes, messages) => {
      const passed = (name: 'list' | 'source-lists') =>
        replayTrace(lastElement(processes, messages), { name }, { processes }).unexpected.traversals
      expect(passed('list')).toBe((processes - 1) * messages + 1)
      expect(passed('source-lists')).toBe(messages + 1)
    },
  )

  it('MB3 again and again receives the other messages in between', () => {
    const { unexpected } = replayTrace(lastElement(8, 10, 5), { name: 'source-lists' }, { processes: 8 })
    expect(unexpected.size).toBe(70)
    expect(unexpected.inserted).toBe(5 * 71)
  })

  it('take a place for each rank of each communicator', () => {
    const sizes = new Map([[3, 4]])
    const design = new RoutedDesign(
      new ListsBySource<QueueElement>({ processes: 100, communicatorSizes: sizes }),
      facts,
    )
    design.insert(elementOf(99))
    design.insert(new QueueElement(0, { context: 3, source: 1, tag: 0 }))
    design.insert(new QueueElement(0, { context: 3, source: 1, tag: 0 }))
    expect(design.counters()).toMatchObject({ queues: 2, overheadBytes: 8 * (100 + 4) })
  })

  it('without receives from any source no search looks for one', () => {
    const passed = (noAnySource: boolean) => {
      const posted = makeMatchingDesign<QueueElement>({ name: 'source-lists' }, 'posted', {
        processes: 8,
        noAnySource,
      })
      if (!noAnySource) posted.insert(elementOf(ANY_SOURCE, 9))
      posted.insert(elementOf(1))
      return passedBy(posted, () => posted.search(elementOf(1)))
    }
    expect([passed(false), passed(true)]).toEqual([2, 1])
    const hinted = makeMatchingDesign<QueueElement>({ name: 'source-lists' }, 'posted', {
      processes: 8,
      noAnySource: true,
    })
    expect(() => hinted.insert(elementOf(ANY_SOURCE))).toThrow(
      expect.objectContaining({
        code: 'ERR_ARGUMENT',
        message: "expected a receive that names its source, got 'ANY_SOURCE'",
      }),
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
