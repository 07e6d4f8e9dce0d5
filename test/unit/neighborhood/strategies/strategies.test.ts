import { opKind, plan, planStatistics, type Schedule, type Strategy, verify } from 'rankweave/schedule'
import { cartTopology, mooreTopology, type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'

function lists(...destinations: readonly (readonly number[])[]): ProcessTopology {
  return topologyFromEdges(destinations.length, {
    sources: destinations.flatMap((row, p) => row.map(() => p)),
    destinations: destinations.flat(),
  })
}

/** The operations of one rank and phase, one line each: `send 1>2 #0 [0@0]`. */
function operations(schedule: Schedule, rank: number, phase: number): string[] {
  const { opPhase, opStart, entryStart } = schedule
  const lines: string[] = []
  for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
    if (opPhase[op] !== phase) continue
    const kind = schedule.opKind[op]
    const entries: string[] = []
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      const [block, from, to] = [schedule.entryBlock[e], schedule.entryFrom[e], schedule.entryTo[e]]
      entries.push(
        kind === opKind.copy ? `${block}@${from}>${to}` : `${block}@${kind === opKind.send ? from : to}`,
      )
    }
    const peer = schedule.opPeer[op]
    const verb = ['send to', 'receive from', 'copy'][kind]
    const address = kind === opKind.copy ? '' : ` ${peer} #${schedule.opTag[op]}`
    lines.push(`${verb}${address} ${entries.join(' ')}`)
  }
  return lines
}

function proven(topology: ProcessTopology, strategy: Strategy, nodeOf?: Int32Array): Schedule {
  const { schedule } = plan(topology, strategy, nodeOf === undefined ? {} : { nodeOf })
  expect(verify(schedule, topology).violations).toEqual([])
  return schedule
}

const combining = (options: Partial<Extract<Strategy, { kind: 'common-neighbor' }>> = {}): Strategy => ({
  kind: 'common-neighbor',
  k: 2,
  mode: 'agnostic',
  theta: 0,
  ...options,
})

describe('direct', () => {
  test('one message per distinct edge; parallel edges and self loops are copies', () => {
    const topology = lists([1, 1, 0, 1], [0])
    const schedule = proven(topology, { kind: 'direct' })
    expect(schedule).toMatchObject({ strategy: 'direct', phases: 1, parameters: {} })
    // Slots of rank 0: its own block, then the block of 1.
    expect(operations(schedule, 0, 0)).toEqual(['send to 1 #2 0@0', 'receive from 1 #2 1@2', 'copy 0@0>1'])
    expect(operations(schedule, 1, 0)).toEqual([
      'send to 0 #2 1@0',
      'receive from 0 #2 0@1',
      'copy 0@1>2 0@1>3',
    ])
  })
})

describe('common-neighbor', () => {
  // 0 and 1 share 3 and 4; 0 also sends to 1, 1 to 2.
  const shared = lists([1, 3, 4], [2, 3, 4], [], [], [])

  test('friends exchange, then each serves its part', () => {
    const schedule = proven(shared, combining({ elide: false }))
    expect(schedule.phases).toBe(2)
    expect(operations(schedule, 0, 0)).toEqual([
      'send to 1 #0 0@0',
      'send to 1 #2 0@0',
      'receive from 1 #0 1@1',
    ])
    expect(operations(schedule, 0, 1)).toEqual(['send to 3 #1 0@0 1@1'])
    expect(operations(schedule, 1, 0)).toEqual([
      'send to 0 #0 1@0',
      'send to 2 #2 1@0',
      'receive from 0 #0 0@2',
      'receive from 0 #2 0@1',
    ])
    expect(operations(schedule, 1, 1)).toEqual(['send to 4 #1 0@2 1@0'])
    expect(operations(schedule, 3, 1)).toEqual(['receive from 0 #1 0@1 1@2'])
    expect(operations(schedule, 4, 1)).toEqual(['receive from 1 #1 0@1 1@2'])
    expect([...schedule.staging]).toEqual([1, 1, 0, 0, 0])
  })

  test('an exchange that reaches an out-neighbor stands in for the direct message', () => {
    const schedule = proven(shared, combining())
    expect(operations(schedule, 0, 0)).toEqual(['send to 1 #0 0@0', 'receive from 1 #0 1@1'])
    expect(operations(schedule, 1, 0)).toEqual([
      'send to 0 #0 1@0',
      'send to 2 #2 1@0',
      'receive from 0 #0 0@1',
    ])
    expect(operations(schedule, 1, 1)).toEqual(['send to 4 #1 0@1 1@0'])
    expect([...schedule.staging]).toEqual([1, 0, 0, 0, 0])
  })

  const overlapping = lists([4, 5, 6, 7], [4, 5, 6, 7, 8], [6, 7, 8], [8, 4, 5], [], [], [], [], [])

  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])(
    'dedupe %s, elide %s: verifies when groups overlap and pairs of friends are in several groups',
    (dedupe, elide) => {
      for (const k of [2, 3]) proven(overlapping, combining({ k, dedupe, elide }))
      const grid = mooreTopology({ dims: [6, 6], radius: 2 })
      for (const k of [2, 3, 4]) proven(grid, combining({ k, dedupe, elide }))
    },
  )

  test('pairs that meet in several steps exchange once, or once per step with the step in the tag', () => {
    const grid = mooreTopology({ dims: [6, 6], radius: 2 })
    const exchangesPerPair = (dedupe: boolean): number => {
      const schedule = proven(grid, combining({ k: 4, dedupe }))
      const seen = new Map<string, Set<number>>()
      for (let rank = 0; rank < 36; rank++) {
        for (let op = schedule.opStart[rank * 2]; op < schedule.opStart[rank * 2 + 1]; op++) {
          if (schedule.opKind[op] !== opKind.send || schedule.opTag[op] % 4 !== 0) continue
          const pair = `${rank}>${schedule.opPeer[op]}`
          const tags = seen.get(pair) ?? new Set()
          expect(tags.has(schedule.opTag[op])).toBe(false)
          seen.set(pair, tags.add(schedule.opTag[op]))
        }
      }
      return Math.max(...[...seen.values()].map((tags) => tags.size))
    }
    expect(exchangesPerPair(true)).toBe(1)
    expect(exchangesPerPair(false)).toBeGreaterThan(1)
  })

  test('a member without a part gets no exchange', () => {
    // Four friends, one common neighbor: only the first serves.
    const { schedule, groups } = plan(lists([4], [4], [4], [4], []), combining({ k: 4 }))
    expect(groups).toMatchObject({ count: 1 })
    expect(verify(schedule).ok).toBe(true)
    expect(planStatistics({ schedule, groups, planMs: 0 })).toMatchObject({
      messages: { planned: 4 },
      volumeBlocks: 7,
    })
  })

  test('without groups it is direct', () => {
    const topology = lists([1, 1, 0, 1], [0])
    const schedule = proven(topology, combining())
    expect(schedule.phases).toBe(1)
    for (const rank of [0, 1]) {
      expect(operations(schedule, rank, 0)).toEqual(operations(proven(topology, { kind: 'direct' }), rank, 0))
    }
  })

  test('reports what it was given', () => {
    expect(
      proven(shared, { kind: 'common-neighbor', k: 3, mode: 'agnostic', elide: false }).parameters,
    ).toEqual({
      k: 3,
      theta: 6,
      mode: 'agnostic',
      dedupe: true,
      elide: false,
    })
  })
})

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  ...[2, 3, 4].flatMap((k) => [true, false].map((on) => combining({ k, dedupe: on, elide: on }))),
]

describe.each(strategies)('%j', (strategy) => {
  test('Cartesian grids with extents 1 and 2', () => {
    for (const dims of [[1], [2], [1, 1], [2, 1], [2, 2], [4, 2], [3, 1, 2]]) {
      for (const periodic of [true, false]) {
        proven(cartTopology({ dims, periods: dims.map(() => periodic) }), strategy)
      }
    }
  })
})
