import { buildTopology, groupFriends, topologyFromEdges, topologyStatistics } from 'rankweave/topology'
import { expect, test, vi } from 'vitest'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'

test('degrees count every edge, density only pairs of different ranks', () => {
  const topology = topologyFromEdges(4, { sources: [0, 0, 0, 2], destinations: [1, 1, 0, 0] })
  expect(topologyStatistics(topology)).toEqual({
    ranks: 4,
    edges: 4,
    selfLoops: 1,
    parallelEdges: 1,
    degree: { min: 0, mean: 1, max: 3 },
    inDegree: { min: 0, mean: 1, max: 2 },
    density: 2 / 12,
    reciprocity: 0,
  })
})

test('a complete graph has density 1, a single rank 0', () => {
  expect(topologyStatistics(buildTopology('er:7:d=1')).density).toBe(1)
  expect(topologyStatistics(buildTopology('cart:1:periodic'))).toEqual({
    ranks: 1,
    edges: 2,
    selfLoops: 2,
    parallelEdges: 1,
    degree: { min: 2, mean: 2, max: 2 },
    inDegree: { min: 2, mean: 2, max: 2 },
    density: 0,
    reciprocity: 1,
  })
})

test('topologyStatistics, reciprocity: the share of edges that go both ways', () => {
  const topology = topologyFromEdges(4, { sources: [0, 1, 1, 3, 2], destinations: [1, 0, 2, 1, 2] })
  expect(topologyStatistics(topology).reciprocity).toBe(2 / 4)
  expect(topologyStatistics(buildTopology('rgg:100:r=0.2')).reciprocity).toBe(1)
})

test('ranks without edges cost nothing but their entries in the row starts', () => {
  const topology = parseEdgeList('ranks 100000\n0 1\n')
  const views = vi.spyOn(Int32Array.prototype, 'subarray')
  const copies = vi.spyOn(Int32Array.prototype, 'slice')
  try {
    expect(topologyStatistics(topology)).toMatchObject({ ranks: 100_000, edges: 1, reciprocity: 0 })
    expect(groupFriends(topology, { k: 2, mode: 'agnostic' })).toMatchObject({ count: 0, steps: 0 })
    expect(views.mock.calls.length + copies.mock.calls.length).toBeLessThan(20)
  } finally {
    vi.restoreAllMocks()
  }
})
