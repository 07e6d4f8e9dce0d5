import { describe, expect, it } from 'vitest'
import {
  CollectiveQueues,
  type CollectiveQueuesRule,
} from '../../../../src/messages/matching-queues/collective-queues.js'
import {
  matchingTraffic,
  QueueElement,
  RoutedDesign,
} from '../../../../src/messages/matching-queues/design.js'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import { MatchingReplay } from '../../../../src/messages/matching-queues/replay.js'
import type { Collective } from '../../../../src/schedule/specification.js'
import { sourcesOfCall } from '../../../support/collective-streams.js'
import { elementOf, passedBy } from '../../../support/matching-traces.js'

const collectives = { name: 'collectives' } as const

interface Gather {
  readonly processes: number
  readonly collective?: Collective
  readonly bytes?: number
  readonly call?: number
}

/** A message of every other process arrives at process 0, which receives the last one first. */
function* gatherInReverse({
  processes,
  collective = 'gather',
  ...fields
}: Gather): Generator<MatchingOperation> {
  const messages = sourcesOfCall('fan-in', processes, 0).map((source) => ({
    ...{ context: 0, source, tag: 0, collective },
    ...fields,
  }))
  for (const message of messages) yield { kind: 'arrive', ...message }
  for (const message of messages.toReversed()) yield { kind: 'post', ...message }
}

/** Elements that the receives of a trace pass in the mean. */
function meanPassed(replay: MatchingReplay, trace: Iterable<MatchingOperation>): number {
  const before = replay.report('unexpected')
  for (const operation of trace) replay.apply(operation)
  const after = replay.report('unexpected')
  return (after.traversals - before.traversals) / (after.searches - before.searches)
}

describe('a gather of unexpected messages, received in reverse', () => {
  it.each([
    [1024, 1, 32, 512, 16.48],
    [512, 8, 181, 256, 1.94],
  ])(
    'of %d processes, factor %d, gets %d lists in its first call; %d, then %d passed',
    (processes, factor, lists, first, second) => {
      const replay = new MatchingReplay({ ...collectives, options: { factor } }, { processes })
      expect(meanPassed(replay, gatherInReverse({ processes }))).toBe(first)
      expect(replay.report('unexpected')).toMatchObject({ collectiveQueues: 0, queues: 2 })
      expect(meanPassed(replay, gatherInReverse({ processes }))).toBeCloseTo(second, 2)
      expect(replay.report('unexpected')).toMatchObject({ collectiveQueues: lists, levels: 1 })
      expect(meanPassed(replay, gatherInReverse({ processes }))).toBeCloseTo(second, 2)
      expect(replay.report('posted').collectiveQueues).toBe(0)
    },
  )

  it('gets none where the cap is strict, as it asks for more than are left', () => {
    const processes = 1024
    const listsOf = (factor: number) => {
      const replay = new MatchingReplay({ ...collectives, options: { cap: 'strict', factor } }, { processes })
      for (let call = 0; call < 2; call++) meanPassed(replay, gatherInReverse({ processes }))
      return replay.report('unexpected').collectiveQueues
    }
    expect([listsOf(16), listsOf(16.1)]).toEqual([0, 512])
  })
})

describe('classes of calls', () => {
  const processes = 64
  const replayOf = (...calls: Partial<Gather>[]) => {
    const replay = new MatchingReplay({ ...collectives, options: { factor: 16 } }, { processes })
    for (const call of calls)
      for (const operation of gatherInReverse({ processes, ...call })) replay.apply(operation)
    return replay.report('unexpected')
  }

  it('differ by the magnitude of bytes: the first call of each is measured', () => {
    expect(replayOf({ bytes: 8 }, { bytes: 15 }).levels).toBe(1)
    expect(replayOf({ bytes: 8 }, { bytes: 16 }).levels).toBe(0)
  })

  it('that ask for no more lists than the last level has add none', () => {
    const { levels, collectiveQueues } = replayOf({}, {}, { bytes: 99 }, { bytes: 99 }, { bytes: 99 })
    expect({ levels, collectiveQueues }).toEqual({ levels: 1, collectiveQueues: 32 })
  })

  it('have lists by collective, and all together stay below the cap', () => {
    const { levels, collectiveQueues } = replayOf({}, {}, { collective: 'reduce' }, { collective: 'reduce' })
    expect({ levels, collectiveQueues }).toEqual({ levels: 2, collectiveQueues: 64 })
    const replay = new MatchingReplay(collectives, { processes })
    for (const collective of ['gather', 'reduce', 'scan', 'alltoall'] as const)
      for (let call = 0; call < 2; call++)
        for (const operation of gatherInReverse({ processes, collective })) replay.apply(operation)
    expect(replay.report('unexpected').collectiveQueues).toBe(8)
  })

  it('with numbered calls are measured until the next call, whether or not their queue was empty', () => {
    const one = (source: number, call: number, kind: 'arrive' | 'post'): MatchingOperation => ({
      ...{ kind, context: 0, source, tag: 0, collective: 'gather', call },
    })
    const replay = new MatchingReplay({ ...collectives, options: { factor: 16 } }, { processes })
    for (let source = 1; source <= 3; source++) {
      replay.apply(one(source, 0, 'arrive'))
      replay.apply(one(source, 0, 'post'))
    }
    expect(replay.report('unexpected').levels).toBe(0)
    replay.apply(one(1, 1, 'arrive'))
    expect(replay.report('unexpected')).toMatchObject({ levels: 1, collectiveQueues: 1 })
  })
})

describe('the order of messages', () => {
  const rule: CollectiveQueuesRule = { factor: 16, cap: 'clip' }
  const element = (number: number, bytes: number, source = 1) =>
    new QueueElement(number, { context: 0, source, tag: 0, bytes }, matchingTraffic('gather'))

  it('holds where a new class is measured while an older message waits in a level', () => {
    const design = new RoutedDesign(new CollectiveQueues<QueueElement>({ processes: 64 }, rule), {
      processes: 64,
    })
    design.insert(element(0, 8))
    design.search(element(0, 8))
    // In a level now, and then one of another class in the shared list.
    design.insert(element(1, 8))
    design.insert(element(2, 1000))
    expect(design.counters()).toMatchObject({ levels: 1 })
    expect([1, 2].map(() => design.search(element(9, 8))?.number)).toEqual([1, 2])
  })
})

describe('separate traffic', () => {
  it('never searches the other kind', () => {
    const design = makeMatchingDesign<QueueElement>(collectives, 'unexpected', { processes: 8 })
    for (let i = 0; i < 5; i++) design.insert(elementOf(1, 7))
    expect(
      passedBy(design, () => design.search(new QueueElement(0, { context: 0, source: 1, tag: 7 }, 3))),
    ).toBe(0)
    for (let i = 0; i < 5; i++) design.insert(new QueueElement(0, { context: 0, source: 1, tag: 0 }, 3))
    expect(passedBy(design, () => design.search(elementOf(1, 0)))).toBe(5)
    expect(design.size).toBe(10)
  })
})
