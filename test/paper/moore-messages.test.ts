import { describe, expect, test } from 'vitest'
import { cluster, nodeOf } from '../../src/machine/machine.js'
import { plan, planStatistics } from '../../src/neighborhood/plan/plan.js'
import { mooreTopology } from '../../src/topology/generate/moore.js'
import { daily } from '../support/soak.js'
import { asPrinted, printedRules, sends } from './printed.js'

// The setting of Ghazimirsaeed 2019 §7.6.1: 4,096 ranks, 40 per node. The figures there are bar charts; these
// numbers are from two independent reference programs.
const perNode = 40

describe('64x64, r = 4, k = 4, aware, on 103 nodes of 40 cores', () => {
  const topology = mooreTopology({ dims: [64, 64], radius: 4 })
  const machine = cluster({ nodes: 103, cores: 40 })

  test.each([
    [false, false, 152_624],
    [true, true, 137_064],
  ])('dedupe %s, elide %s: 327,680 messages become %i', (dedupe, elide, planned) => {
    const combined = plan(
      topology,
      { kind: 'common-neighbor', k: 4, mode: 'aware', dedupe, elide },
      { machine },
    )
    expect(planStatistics(combined, nodeOf(machine, 4096)).messages).toMatchObject({
      direct: 327_680,
      planned,
    })
  })
})

// Mean sends / most sends / sends between nodes / blocks, per rank.
const tables = {
  '2,1': {
    dims: [64, 64],
    radius: 1,
    direct: '8/8/6.05/8',
    rows: ['7/7/4.05/9', '8/8/6.05/8', '7/7/4.05/9', '8/8/6.05/8'],
  },
  '2,2': {
    dims: [64, 64],
    radius: 2,
    direct: '24/24/20.2/24',
    rows: ['15/15/11.1/26', '24/24/20.2/24', '16/16/12.1/25', '18.4/21/8.8/29.7'],
  },
  '2,3': {
    dims: [64, 64],
    radius: 3,
    direct: '48/48/42.3/48',
    rows: ['27/27/22.3/50', '27/27/22.3/51', '29/29/24.2/49', '33/33/24.3/51'],
  },
  '2,4': {
    dims: [64, 64],
    radius: 4,
    direct: '80/80/72.5/80',
    rows: ['43/43/37.4/82', '38/38/32.5/83', '46/46/40.3/81', '37.26/46/26.9/85'],
  },
  '3,1': {
    dims: [16, 16, 16],
    radius: 1,
    direct: '26/26/20.5/26',
    rows: ['17/17/11.7/28', '26/26/20.5/26', '17.3/19/11.7/28', '23.2/26/13.9/30'],
  },
}

describe.each(daily(Object.entries(tables), 2))('d,r = %s', (_, { dims, radius, direct, rows }) => {
  const topology = mooreTopology({ dims, radius })

  test(`direct: ${direct}`, () => {
    expect(asPrinted(sends(topology, perNode, { kind: 'direct' }), direct)).toBe(direct)
  })

  test.each([
    ['agnostic', 2, rows[0]],
    ['agnostic', 4, rows[1]],
    ['aware', 2, rows[2]],
    ['aware', 4, rows[3]],
  ] as const)('%s k=%i: %s', (mode, k, printed) => {
    expect(asPrinted(sends(topology, perNode, printedRules(k, mode)), printed)).toBe(printed)
  })
})

test.each(
  daily(
    [
      [4, '37.3', '33.5'],
      [8, '56.7', '37.3'],
    ] as const,
    2,
  ),
)('d2r4 aware k=%i: dedupe and elide take %s sends per rank to %s', (k, without, both) => {
  const topology = mooreTopology({ dims: [64, 64], radius: 4 })
  expect(asPrinted(sends(topology, perNode, printedRules(k, 'aware')), without)).toBe(without)
  expect(asPrinted(sends(topology, perNode, { kind: 'common-neighbor', k, mode: 'aware' }), both)).toBe(both)
})
