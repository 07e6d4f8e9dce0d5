import { mooreTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { hubLoad, hubOf } from '../../../../src/neighborhood/choose/estimate.js'
import { routeOf } from '../../../../src/neighborhood/plan/plan.js'
import { parseStrategy } from '../../../../src/neighborhood/strategies/strategies.js'
import { distinctIn } from '../../../../src/topology/neighbors.js'

const ranks = 32
const everyone = Array.from({ length: ranks }, (_, rank) => rank)
/** All send to rank 5, and to the next rank. */
const star = topologyFromEdges(ranks, {
  sources: [...everyone, ...everyone],
  destinations: [...everyone.map(() => 5), ...everyone.map((rank) => (rank + 1) % ranks)],
})
const nodeOf = Int32Array.from(everyone, (rank) => rank >> 3)

it('a hub has far more sources than others', () => {
  expect(hubOf(distinctIn(star))).toMatchObject({ rank: 5, sources: { length: 31 } })
  expect(hubOf(distinctIn(mooreTopology({ dims: [8, 8], radius: 1 })))).toBeNull()
  expect(hubOf(distinctIn(topologyFromEdges(3, { sources: [], destinations: [] })))).toBeNull()
})

it.each([
  ['direct', [[7, 24]], [[7, 24]], [24]],
  // Two digits of the rank: those of the same node first, then one rank per node.
  [
    'routed:radices=8.4',
    [
      [7, 0],
      [0, 3],
    ],
    [
      [7, 0],
      [0, 24],
    ],
    [0, 24],
  ],
] as const)('%s keeps a hub busy', (text, messages, blocks, toNode) => {
  const loads = hubLoad(routeOf(star, parseStrategy(text)), hubOf(distinctIn(star))!, nodeOf)
  expect(loads.map((load) => load.messages)).toEqual(messages)
  expect(loads.map((load) => load.blocks)).toEqual(blocks)
  expect(loads.map((load) => load.toNode)).toEqual(toNode)
})
