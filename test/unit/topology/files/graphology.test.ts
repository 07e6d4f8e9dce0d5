import { DirectedGraph, MultiGraph, UndirectedGraph } from 'graphology'
import { cartTopology, topologyFromEdges, topologyFromLists } from 'rankweave/topology'
import { describe, expect, test } from 'vitest'
import { topologyFromGraph, topologyToGraph } from '../../../../src/topology/files/graphology.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../thrown.js'

describe('topologyFromGraph', () => {
  test('makes ranks of nodes in the order of the graph, and lists in edge order', () => {
    const graph = new DirectedGraph()
    for (const node of ['c', 'a', 'b']) graph.addNode(node)
    graph.addEdge('a', 'c')
    graph.addEdge('b', 'c')
    graph.addEdge('a', 'a')
    graph.addEdge('a', 'b')
    expect(topologyFromGraph(graph)).toEqual(
      topologyFromEdges(3, { sources: [1, 2, 1, 1], destinations: [0, 0, 1, 2] }),
    )
  })

  test('makes two edges of an undirected edge, one of an undirected self loop', () => {
    const graph = new UndirectedGraph()
    graph.addNode(0)
    graph.addNode(1)
    graph.addEdge(1, 0, { weight: 2.5 })
    graph.addEdge(1, 1, { weight: 4 })
    expect(topologyFromGraph(graph)).toEqual(
      topologyFromEdges(2, { sources: [1, 0, 1], destinations: [0, 1, 1], weights: [2.5, 2.5, 4] }),
    )
  })

  test('reads mixed multigraphs', () => {
    const graph = new MultiGraph({ type: 'mixed' })
    graph.addNode('x')
    graph.addNode('y')
    graph.addDirectedEdge('y', 'x')
    graph.addUndirectedEdge('x', 'y')
    graph.addDirectedEdge('y', 'x')
    expect(topologyFromGraph(graph)).toEqual(
      topologyFromEdges(2, { sources: [1, 0, 1, 1], destinations: [0, 1, 0, 0] }),
    )
  })

  test('reads weights of another name, or none', () => {
    const graph = new DirectedGraph()
    graph.addNode(0)
    graph.addDirectedEdge(0, 0, { bytes: 8, weight: 'heavy' })
    expect(topologyFromGraph(graph, { weight: 'bytes' }).outWeight).toEqual(Float64Array.of(8))
    expect(topologyFromGraph(graph, { weight: null }).outWeight).toBeNull()
    expect(thrown(() => topologyFromGraph(graph)).message).toContain("expected a number, got 'heavy'")
  })

  test('rejects a graph without nodes, and weights on some edges only', () => {
    expect(thrown(() => topologyFromGraph(new DirectedGraph())).code).toBe('ERR_TOPOLOGY')
    const graph = new DirectedGraph()
    graph.addNode(0)
    graph.addNode(1)
    graph.addDirectedEdge(0, 1, { weight: 1 })
    graph.addDirectedEdge(1, 0)
    expect(() => topologyFromGraph(graph)).toThrow(
      refusal('ERR_TOPOLOGY', "expected the attribute 'weight' on every edge or on none, got it on 1 of 2"),
    )
  })
})

describe('topologyToGraph', () => {
  const crossed = topologyFromLists({
    ranks: 3,
    outStart: [0, 2, 4, 5],
    outRank: [2, 1, 1, 2, 2],
    outWeight: [1, 2, 3, 4, 5],
    inStart: [0, 0, 2, 5],
    inRank: [1, 0, 2, 1, 0],
    inWeight: [3, 2, 5, 40, 1],
  })

  test('writes ranks as names, every edge as a directed edge, slots and weights as attributes', () => {
    const graph = topologyToGraph(crossed)
    expect(graph.nodes()).toEqual(['0', '1', '2'])
    expect(graph.mapEdges((_, attributes, source, target) => [source, target, attributes])).toEqual([
      ['0', '2', { outSlot: 0, inSlot: 2, weight: 1 }],
      ['0', '1', { outSlot: 1, inSlot: 1, weight: 2 }],
      ['1', '1', { outSlot: 0, inSlot: 0, weight: 3 }],
      ['1', '2', { outSlot: 1, inSlot: 1, weight: 4, inWeight: 40 }],
      ['2', '2', { outSlot: 0, inSlot: 0, weight: 5 }],
    ])
  })

  test('restores both sides even if no order of edges yields them', () => {
    expect(topologyFromGraph(topologyToGraph(crossed))).toEqual(crossed)
  })

  test('allows edges to be removed before reading back', () => {
    const graph = topologyToGraph(crossed)
    graph.dropEdge(graph.edges('0', '1')[0])
    expect(topologyFromGraph(graph)).toMatchObject({
      outRank: Int32Array.of(2, 1, 2, 2),
      inRank: Int32Array.of(1, 2, 1, 0),
    })
  })

  test('writes a grid as a plain graph with the same lists', () => {
    const grid = cartTopology({ dims: [1, 2, 3], periods: [true, true, false] })
    expect(topologyFromGraph(topologyToGraph(grid))).toEqual({ ...grid, pairing: 'occurrence', cart: null })
  })
})
