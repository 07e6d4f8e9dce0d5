import { erdosRenyiTopology, inNeighbors, outNeighbors } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import { checkTopology } from '../../../../src/topology/process-topology.js'
import { refusal } from '../../../support/refusal.js'

test.each([
  [0.05, 52_354],
  [0.2, 209_565],
  [0.4, 419_199],
  [0.6, 629_381],
  [0.8, 838_479],
])('erdosRenyiTopology of 1024 ranks, density %f, seed 1: %i edges', (density, edges) => {
  const topology = erdosRenyiTopology({ ranks: 1024, density })
  checkTopology(topology)
  expect(topology.outRank.length).toBe(edges)
})

test('erdosRenyiTopology has an edge per draw below the threshold; destinations and sources ascend', () => {
  const topology = erdosRenyiTopology({ ranks: 16, density: 0.3, seed: 7 })
  const next = mulberry32(7)
  const out: number[][] = Array.from({ length: 16 }, () => [])
  const into: number[][] = Array.from({ length: 16 }, () => [])
  for (let i = 0; i < 16; i++)
    for (let j = 0; j < 16; j++)
      if (i !== j && next() < Math.floor(0.3 * 2 ** 32)) {
        out[i].push(j)
        into[j].push(i)
      }
  expect(out.map((_, r) => [...outNeighbors(topology, r)])).toEqual(out)
  expect(into.map((_, r) => [...inNeighbors(topology, r)])).toEqual(into)
})

test.each([1, 2, 3, 4, 7, 8, 16])(
  'erdosRenyiTopology of %i ranks: density 0 has no edges, density 1 all',
  (ranks) => {
    expect(erdosRenyiTopology({ ranks, density: 0 }).outRank).toHaveLength(0)
    expect(erdosRenyiTopology({ ranks, density: 1 }).outRank).toHaveLength(ranks * (ranks - 1))
  },
)

test.each([
  [{ ranks: 4, density: 1.5 }, 'expected a density from 0 to 1, got 1.5'],
  [{ ranks: 4, density: Number.NaN }, 'got NaN'],
  [{ ranks: 4, density: 0.5, seed: -1 }, 'expected an integer as seed, got -1'],
  [{ ranks: 4, density: 0.5, seed: 0.5 }, 'expected an integer as seed, got 0.5'],
  [{ ranks: 0, density: 0.5 }, 'expected 1 to'],
  [{ ranks: 65_536, density: 0.5 }, 'expected at most 134217728 edges'],
  [{ ranks: 100_000, density: 0 }, 'expected at most 65536 ranks'],
])('erdosRenyiTopology rejects %j', (bad, message) => {
  expect(() => erdosRenyiTopology(bad)).toThrow(refusal('ERR_TOPOLOGY', message))
})

test('a graph of many pairs and few edges has the edges of its density, in every part alike', () => {
  const ranks = 2 ** 14
  const topology = erdosRenyiTopology({ ranks, density: 2 ** -10, seed: 3 })
  checkTopology(topology)
  const expected = ranks * (ranks - 1) * 2 ** -10
  const within = (count: number, mean: number) =>
    expect(Math.abs(count - mean)).toBeLessThan(5 * Math.sqrt(mean))
  within(topology.outRank.length, expected)
  const eighths = new Array<number>(8).fill(0)
  for (const to of topology.outRank) eighths[to >> 11]++
  for (const count of eighths) within(count, expected / 8)
  for (let part = 0; part < 8; part++)
    within(topology.outStart[(part + 1) << 11] - topology.outStart[part << 11], expected / 8)
  // The variance of a row's edges is that of independent pairs.
  const mean = ranks * 2 ** -10
  let squares = 0
  for (let p = 0; p < ranks; p++) squares += (topology.outStart[p + 1] - topology.outStart[p] - mean) ** 2
  expect(squares / ranks / mean).toBeGreaterThan(0.9)
  expect(squares / ranks / mean).toBeLessThan(1.1)
})
