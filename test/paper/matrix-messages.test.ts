import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readMatrixMarket } from '../../src/topology/matrix/matrix-market.js'
import { topologyFromMatrix } from '../../src/topology/matrix/matrix-topology.js'
import { asPrinted, printedRules, sends } from './printed.js'

// Real matrices are not part of the repository.
const data = fileURLToPath(new URL('../../../shared/data/', import.meta.url))

describe.each([
  ['ash292', 292, '6.6', { 2: '5.8' }],
  ['dwt_193', 193, '17.1', { 2: '11.7', 3: '13.8', 4: '15.7' }],
])('%s among %i ranks, 32 per node: sends per rank', (name, ranks, degree, aware) => {
  const file = `${data}${name}.mtx`

  test(`direct ${degree}, aware ${JSON.stringify(aware)}`, (context) => {
    if (!existsSync(file)) context.skip(`there is no ${file}`)
    const topology = topologyFromMatrix(readMatrixMarket(file), { ranks })
    expect(asPrinted(sends(topology, 32, { kind: 'direct' }), degree)).toBe(degree)
    for (const [k, printed] of Object.entries(aware)) {
      expect(asPrinted(sends(topology, 32, printedRules(Number(k), 'aware')), printed), `k=${k}`).toBe(
        printed,
      )
    }
  })
})
