import { describe, expect, test } from 'vitest'
import { topologyFromMatrix } from '../../src/topology/files/matrix-topology.js'
import { readMatrix } from '../support/matrices.js'
import { asPrinted, printedRules, sends } from './printed.js'

describe.each([
  ['ash292', 292, '6.6', { 2: '5.8' }],
  ['dwt_193', 193, '17.1', { 2: '11.7', 3: '13.8', 4: '15.7' }],
])('%s over %i ranks, 32 per node: sends per rank', (name, ranks, degree, aware) => {
  test(`direct ${degree}, aware ${JSON.stringify(aware)}`, () => {
    const topology = topologyFromMatrix(readMatrix(name), { ranks })
    expect(asPrinted(sends(topology, 32, { kind: 'direct' }), degree)).toBe(degree)
    for (const [k, printed] of Object.entries(aware)) {
      expect(asPrinted(sends(topology, 32, printedRules(Number(k), 'aware')), printed), `k=${k}`).toBe(
        printed,
      )
    }
  })
})
