import { expect, test } from 'vitest'
import { mulberry32 } from '../../../../src/base/random.js'
import {
  PlacedBusiest,
  type PlacedGraph,
  PlacedPairs,
} from '../../../../src/topology/mapping/placed-graph.js'
import { improveBySwaps } from '../../../../src/topology/mapping/problem.js'
import { distinctIn, distinctOut } from '../../../../src/topology/neighbors.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'

// A star beside a ring: a visit of vertex 0 is 60 times one of the others.
const ranks = 64
const around = Array.from({ length: ranks }, (_, v) => v)
const hub = around.slice(1)
const topology = topologyFromEdges(ranks, {
  sources: [...around, ...hub, ...hub.map(() => 0)],
  destinations: [...around.map((v) => (v + 1) % ranks), ...hub.map(() => 0), ...hub],
})
const [out, into] = [distinctOut(topology), distinctIn(topology)]
const nodeOf = () => Int32Array.from(around, (v) => v % 8)

test.each([
  ['pairs', () => new PlacedPairs(out, into, nodeOf())],
  ['busiest-node', () => new PlacedBusiest(out, into, 8, nodeOf())],
])('a search by %s visits no more neighbors than its budget and one trial', (_, place) => {
  const placed = place()
  let spent = 0
  const counting: PlacedGraph = {
    nodeOf: placed.nodeOf,
    get cost() {
      return placed.cost
    },
    gain(v, node) {
      spent += placed.visits(v)
      return placed.gain(v, node)
    },
    visits: (v) => placed.visits(v),
    move(v, node) {
      spent += placed.visits(v)
      placed.move(v, node)
    },
  }
  const options = { neighbors: [out, into], work: 20_000, temperature: 0, next: mulberry32(1) }
  const before = placed.cost
  improveBySwaps(counting, 8, options)
  expect(placed.cost).toBeLessThan(before)
  expect(spent).toBeGreaterThan(0)
  // Of one trial: ten gains and moves of the hub at most. Those that are taken back are as many as were made.
  expect(spent).toBeLessThan(20_000 + 10 * placed.visits(0))
})
