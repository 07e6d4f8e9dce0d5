import { type Cartesian, parseStrategy, verify } from 'rankweave/schedule'
import { findTranslations, mooreTopology, type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { below, mulberry32 } from '../../src/base/random.js'
import { plan, routeOf } from '../../src/neighborhood/plan/plan.js'
import { alltoallSchedule } from '../../src/neighborhood/strategies/route-schedule.js'
import { cases } from '../support/soak.js'

const texts = [
  'direct',
  ...['common-neighbor:k=2,mode=agnostic,theta=0', 'common-neighbor:k=3,mode=aware,theta=1'],
  ...['descending:ks=3.2,mode=agnostic', 'descending:ks=5.4.2,mode=aware'],
  ...['cumulative:k=2,mode=agnostic', 'cumulative:k=3,mode=aware'],
  ...['routed', 'routed:first=highest', 'routed:radices=3.5.7', 'routed:radices=7.2.5,first=highest'],
  ...['allgather', 'allgather:first=lowest', 'allgather:radices=3.3.3.3,first=highest'],
  ...['hierarchical', 'hierarchical:first=inside', 'hierarchical:between=3.7.3,inside=5.2.5'],
  'hierarchical:between=3.7.3,inside=5.2.5,digits=offset',
  ...['hierarchical:digits=offset,order=highest', 'hierarchical:first=inside,digits=offset,order=highest'],
  'hierarchical:between=7.3.3,inside=3.5.4,order=highest',
  ...['lanes', 'lanes:lanes=1', 'lanes:lanes=3', 'lanes:radices=3.2.7'],
  ...['lanes:own=spread', 'lanes:widths=3.1.5,own=spread', 'lanes:radices=3.2.7,widths=4.8.2.2'],
  'lanes:radices=3.2.7,own=spread,digits=offset,order=highest',
  ...['lanes:lanes=2,order=highest', 'lanes:lanes=3,digits=offset'],
  ...['pipelined', 'pipelined:between=3.7.3,inside=5.2.5', 'pipelined:steps=1.2.1,inside=5.7'],
  ...['pipelined:steps=1.1,back=2,inside=40', 'pipelined:steps=2,back=1.1.1,inside=7.7'],
]

type Next = () => number

/** Self loops, parallel edges, isolated ranks; often a prime number of ranks. */
function randomMultigraph(next: Next): ProcessTopology {
  const ranks = [1, 2, 3, 7, 13, 16, 29, 31, 37, 1 + below(next, 40)][below(next, 10)]
  const count = below(next, 1 + ranks * [0, 1, 4, ranks][below(next, 4)])
  // Some ranks at the end may have no edges.
  const busy = 1 + below(next, ranks)
  const ends = () => Array.from({ length: count }, () => below(next, busy))
  return topologyFromEdges(ranks, { sources: ends(), destinations: ends() })
}

/** Nodes of different sizes: consecutive ranks, or ranks in any order; node numbers may be missing. */
function randomNodes(next: Next, ranks: number): Int32Array {
  const isScattered = below(next, 2) === 0
  const most = 1 + below(next, 12)
  let [node, left] = [below(next, 5), 0]
  return Int32Array.from({ length: ranks }, () => {
    if (isScattered) return 3 * below(next, most)
    if (left-- === 0) [node, left] = [node + 1 + below(next, 2), below(next, most)]
    return node
  })
}

test.each(texts)('%s delivers every block on random multigraphs and nodes', (text) => {
  for (let seed = 0; seed < cases(100, 5); seed++) {
    const next = mulberry32(seed)
    const topology = randomMultigraph(next)
    const nodeOf = randomNodes(next, topology.ranks)
    const strategy = parseStrategy(text)
    expect([seed, verify(plan(topology, strategy, { nodeOf }).schedule, topology).violations]).toEqual([
      seed,
      [],
    ])
    const alltoall = alltoallSchedule(topology, routeOf(topology, strategy, { nodeOf }), {
      strategy: strategy.kind,
      parameters: {},
    })
    expect([seed, verify(alltoall).violations]).toEqual([seed, []])
  }
})

test('cartesian delivers every block on random grids, and every window that covers its offsets will do', () => {
  for (let seed = 0; seed < cases(100, 8); seed++) {
    const next = mulberry32(seed)
    const dims = Array.from({ length: 1 + below(next, 3) }, () => 2 + below(next, 5))
    const topology = mooreTopology({ dims, radius: 1 + below(next, 3), periodic: below(next, 2) === 0 })
    const order = dims.map((_, d) => (d + seed) % dims.length)
    // Among the borders of a small grid offsets may be those of a grid of fewer dimensions.
    const found = findTranslations(topology)
    const isKept = found.kind === 'invariant' && found.dims.length === dims.length
    const windows = dims.map(() => [3, 2, 2])
    for (const strategy of [
      { kind: 'cartesian' },
      ...(isKept ? [{ kind: 'cartesian', order, windows }] : []),
    ]) {
      const { schedule } = plan(topology, strategy as Cartesian)
      expect([seed, verify(schedule, topology).violations]).toEqual([seed, []])
    }
  }
})
