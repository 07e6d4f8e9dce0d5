import { buildTopology, countHyperedges, type ProcessTopology, topologyFromMatrix } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import { readMatrix } from '../support/matrices.js'
import { type Tier, tier } from '../support/soak.js'
import { asPrinted, nodesOf, printedRules, sends } from './printed.js'

// The settings of Ghazimirsaeed 2019 §7.6. The figures there are bar charts; the messages here are from two independent
// reference programs, the hyperedges are those of Figures 7.5, 7.7 and 7.9.

const tiers: readonly Tier[] = ['test', 'soak', 'long']
/** Rows of this tier, and of those that take less time. */
const upToTier = <Row extends readonly [...unknown[], Tier]>(rows: readonly Row[]): readonly Row[] =>
  rows.filter((row) => tiers.indexOf(row.at(-1) as Tier) <= tiers.indexOf(tier))

let last: { readonly spec: string; readonly topology: ProcessTopology } | undefined
/** Consecutive rows of one topology share it. */
function topologyOf(spec: string): ProcessTopology {
  if (last?.spec !== spec) {
    const [kind, name, ranks] = spec.split(':')
    const topology =
      kind === 'matrix' ? topologyFromMatrix(readMatrix(name), { ranks: Number(ranks) }) : buildTopology(spec)
    last = { spec, topology }
  }
  return last.topology
}

/** Groups of k with messages left out; `printedRules` sends them all. */
const leavingOut = (k: number) => ({ kind: 'common-neighbor', k, mode: 'aware' }) as const
const strategies = {
  direct: { kind: 'direct' } as const,
  agnostic2: printedRules(2, 'agnostic'),
  agnostic4: printedRules(4, 'agnostic'),
  aware2: printedRules(2, 'aware'),
  aware3: printedRules(3, 'aware'),
  aware4: printedRules(4, 'aware'),
  aware6: printedRules(6, 'aware'),
  aware8: printedRules(8, 'aware'),
  leaving4: leavingOut(4),
  leaving8: leavingOut(8),
}

describe('mean sends / most sends / sends between nodes / blocks, per rank', () => {
  test.for(
    upToTier([
      ['moore:64x64:r=1', 40, 'direct 8/8/6.05/8, agnostic2 7/7/4.05/9, aware2 7/7/4.05/9', 'test'],
      ['moore:64x64:r=1', 40, 'agnostic4 8/8/6.05/8, aware4 8/8/6.05/8', 'soak'],
      ['moore:64x64:r=2', 40, 'direct 24/24/20.2/24, agnostic2 15/15/11.1/26', 'soak'],
      ['moore:64x64:r=2', 40, 'agnostic4 24/24/20.2/24', 'soak'],
      ['moore:64x64:r=2', 40, 'aware2 16/16/12.1/25', 'soak'],
      ['moore:64x64:r=2', 40, 'aware4 18.4/21/8.8/29.7', 'test'],
      ['moore:64x64:r=3', 40, 'direct 48/48/42.3/48, agnostic2 27/27/22.3/50', 'soak'],
      ['moore:64x64:r=3', 40, 'agnostic4 27/27/22.3/51', 'soak'],
      ['moore:64x64:r=3', 40, 'aware2 29/29/24.2/49, aware4 33/33/24.3/51', 'soak'],
      ['moore:64x64:r=4', 40, 'direct 80/80/72.5/80, agnostic2 43/43/37.4/82', 'soak'],
      ['moore:64x64:r=4', 40, 'agnostic4 38/38/32.5/83', 'soak'],
      ['moore:64x64:r=4', 40, 'aware2 46/46/40.3/81, aware4 37.26/46/26.9/85, leaving4 33.5', 'soak'],
      ['moore:64x64:r=4', 40, 'aware8 56.7', 'soak'],
      ['moore:64x64:r=4', 40, 'leaving8 37.3', 'soak'],
      ['moore:16x16x16:r=1', 40, 'direct 26/26/20.5/26, agnostic2 17/17/11.7/28', 'soak'],
      ['moore:16x16x16:r=1', 40, 'agnostic4 26/26/20.5/26', 'soak'],
      ['moore:16x16x16:r=1', 40, 'aware2 17.3/19/11.7/28, aware4 23.2/26/13.9/30', 'soak'],
      ['er:1024:d=0.05', 32, 'direct 51/72/49.5/51, agnostic2 40.3/55/38.8/59', 'soak'],
      ['er:1024:d=0.05', 32, 'aware4 51/72/49.5/51', 'soak'],
      ['er:1024:d=0.05', 32, 'aware6 51/72/49.5', 'soak'],
      ['er:1024:d=0.05', 32, 'aware2 45.9/63/39.7/56, aware3 51.1/72/49.5', 'test'],
      ['er:1024:d=0.2', 32, 'direct 205/240/199/205, agnostic2 123/145/118/218', 'soak'],
      ['er:1024:d=0.2', 32, 'aware2 131/152/114/218', 'soak'],
      ['er:1024:d=0.2', 32, 'aware3 163/189/130, aware4 197/227/174/222', 'soak'],
      ['er:1024:d=0.2', 32, 'aware6 205/240/199', 'soak'],
      ['er:1024:d=0.4', 32, 'direct 409/460/397/409, agnostic2 227/253/217/424', 'soak'],
      ['er:1024:d=0.4', 32, 'aware2 234/264/213/424', 'soak'],
      ['er:1024:d=0.4', 32, 'leaving4 256', 'soak'],
      ['er:1024:d=0.4', 32, 'aware3 242/268/196, aware4 291/322/226/467', 'long'],
      ['er:1024:d=0.4', 32, 'aware6 409/460/397', 'long'],
      ['er:1024:d=0.6', 32, 'direct 615/663/596/615, agnostic2 330/356/315/630', 'long'],
      ['er:1024:d=0.6', 32, 'aware2 337/362/312/629', 'long'],
      ['er:1024:d=0.6', 32, 'aware3 311/338/262.5, aware4 346/369/276/676', 'long'],
      ['er:1024:d=0.8', 32, 'direct 819/855/794/819', 'soak'],
      ['er:1024:d=0.8', 32, 'agnostic2 430/450/411/833, aware2 438/457/411/833', 'long'],
      ['er:1024:d=0.8', 32, 'aware3 362/422/319', 'long'],
      ['er:1024:d=0.8', 32, 'aware4 366/393/309/866', 'long'],
      ['matrix:ash292:292', 32, 'direct 6.6, aware2 5.8', 'test'],
      ['matrix:dwt_193:193', 32, 'direct 17.1, aware2 11.7, aware3 13.8, aware4 15.7', 'test'],
    ] as const),
  )('%s, %i per node: %s', ([spec, perNode, columns]) => {
    for (const column of columns.split(', ')) {
      const [name, printed] = column.split(' ')
      const strategy = strategies[name as keyof typeof strategies]
      expect(asPrinted(sends(topologyOf(spec), perNode, strategy), printed), name).toBe(printed)
    }
  })
})

// For k = 2, 4, 8, 16, or 2 to 6 on random graphs, with more than k(k - 1) (agnostic) or k (aware) common neighbors.
describe('hyperedges per rank', () => {
  test.for(
    upToTier([
      ['moore:64x64:r=1', null, { 2: '8', 4: '0', 8: '0', 16: '0' }, 'test'],
      ['moore:64x64:r=1', 40, { 2: '3.77', 4: '0', 8: '0', 16: '0' }, 'test'],
      ['moore:64x64:r=2', null, { 2: '68', 4: '0', 8: '0', 16: '0' }, 'soak'],
      ['moore:64x64:r=2', 40, { 2: '7.50', 4: '7.10', 8: '0', 16: '0' }, 'test'],
      ['moore:64x64:r=3', null, { 2: '156', 4: '5492', 8: '0', 16: '0' }, 'soak'],
      ['moore:64x64:r=3', 40, { 2: '10.94', 4: '69.44', 8: '0', 16: '0' }, 'soak'],
      ['moore:64x64:r=4', null, { 2: '276', 8: '0', 16: '0' }, 'soak'],
      ['moore:64x64:r=4', null, { 4: '126556' }, 'long'],
      ['moore:64x64:r=4', 40, { 2: '14.19', 4: '185.98', 8: '12.19', 16: '0' }, 'soak'],
      ['moore:16x16x16:r=1', null, { 2: '92', 4: '0', 8: '0', 16: '0' }, 'soak'],
      ['moore:16x16x16:r=1', 40, { 2: '11.73', 4: '27.17', 8: '0', 16: '0' }, 'soak'],
      ['moore:16x16x16:r=2', null, { 2: '696', 8: '0', 16: '0' }, 'soak'],
      ['moore:16x16x16:r=2', null, { 4: '362720' }, 'long'],
      ['moore:16x16x16:r=2', 40, { 2: '21.85', 4: '719.74', 8: '6554.70', 16: '0' }, 'soak'],
      ['moore:8x8x8x8:r=1', null, { 2: '544', 4: '1672', 8: '0', 16: '0' }, 'soak'],
      ['moore:8x8x8x8:r=1', 40, { 2: '17.96', 4: '238.23', 8: '3.59', 16: '0' }, 'soak'],
      ['er:1024:d=0.05', 32, { 2: '14.6', 3: '0.012', 4: '0', 5: '0', 6: '0' }, 'test'],
      ['er:1024:d=0.2', 32, { 2: '31', 3: '447.8', 4: '113.3', 5: '0.024', 6: '0' }, 'soak'],
      ['er:1024:d=0.4', 32, { 2: '31', 3: '465', 4: '4495', 5: '29893' }, 'soak'],
      ['er:1024:d=0.4', 32, { 6: '22414' }, 'long'],
      ['er:1024:d=0.6', 32, { 2: '31', 3: '465', 4: '4495', 5: '31465' }, 'soak'],
      ['er:1024:d=0.6', 32, { 6: '169911' }, 'long'],
    ] as const),
  )('%s, nodes of %s: %j', ([spec, perNode, counts]) => {
    const topology = topologyOf(spec)
    const nodeOf = perNode === null ? null : nodesOf(topology.ranks, perNode)
    for (const [size, printed] of Object.entries<string>(counts)) {
      const k = Number(size)
      const theta = nodeOf === null ? k * (k - 1) : k
      const counted = countHyperedges(topology, { k, theta, nodeOf, workLimit: 1e11 })
      if (counted.kind !== 'counted') throw new Error(counted.reason)
      expect(asPrinted([counted.meanPerRank], printed), `k=${k}`).toBe(printed)
    }
  })
})
