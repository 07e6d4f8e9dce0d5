import { describe, expect, it } from 'vitest'
import {
  makeMatchingDesign,
  matchingDesignNames,
  matchingDesigns,
  matchingDesignsHelp,
  type NamedDesign,
  parsedMatchingDesign,
} from '../../../../src/messages/matching-queues/designs.js'
import { ANY_SOURCE, ANY_TAG } from '../../../../src/messages/matching-queues/entry-list.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/matching-trace.js'
import { MatchingReplay } from '../../../../src/messages/matching-queues/replay.js'
import { coded } from '../../../support/on-ranks.js'
import { replayTrace } from '../../../support/replay-trace.js'

const facts = { processes: 4 }
const list: NamedDesign = { name: 'list' }
const at = { context: 0, source: 1, tag: 5 }

describe('a replay', () => {
  it('returns what every operation has found', () => {
    const trace: MatchingOperation[] = [
      { kind: 'probe', ...at },
      { kind: 'post', ...at },
      { kind: 'post', ...at, source: ANY_SOURCE },
      { kind: 'arrive', ...at, source: 2 },
      { kind: 'cancel', receive: 0 },
      { kind: 'cancel', receive: 0 },
      { kind: 'cancel', receive: 1 },
      { kind: 'arrive', ...at },
      { kind: 'arrive', ...at, tag: 6 },
      { kind: 'probe', ...at, tag: ANY_TAG },
      { kind: 'mprobe', ...at, tag: 6 },
      { kind: 'mprobe', ...at, tag: 6 },
      { kind: 'post', ...at, tag: ANY_TAG },
    ]
    const { matches, operations, posted, unexpected } = replayTrace(trace, list, facts)
    expect([...matches]).toEqual([-1, -1, -1, 1, 0, -1, -1, -1, -1, 1, 2, -1, 1])
    expect(operations).toBe(13)
    expect(posted).toMatchObject({ inserted: 2, size: 0, longest: 2, searches: 3, meanLength: 4 / 13 })
    expect(unexpected).toMatchObject({ inserted: 2, size: 0, longest: 2, searches: 7, meanLength: 7 / 13 })
  })

  it('keeps collectives, other collectives and point-to-point messages apart', () => {
    const trace: MatchingOperation[] = [
      { kind: 'arrive', ...at, collective: 'gather' },
      { kind: 'arrive', ...at },
      { kind: 'post', ...at, collective: 'bcast' },
      { kind: 'post', ...at },
      { kind: 'post', ...at, collective: 'gather' },
    ]
    expect([...replayTrace(trace, list, facts).matches]).toEqual([-1, -1, -1, 1, 0])
  })

  it('reads a trace once, as it goes, and holds no more than its queues', () => {
    const replay = new MatchingReplay({ name: 'index' }, facts)
    for (let i = 0; i < 10_000; i++) {
      replay.apply({ kind: 'post', ...at })
      replay.apply({ kind: 'arrive', ...at })
    }
    expect(replay.report('posted')).toMatchObject({ longest: 1, size: 0, inserted: 10_000 })
  })

  it('of nothing has searched nothing', () => {
    const { operations, posted } = replayTrace([], list, facts)
    expect(operations).toBe(0)
    expect(posted).toMatchObject({ searches: 0, traversals: 0, meanLength: 0 })
  })

  it.each([
    [null, 'an object, got null'],
    [{ ...at, kind: 'send' }, "kind post, arrive, probe, mprobe or cancel, got 'send'"],
    [{ ...at, kind: 'post', context: -1 }, 'context, an integer from 0 to 2147483647, got -1'],
    [{ ...at, kind: 'post', context: 2 ** 31 }, 'context, an integer from 0 to 2147483647, got 2147483648'],
    [{ ...at, kind: 'post', source: 4 }, 'source, an integer from 0 to 3 or ANY_SOURCE (-1), got 4'],
    [{ ...at, kind: 'arrive', source: -1 }, 'source, an integer from 0 to 3, got -1'],
    [{ ...at, kind: 'post', tag: 0.5 }, 'tag, an integer from 0 to 2147483647 or ANY_TAG (-1), got 0.5'],
    [{ ...at, kind: 'arrive', tag: -1 }, 'tag, an integer from 0 to 2147483647, got -1'],
    [{ ...at, kind: 'post', tag: '5' }, "tag, an integer from 0 to 2147483647 or ANY_TAG (-1), got '5'"],
    [{ ...at, kind: 'arrive', bytes: -8 }, 'bytes, an integer >= 0, got -8'],
    [{ ...at, kind: 'arrive', call: Number.NaN }, 'call, an integer >= 0, got NaN'],
    [{ kind: 'cancel' }, 'receive, an integer >= 0, got undefined'],
    [{ kind: 'cancel', receive: 1 }, 'receive, one of 1 posts before, got 1'],
  ])('refuses %j', (operation, message) => {
    const replay = new MatchingReplay(list, facts)
    replay.apply({ kind: 'post', ...at })
    expect(() => replay.apply(operation as MatchingOperation)).toThrow(
      coded('ERR_ARGUMENT', `operation 1: expected ${message}`),
    )
    // The next operation is as if it had not been there.
    expect(replay.apply({ kind: 'arrive', ...at })).toBe(0)
  })

  it('refuses sources that the communicator does not have, any source where none is expected, and other collectives', () => {
    const sizes = new Map([[3, 2]])
    const replay = new MatchingReplay(list, { processes: 9, communicatorSizes: sizes, noAnySource: true })
    const refused = (operation: unknown) => {
      try {
        replay.apply(operation as MatchingOperation)
      } catch (error) {
        return (error as Error).message
      }
      return undefined
    }
    const expected = 'operation 0: expected source, an integer from 0 to 1, got'
    expect(refused({ kind: 'post', context: 3, source: 2, tag: 0 })).toBe(`${expected} 2`)
    expect(refused({ kind: 'post', context: 3, source: -1, tag: 0 })).toBe(`${expected} -1`)
    expect(refused({ ...at, kind: 'post', collective: 'gatherv' })).toContain("got 'gatherv'")
    expect(refused({ kind: 'post', context: 4, source: 8, tag: 0 })).toBe(undefined)
  })
})

describe('designs by name', () => {
  it('are made by default and from their texts', () => {
    const counts = { posted: new Map(), unexpected: new Map() }
    for (const name of matchingDesignNames) {
      expect(
        makeMatchingDesign({ name } as NamedDesign, 'posted', { ...facts, counts }).counters(),
      ).toMatchObject({ ...{ searches: 0, traversals: 0 }, ...{ levels: 0, collectiveQueues: 0 } })
      expect(parsedMatchingDesign(name)).toEqual({ name, options: {} })
    }
    expect(parsedMatchingDesign('clusters:method=k-means,k=8')).toEqual({
      name: 'clusters',
      options: { method: 'k-means', k: 8 },
    })
  })

  it.each([
    ['tree', /^expected a matching design among list, source-lists, .*, got 'tree'$/],
    ['', /got ''$/],
    ['constructor', /got 'constructor'$/],
    ['bins:size=3', /^bins: expected bins, got 'size'$/],
    ['bins:bins=0', /^bins: expected bins, an integer from 1 to 1048576, got '0'$/],
    ['clusters:method=x', /^clusters: expected method=heuristic or method=k-means, got 'method=x'$/],
    ['clusters:k=2,k=2', /^clusters: expected k once, got 'k=2'$/],
  ])('refuse the text %j', (text, message) => {
    expect(() => parsedMatchingDesign(text)).toThrow(coded('ERR_ARGUMENT', expect.stringMatching(message)))
  })

  it('refuse to start from counts of no run, and options that are not theirs', () => {
    expect(() => makeMatchingDesign({ name: 'clusters' }, 'posted', facts)).toThrow(
      'clusters: expected the counts of an earlier run',
    )
    const design = { name: 'bins', options: { bin: 3 } } as unknown as NamedDesign
    expect(() => makeMatchingDesign(design, 'posted', facts)).toThrow(/did you mean 'bins'/)
  })

  it('have a line of help each, and one per option', () => {
    const options = Object.values(matchingDesigns).flatMap((kind) => Object.keys(kind.options))
    expect(matchingDesignsHelp.split('\n')).toHaveLength(matchingDesignNames.length + options.length)
  })
})

it.each([0, -1, 1.5, 2 ** 22 + 1])('a replay refuses %d processes', (processes) => {
  expect(() => new MatchingReplay(list, { processes })).toThrow(
    coded('ERR_ARGUMENT', `expected processes, an integer from 1 to 4194304, got ${processes}`),
  )
})

it('a design refuses counts of more processes than there are', () => {
  const counts = { posted: new Map([[0, [1, 2, 3, 4, 5]]]), unexpected: new Map() }
  expect(() => makeMatchingDesign({ name: 'partners-static' }, 'posted', { processes: 4, counts })).toThrow(
    coded('ERR_ARGUMENT', 'partners-static: expected counts of 4 processes, got 5'),
  )
})
