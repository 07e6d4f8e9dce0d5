import { formatSchedule, parseSchedule, plan, type Strategy, verify } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { countMessages } from '../../../../src/schedule/walk.js'
import { cartTopology } from '../../../../src/topology/generate/cartesian.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 3, mode: 'agnostic', theta: 0 },
  { kind: 'routed' },
  { kind: 'routed', radices: [3, 5, 7], first: 'highest' },
]
const all = [...Array(16).keys()]
const topologies: Readonly<Record<string, ProcessTopology>> = {
  'self loops, parallel edges, ranks without neighbors': topologyFromEdges(6, {
    sources: [0, 1, 0, 2, 2, 0, 1, 3, 0, 2, 2, 4],
    destinations: [1, 1, 1, 0, 2, 3, 1, 0, 1, 0, 2, 4],
  }),
  'two ranks': topologyFromEdges(2, { sources: [0, 1, 0, 1], destinations: [0, 0, 0, 1] }),
  'no edges': topologyFromEdges(3, { sources: [], destinations: [] }),
  'one destination': topologyFromEdges(16, { sources: all, destinations: all.map(() => 5) }),
  'moore 4x5': mooreTopology({ dims: [4, 5], radius: 1 }),
  'er 29': erdosRenyiTopology({ ranks: 29, density: 0.3, seed: 5 }),
  'grid of extents 1, 2 and 3': cartTopology({ dims: [1, 2, 3], periods: [true, true, false] }),
}

describe('a neighbor reduction', () => {
  it.each(Object.entries(topologies))(
    'is right by every strategy, in list order or in any: %s',
    (_, topology) => {
      for (const strategy of strategies) {
        const inOrder = plan(topology, strategy, { operation: 'neighbor-reduce' }).schedule
        expect(verify(inOrder, topology, { ordered: true }).violations).toEqual([])
        const anyOrder = plan(topology, strategy, { operation: 'neighbor-reduce-any' }).schedule
        expect(verify(anyOrder, topology).violations).toEqual([])
        for (const schedule of [inOrder, anyOrder]) {
          const lines = [...formatSchedule(schedule)]
          expect([...formatSchedule(parseSchedule(lines))]).toEqual(lines)
        }
      }
    },
  )

  it('in any order brings one rank with many sources few partial results', () => {
    const topology = topologies['one destination']
    const received = (operation: 'neighbor-reduce' | 'neighbor-reduce-any') => {
      const { schedule } = plan(topology, { kind: 'routed' }, { operation })
      return countMessages(schedule).blocks
    }
    expect(received('neighbor-reduce')).toBe(32)
    expect(received('neighbor-reduce-any')).toBe(15)
  })

  it('demands a repeated source as often as it is listed', () => {
    const topology = topologyFromEdges(2, { sources: [0, 0], destinations: [1, 1] })
    const { specification } = plan(topology, { kind: 'direct' }, { operation: 'neighbor-reduce' }).schedule
    expect([...specification.reductions.first]).toEqual([0, 0])
    const once = topologyFromEdges(2, { sources: [0], destinations: [1] })
    const { schedule } = plan(once, { kind: 'direct' }, { operation: 'neighbor-reduce' })
    const { violations } = verify({ ...schedule, topology, specification })
    expect(violations.map(({ code }) => code)).toContain('slot-wrong')
  })
})
