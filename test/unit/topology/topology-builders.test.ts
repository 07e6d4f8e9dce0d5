import { describe, expect, test } from 'vitest'
import { topologyFromEdges, topologyFromLists } from '../../../src/topology/topology-builders.js'
import { refusal } from '../../support/refusal.js'

describe('topologyFromEdges', () => {
  test('keeps destinations and sources in the order of the edges', () => {
    const topology = topologyFromEdges(4, {
      sources: [2, 0, 2, 2, 1, 2],
      destinations: [3, 3, 1, 3, 3, 2],
      weights: [10, 11, 12, 13, 14, 15],
    })
    expect(topology).toEqual({
      ranks: 4,
      outStart: Int32Array.of(0, 1, 2, 6, 6),
      outRank: Int32Array.of(3, 3, 3, 1, 3, 2),
      outWeight: Float64Array.of(11, 14, 10, 12, 13, 15),
      inStart: Int32Array.of(0, 0, 1, 2, 6),
      inRank: Int32Array.of(2, 2, 2, 0, 2, 1),
      inWeight: Float64Array.of(12, 15, 10, 11, 13, 14),
      pairing: 'occurrence',
      cart: null,
    })
  })

  test('copies its arguments', () => {
    const sources = Int32Array.of(0)
    const topology = topologyFromEdges(2, { sources, destinations: [1] })
    sources[0] = 1
    expect(topology.inRank).toEqual(Int32Array.of(0))
  })

  test.each([
    [0, [], [], null, 'expected 1 to'],
    [2.5, [], [], null, 'got 2.5'],
    [1e12, [], [], null, 'got 1000000000000'],
    [2, [0, 1], [1], null, 'expected as many destinations as the 2 sources, got 1'],
    [2, [0], [1], [1, 2], 'expected as many destinations and weights as the 1 sources, got 1 and 2'],
    [2, [0, 1], [1, 2], null, 'edge 1 from 1 to 2: expected ranks 0 to 1'],
    [2, [-1], [1], null, 'edge 0 from -1 to 1'],
    [2, [0.5], [1], null, 'edge 0 from 0.5 to 1'],
    [2, [0], [1], [Number.NaN], 'weight of edge 0: expected a number, got NaN'],
  ])('rejects %s ranks with edges %j to %j, weights %j', (ranks, sources, destinations, weights, message) => {
    expect(() => topologyFromEdges(ranks, { sources, destinations, weights })).toThrow(
      refusal('ERR_TOPOLOGY', message),
    )
  })
})

describe('topologyFromLists', () => {
  const lists = {
    ranks: 3,
    outStart: [0, 3, 3, 4],
    outRank: [1, 1, 2, 2],
    inStart: [0, 0, 2, 4],
    inRank: [0, 0, 2, 0],
  }

  test.each([
    [
      'another source',
      { inRank: [0, 0, 1, 0] },
      'rank 2 lists 1 as a source, but rank 1 does not list 2 as a destination',
    ],
    [
      'another multiplicity',
      { outRank: [1, 2, 2, 2] },
      'rank 0 lists 1 as a destination once, but rank 1 lists 0 as a source 2 times',
    ],
    [
      'a source too many',
      { inStart: [0, 0, 2, 5], inRank: [0, 0, 2, 0, 1] },
      'rank 2 lists 1 as a source, but rank 1 does not list 2 as a destination',
    ],
    [
      'a rank too large',
      { outRank: [1, 1, 2, 3] },
      'destination 0 of rank 2: expected a rank from 0 to 2, got 3',
    ],
    ['a negative rank', { inRank: [0, -2, 2, 0] }, 'source 1 of rank 1: expected a rank from 0 to 2, got -2'],
    [
      'a rank that would wrap',
      { outRank: [1, 1, 2, 2 ** 32 + 2] },
      'expected a 32-bit integer, got 4294967298',
    ],
    ['too few rows', { outStart: [0, 3, 4] }, 'expected 4 destination row starts for 3 ranks, got 3'],
    ['a first row that starts late', { outStart: [1, 3, 3, 4] }, 'to start at 0, got 1'],
    [
      'a row that ends early',
      { inStart: [0, 3, 2, 4] },
      'source row of rank 1: expected an end of at least 3',
    ],
    ['rows that end early', { inStart: [0, 0, 2, 3] }, 'expected the source rows to end at 4, got 3'],
    ['weights on one side', { outWeight: [1, 2, 3, 4] }, 'expected weights on both sides or on neither'],
    [
      'too few weights',
      { outWeight: [1, 2, 3], inWeight: [1, 2, 3, 4] },
      'expected 4 out-edge weights, got 3',
    ],
    [
      'a weight that is no number',
      { outWeight: [1, 2, 3, 4], inWeight: [1, Number.NaN, 3, 4] },
      'weight of in-edge 1: expected a number, got NaN',
    ],
    ['no ranks', { ranks: 0 }, 'expected 1 to'],
  ])('rejects %s', (_, change, message) => {
    expect(() => topologyFromLists({ ...lists, ...change })).toThrow(refusal('ERR_TOPOLOGY', message))
  })
})
