import { describe, expect, test } from 'vitest'
import { checkTopology } from '../../../src/topology/check-topology.js'
import {
  distinctIn,
  distinctOut,
  inNeighbors,
  outNeighbors,
  pairEdges,
  transposeTopology,
} from '../../../src/topology/neighbors.js'
import { topologyFromEdges, topologyFromLists } from '../../../src/topology/topology-builders.js'

const multigraph = topologyFromEdges(4, {
  sources: [2, 2, 0, 2, 1, 2, 2],
  destinations: [3, 1, 3, 3, 1, 2, 0],
  weights: [1, 2, 3, 4, 5, 6, 7],
})

test('neighbors are in list order, with repetitions', () => {
  expect([...outNeighbors(multigraph, 2)]).toEqual([3, 1, 3, 2, 0])
  expect([...inNeighbors(multigraph, 3)]).toEqual([2, 0, 2])
  expect([...outNeighbors(multigraph, 3)]).toEqual([])
})

test('distinct neighbors ascend, without repetition and without the rank itself', () => {
  expect(distinctOut(multigraph)).toEqual({
    start: Int32Array.of(0, 1, 1, 4, 4),
    rank: Int32Array.of(3, 0, 1, 3),
  })
  expect(distinctIn(multigraph)).toEqual({
    start: Int32Array.of(0, 1, 2, 2, 4),
    rank: Int32Array.of(2, 2, 0, 2),
  })
})

test('transposeTopology swaps the sides', () => {
  const turned = transposeTopology(multigraph)
  checkTopology(turned)
  expect([...outNeighbors(turned, 3)]).toEqual([2, 0, 2])
  expect(turned.outWeight).toEqual(multigraph.inWeight)
  expect(transposeTopology(turned)).toEqual(multigraph)
})

describe('pairEdges', () => {
  test('by occurrence: the c-th edge from p to q is the c-th at both ends', () => {
    const topology = topologyFromLists({
      ranks: 2,
      outStart: [0, 3, 5],
      outRank: [1, 0, 1, 0, 0],
      inStart: [0, 3, 5],
      inRank: [1, 0, 1, 0, 0],
    })
    expect([...pairEdges(topology)]).toEqual([3, 1, 4, 0, 2])
  })
})
