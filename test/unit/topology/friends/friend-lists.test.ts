import { type ProcessTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { friendLists } from '../../../../src/topology/friends/friend-lists.js'
import { distinctOut } from '../../../../src/topology/neighbors.js'
import { refusal } from '../../../support/refusal.js'

function randomTopology(ranks: number, density: number, seed: number): ProcessTopology {
  const draw = mulberry32(seed)
  const sources: number[] = []
  const destinations: number[] = []
  for (let p = 0; p < ranks; p++) {
    for (let q = 0; q < ranks; q++) {
      if (draw() / 2 ** 32 >= density) continue
      const copies = draw() % 4 === 0 ? 2 : 1
      for (let c = 0; c < copies; c++) {
        sources.push(p)
        destinations.push(q)
      }
    }
  }
  return topologyFromEdges(ranks, { sources, destinations })
}

/** Pairs with their weights, one list per smaller rank. */
function pairs(topology: ProcessTopology, theta: number, nodeOf: Int32Array | null): [number, number][][] {
  const { start, rank, weight } = friendLists(distinctOut(topology), theta, nodeOf)
  return Array.from({ length: topology.ranks }, (_, p) =>
    Array.from({ length: start[p + 1] - start[p] }, (_, i) => [rank[start[p] + i], weight[start[p] + i]]),
  )
}

test('friendLists ignores self loops and parallel edges', () => {
  // 0 and 1 share 2, twice over, and have self loops.
  const topology = topologyFromEdges(3, { sources: [0, 0, 0, 1, 1, 1], destinations: [0, 2, 2, 2, 1, 2] })
  expect(pairs(topology, 0, null)).toEqual([[[1, 1]], [], []])
  expect(pairs(topology, 1, null)).toEqual([[], [], []])
})

test('friendLists are empty without edges', () => {
  expect(pairs(topologyFromEdges(3, { sources: [], destinations: [] }), 0, null)).toEqual([[], [], []])
})

test('friendLists rejects more pairs than fit in memory', () => {
  const out = distinctOut(randomTopology(20, 1, 3))
  expect(friendLists(out, 0, null, { maxPairs: 190 }).rank.length).toBe(190)
  expect(() => friendLists(out, 0, null, { maxPairs: 189 })).toThrow(
    refusal('ERR_STRATEGY', /at most 189 pairs/),
  )
})
