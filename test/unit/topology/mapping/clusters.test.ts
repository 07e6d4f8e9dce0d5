import { mooreTopology, outNeighbors, placementCosts } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import {
  clusterCount,
  clusterEdges,
  costOfParts,
  growClusters,
  mapClusters,
  partCosts,
  partGraph,
} from '../../../../src/topology/mapping/clusters.js'
import { uniformDistance } from '../../../../src/topology/mapping/placed-graph.js'

const grid = mooreTopology({ dims: [8, 8], radius: 1 })
const upTo = (n: number) => Int32Array.from({ length: n }, (_, i) => i)
const rowsOf = (vertices: Int32Array) => [...vertices].map((v) => ({ destinations: outNeighbors(grid, v) }))
const partOf = (vertices: Int32Array) => partGraph(vertices, rowsOf(vertices), false)

describe('clusters', () => {
  it('are of one size, each on one node, and too few vertices stay', () => {
    const nodeOf = upTo(64).map((v) => (v * 7) % 3)
    for (const size of [1, 2, 5, 21, 22]) {
      const { clusterOf, members, nodeOf: nodes } = growClusters(partOf(upTo(64)), nodeOf, size)
      expect(nodes.length).toBe(clusterCount(nodeOf, size))
      expect(members.length).toBe(size * nodes.length)
      for (const [i, v] of members.entries()) {
        expect(clusterOf[v]).toBe(Math.floor(i / size))
        expect(nodeOf[v]).toBe(nodes[clusterOf[v]])
      }
      expect(clusterOf.filter((cluster) => cluster >= 0).length).toBe(members.length)
      for (const node of [0, 1, 2])
        expect(nodeOf.filter((at, v) => at === node && clusterOf[v] < 0).length).toBeLessThan(size)
    }
  })

  it('grow by neighbors: blocks of a grid, not strided ranks', () => {
    const graph = partOf(upTo(64))
    const { clusterOf } = growClusters(graph, new Int32Array(64), 16)
    const leaving = partCosts(graph, clusterOf, 'edges', { nodes: 4, distance: uniformDistance })
    const scattered = partCosts(
      graph,
      upTo(64).map((v) => v % 4),
      'edges',
      { nodes: 4, distance: uniformDistance },
    )
    expect(leaving[0]).toBeLessThan(0.6 * scattered[0])
  })

  it('retain their heaviest edges', () => {
    const vertices = upTo(3)
    const rows = [
      { destinations: [1, 2, 3, 4, 0], destinationWeights: [6, 8, 7, 5, 9] },
      { destinations: [4, 4], destinationWeights: [2, 3] },
      { destinations: [0] },
    ]
    const graph = partGraph(vertices, rows, true)
    expect([...graph.named]).toEqual([0, 1, 2, 3, 4])
    const edges = clusterEdges(graph, Int32Array.of(0, 1, -1, 3, 4), 2)
    expect([...edges.sources]).toEqual([0, 0, 1])
    expect([...edges.destinations]).toEqual([1, 3, 4])
    expect([...edges.weights]).toEqual([6, 7, 5])
  })

  it('of equal edges retain those of all destinations about equally often, the same at every call', () => {
    const rows = Array.from({ length: 64 }, () => ({ destinations: upTo(64) }))
    const edges = clusterEdges(partGraph(upTo(64), rows, false), upTo(64), 4)
    expect(edges).toEqual(clusterEdges(partGraph(upTo(64), rows, false), upTo(64), 4))
    const retained = new Int32Array(64)
    for (const destination of edges.destinations) retained[destination]++
    // Of 256 edges; those to lower numbers would be retained 63 times.
    expect(edges.destinations.length).toBe(256)
    expect(Math.max(...retained)).toBeLessThan(16)
  })

  it('are mapped as a whole: pairs of neighbors come to one node', () => {
    const sources = Int32Array.of(0, 1, 2, 3)
    const destinations = Int32Array.of(2, 3, 0, 1)
    const options = { size: 4, objective: 'pairs', distance: uniformDistance, mostWork: 1e6 } as const
    const edges = { sources, destinations, weights: Float64Array.of(1, 1, 1, 1) }
    const nodes = Int32Array.of(0, 0, 1, 1)
    const slotOf = mapClusters(edges, nodes, options)!
    const nodeOf = slotOf.map((slot) => nodes[slot])
    expect([...nodeOf.map((_, c) => nodeOf[destinations[c]])]).toEqual([...nodeOf])
    expect(mapClusters(edges, Int32Array.of(0, 1, 0, 1), options)).toBeNull()
    const endless = { ...edges, weights: Float64Array.of(1, Number.POSITIVE_INFINITY, 1, 1) }
    expect(mapClusters(endless, nodes, options)).toBeNull()
  })
})

const costNames = [
  ['pairs', 'pairs'],
  ['edges', 'edges'],
  ['hop-bytes', 'hopBytes'],
  ['busiest-node', 'busiestNode'],
] as const

it('the costs of parts together are those of the whole', () => {
  const nodeOf = upTo(64).map((v) => (v * 5) % 7)
  const whole = placementCosts(grid, nodeOf, uniformDistance)
  for (const [objective, name] of costNames) {
    const parts = [upTo(20), upTo(44).map((v) => v + 20)].map((vertices) => {
      const graph = partOf(vertices)
      return partCosts(
        graph,
        graph.named.map((v) => nodeOf[v]),
        objective,
        { nodes: 7, distance: uniformDistance },
      )
    })
    expect(costOfParts(parts[0].map((cost, i) => cost + parts[1][i]))).toBe(whole[name])
  }
})
