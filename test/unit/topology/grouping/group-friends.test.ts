import { describe, expect, test } from 'vitest'
import { partBounds } from '../../../../src/topology/friends/friend-groups.js'
import type { GroupingEngine, GroupingOptions } from '../../../../src/topology/friends/grouping-options.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/random-graphs.js'
import { groupFriends } from '../../../../src/topology/grouping/group-friends.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { plainGroupsOf } from '../../../property/grouping-oracle.js'
import { refusal } from '../../../support/refusal.js'

/** A topology from every rank's destinations. */
function lists(...destinations: readonly (readonly number[])[]): ProcessTopology {
  return topologyFromEdges(destinations.length, {
    sources: destinations.flatMap((row, p) => row.map(() => p)),
    destinations: destinations.flat(),
  })
}

const agnostic = (topology: ProcessTopology, k: number, theta: number) =>
  plainGroupsOf(groupFriends(topology, { k, mode: 'agnostic', theta }))

describe('groupFriends, threshold', () => {
  const sharing = (common: number) =>
    lists(
      ...[0, 1].map(() => Array.from({ length: common }, (_, i) => 2 + i)),
      ...Array.from({ length: common }, () => []),
    )

  test.each([
    ['agnostic', 2, 2],
    ['aware', 2, 2],
    ['agnostic', 3, 6],
    ['aware', 3, 3],
    ['agnostic', 4, 12],
    ['aware', 4, 4],
  ] as const)('default of %s with k=%i is %i', (mode, k, theta) => {
    const found = groupFriends(sharing(1), { k, mode, nodeOf: new Int32Array(3) })
    expect(found).toMatchObject({ theta, k, mode, count: 0, steps: 0 })
  })
})

describe('groupFriends, edge cases', () => {
  test('no edges, one rank, and k above the number of ranks make no groups', () => {
    expect(agnostic(lists([], [], []), 2, 0)).toEqual({ groups: [], direct: [[], [], []] })
    expect(agnostic(lists([0]), 2, 0)).toEqual({ groups: [], direct: [[]] })
    for (const k of [7, 1e6, 2 ** 20]) {
      expect(agnostic(lists([1], [0]), k, 0)).toEqual({ groups: [], direct: [[1], [0]] })
    }
  })
})

test('more columns than a word, and more friends than fit a small sort, keep the order', () => {
  // 70 senders to 100 ranks: sender p leaves out rank p of the common ones.
  const senders = 70
  const common = Array.from({ length: 100 }, (_, i) => senders + i)
  const rows = Array.from({ length: senders }, (_, p) => common.filter((q) => q !== senders + p))
  const { groups } = agnostic(lists(...rows, ...common.map(() => [])), 4, 12)
  expect(groups[0].members).toEqual([0, 1, 2, 3])
  expect(groups[0].common).toEqual(common.slice(4))
  expect(groups.filter(({ step }) => step === 0)).toHaveLength(17)
})

describe('progress', () => {
  const topology = erdosRenyiTopology({ ranks: 200, density: 0.5, seed: 1 })

  test.each(['greedy', 'improved'] as const)('%s reports from inside the search', (engine) => {
    const seen: number[] = []
    groupFriends(topology, {
      k: 3,
      mode: 'agnostic',
      theta: 30,
      engine,
      onProgress: ({ searches }) => seen.push(searches),
    })
    expect(seen.length).toBeGreaterThan(0)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
  })

  test('improved reports its local search, which takes more steps than finding the groups', () => {
    const of = (engine: 'greedy' | 'improved') => {
      let reports = 0
      const onProgress = () => void reports++
      groupFriends(erdosRenyiTopology({ ranks: 256, density: 0.1, seed: 1 }), {
        ...{ k: 2, mode: 'agnostic', engine, onProgress },
      })
      return reports
    }
    expect(of('improved')).toBeGreaterThan(of('greedy') + 10)
  })

  test.each(['greedy', 'improved'] as const)(
    'an aborted signal ends the search of %s: before it begins, and inside',
    (engine) => {
      const options = { k: 3, mode: 'agnostic', theta: 30, engine } as const
      const reason = new Error('enough')
      const aborted = expect.objectContaining({ code: 'ERR_ABORTED', cause: reason })
      const none = () => expect.unreachable()
      expect(() =>
        groupFriends(topology, { ...options, signal: AbortSignal.abort(reason), onProgress: none }),
      ).toThrow(aborted)
      const controller = new AbortController()
      let reports = 0
      const onProgress = () => {
        reports++
        controller.abort(reason)
      }
      expect(() => groupFriends(topology, { ...options, signal: controller.signal, onProgress })).toThrow(
        aborted,
      )
      expect(reports).toBe(1)
    },
  )

  test('refuses what is not a signal', () => {
    const signal = {} as AbortSignal
    expect(() => groupFriends(topology, { k: 3, mode: 'agnostic', signal })).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT' }),
    )
  })

  test('what the report throws ends the search', () => {
    const stop = new Error('enough')
    const onProgress = () => {
      throw stop
    }
    expect(() => groupFriends(topology, { k: 3, mode: 'agnostic', theta: 30, onProgress })).toThrow(stop)
  })
})

test('local search leaves groups of more than 12 as greedy found them', () => {
  // 26 senders to 40 ranks, of which each leaves out a few: greedy is not the best, and a pool holds no whole
  // group.
  const senders = 26
  const common = Array.from({ length: 40 }, (_, i) => senders + i)
  const rows = Array.from({ length: senders }, (_, p) => common.filter((q) => (q * 7 + p * 5) % 11 > 0))
  const topology = lists(...rows, ...common.map(() => []))
  for (const k of [12, 13, 20]) {
    const found = (engine: GroupingEngine) =>
      groupFriends(topology, { k, mode: 'agnostic', theta: 1, engine })
    const [greedy, improved] = [found('greedy'), found('improved')]
    expect(greedy.count).toBeGreaterThan(0)
    if (k > 12) expect(improved.members).toEqual(greedy.members)
    else expect(improved.weight).toBeGreaterThanOrEqual(greedy.weight)
  }
})

test('groups of more than 256 are rejected if there could be any', () => {
  const many = lists(...Array.from({ length: 300 }, () => [300]), [])
  expect(agnostic(many, 256, 0).groups).toHaveLength(1)
  expect(agnostic(many, 256, 1).groups).toEqual([])
  expect(agnostic(many, 301, 0).groups).toEqual([])
  expect(() => agnostic(many, 257, 0)).toThrow(refusal('ERR_STRATEGY', /at most 256, got 257/))
})

test.each([
  [{ k: 1, mode: 'agnostic' }, /k, an integer from 2 to 1048576, got 1/],
  [{ k: 2.5, mode: 'agnostic' }, /got 2.5/],
  [{ k: Number.NaN, mode: 'aware' }, /got NaN/],
  [{ k: 2, mode: 'agnostic', theta: -1 }, /theta, an integer from 0 to 2147483647, got -1/],
  [{ k: 2, mode: 'agnostic', theta: 1.5 }, /got 1.5/],
  [{ k: 2, mode: 'aware' }, /needs the node of every rank/],
  [{ k: 2, mode: 'aware', nodeOf: null }, /needs the node of every rank/],
  [{ k: 2, mode: 'aware', nodeOf: new Int32Array(3) }, /each of 2 ranks, got 3/],
  [{ k: 2, mode: 'sideways' as 'aware' }, /aware or agnostic, got 'sideways'/],
] as [GroupingOptions, RegExp][])('groupFriends rejects %j', (options, message) => {
  expect(() => groupFriends(lists([1], [0]), options)).toThrow(refusal('ERR_STRATEGY', message))
})

test.each([
  [
    5,
    2,
    [
      [0, 3],
      [3, 5],
    ],
  ],
  [
    7,
    3,
    [
      [0, 3],
      [3, 5],
      [5, 7],
    ],
  ],
  [
    8,
    4,
    [
      [0, 2],
      [2, 4],
      [4, 6],
      [6, 8],
    ],
  ],
  [
    2,
    4,
    [
      [0, 1],
      [1, 2],
      [2, 2],
      [2, 2],
    ],
  ],
])('partBounds of %i common neighbors in %i parts: the first parts get one more', (m, k, parts) => {
  expect(Array.from({ length: k }, (_, i) => partBounds(m, k, i))).toEqual(parts)
})
