import { describe, expect, test } from 'vitest'
import { countHyperedges, type HyperedgeOptions } from '../../src/topology/friends/hyperedges.js'
import { erdosRenyiTopology } from '../../src/topology/generate/erdos-renyi.js'
import { mooreTopology } from '../../src/topology/generate/moore.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { daily } from '../support/soak.js'
import { asPrinted, nodesOf } from './printed.js'

function mean(topology: ProcessTopology, options: HyperedgeOptions): number {
  const counted = countHyperedges(topology, options)
  if (counted.kind !== 'counted') throw new Error(counted.reason)
  return counted.meanPerRank
}

// Ghazimirsaeed 2019 Figures 7.5 and 7.7: hyperedges per rank, 4,096 ranks, 40 per node. For k = 2, 4, 8, 16
// with more than k(k-1) (agnostic) or k (aware) common neighbors. d=3, r=2, k=4, agnostic is in test/soak.
describe.each(
  daily(
    [
      ['2,1', [64, 64], 1, '8/0/0/0', '3.77/0/0/0'],
      ['2,2', [64, 64], 2, '68/0/0/0', '7.50/7.10/0/0'],
      ['2,3', [64, 64], 3, '156/5492/0/0', '10.94/69.44/0/0'],
      ['2,4', [64, 64], 4, '276//0/0', '14.19/185.98/12.19/0'],
      ['3,1', [16, 16, 16], 1, '92/0/0/0', '11.73/27.17/0/0'],
      ['3,2', [16, 16, 16], 2, '696//0/0', '21.85/719.74/6554.70/0'],
      ['4,1', [8, 8, 8, 8], 1, '544/1672/0/0', '17.96/238.23/3.59/0'],
    ] as const,
    2,
  ),
)('d,r = %s', (_, dims, radius, agnostic, aware) => {
  const topology = mooreTopology({ dims, radius })
  const nodeOf = nodesOf(4096, 40)
  const sizes = [2, 4, 8, 16]

  test.each(sizes.map((k, i) => [k, agnostic.split('/')[i]]).filter(([, printed]) => printed !== ''))(
    'agnostic k=%i: %s',
    (k, printed) => {
      expect(
        asPrinted([mean(topology, { k: Number(k), theta: Number(k) * (Number(k) - 1) })], `${printed}`),
      ).toBe(printed)
    },
  )

  test.each(sizes.map((k, i) => [k, aware.split('/')[i]]))('aware k=%i: %s', (k, printed) => {
    expect(asPrinted([mean(topology, { k: Number(k), theta: Number(k), nodeOf })], `${printed}`)).toBe(
      printed,
    )
  })
})

test.each([
  ['2,1 agnostic', [64, 64], 1, 2, null, '20'],
  ['2,2 agnostic', [64, 64], 2, 4, null, '4'],
  ['3,2 agnostic', [16, 16, 16], 2, 8, null, '8'],
  ['2,4 aware', [64, 64], 4, 8, nodesOf(4096, 40), '46.5'],
])('counts change where weights are exactly theta: %s', (_, dims, radius, k, nodeOf, atLeast) => {
  // At least theta is more than theta - 1.
  const theta = (nodeOf === null ? k * (k - 1) : k) - 1
  expect(asPrinted([mean(mooreTopology({ dims, radius }), { k, theta, nodeOf })], atLeast)).toBe(atLeast)
})

// Figure 7.9: Erdos-Renyi, 1,024 ranks, 32 per node, aware, k = 2 to 6; the rest is in test/soak.
describe.each(
  daily(
    [
      [0.05, '14.6/.012/0/0/0'],
      [0.2, '31/447.8/113.3/.024/0'],
      [0.4, '31/465/4495/29893'],
      [0.6, '31/465/4495/31465'],
    ] as const,
    2,
  ),
)('density %f: %s', (density, printed) => {
  const topology = erdosRenyiTopology({ ranks: 1024, density, seed: 1 })
  test.each(printed.split('/').map((word, i) => [i + 2, word]))('k=%i: %s', (k, word) => {
    const counted = mean(topology, { k: Number(k), theta: Number(k), nodeOf: nodesOf(1024, 32) })
    expect(asPrinted([counted], `${word}`).replace(/^0\./, '.')).toBe(word)
  })
})

test('density 0.05, seed 1 has 7,469 pairs and 4 triples', () => {
  const topology = erdosRenyiTopology({ ranks: 1024, density: 0.05, seed: 1 })
  const nodeOf = nodesOf(1024, 32)
  expect(countHyperedges(topology, { k: 2, theta: 2, nodeOf })).toMatchObject({ total: 7_469 })
  expect(countHyperedges(topology, { k: 3, theta: 3, nodeOf })).toMatchObject({ total: 4 })
})
