import { describe, expect, test } from 'vitest'
import { erdosRenyiTopology } from '../../src/topology/generate/erdos-renyi.js'
import { daily } from '../support/soak.js'
import { asPrinted, printedRules, sends } from './printed.js'

// The setting of Ghazimirsaeed 2019 §7.6.2: 1,024 ranks, 32 per node, seed 1. The rest of the tables takes
// longer: test/soak.
const perNode = 32

// Mean sends / most sends / sends between nodes / blocks, per rank.
const rows = [
  [
    0.05,
    52_354,
    '51/72/49.5/51',
    { 2: '45.9/63/39.7/56', 3: '51.1/72/49.5', 4: '51/72/49.5/51', 6: '51/72/49.5' },
  ],
  [
    0.2,
    209_565,
    '205/240/199/205',
    { 2: '131/152/114/218', 3: '163/189/130', 4: '197/227/174/222', 6: '205/240/199' },
  ],
  [0.4, 419_199, '409/460/397/409', { 2: '234/264/213/424', 3: '242/268/196' }],
] as const

describe.each(daily(rows, 2))('density %f', (density, edges, direct, aware) => {
  const topology = erdosRenyiTopology({ ranks: 1024, density, seed: 1 })

  test(`${edges} edges, direct ${direct}`, () => {
    expect(topology.outRank.length).toBe(edges)
    expect(asPrinted(sends(topology, perNode, { kind: 'direct' }), direct)).toBe(direct)
  })

  test.each(Object.entries(aware))('aware k=%s: %s', (k, printed) => {
    expect(asPrinted(sends(topology, perNode, printedRules(Number(k), 'aware')), printed)).toBe(printed)
  })
})

test.each(
  daily(
    [
      [0.05, '40.3/55/38.8/59'],
      [0.2, '123/145/118/218'],
    ] as const,
    2,
  ),
)('agnostic k=2, density %f: %s', (density, printed) => {
  const topology = erdosRenyiTopology({ ranks: 1024, density, seed: 1 })
  expect(asPrinted(sends(topology, perNode, printedRules(2, 'agnostic')), printed)).toBe(printed)
})
