import { buildTopology, joinedTopology, mapTopologies, mapTopology, placementCosts } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { uniformDistance } from '../../../../src/topology/mapping/placed-graph.js'
import { type MappingObjective, mappingObjectives } from '../../../../src/topology/mapping/problem.js'

const nodeOfSlot = Int32Array.from({ length: 64 }, (_, slot) => slot >> 2)

/** Rings along the rows and along the columns of an 8 x 8 grid. */
const rows = buildTopology('stencil:8x8:offsets=0,1/0,-1')
const columns = buildTopology('stencil:8x8:offsets=1,0/-1,0')

const keys = {
  pairs: 'pairs',
  edges: 'edges',
  'hop-bytes': 'hopBytes',
  'busiest-node': 'busiestNode',
} as const
const costOf = (topology: typeof rows, nodeOf: Int32Array, objective: MappingObjective) =>
  placementCosts(topology, nodeOf, uniformDistance)[keys[objective]]

describe('mapTopologies', () => {
  it.each(mappingObjectives)('adds up %s, each graph as often as it is exchanged', (objective) => {
    const graphs = [
      { topology: rows, times: 3 },
      { topology: columns, times: 0.5 },
    ]
    const { nodeOf, cost, identityCost, slotOf } = mapTopologies(graphs, { nodeOfSlot, objective })
    const sumOf = (nodes: Int32Array) =>
      3 * costOf(rows, nodes, objective) + costOf(columns, nodes, objective) / 2
    // By busiest-node a cost has a fraction, which says how busy the other nodes are.
    const over = objective === 'busiest-node' ? 3.5 : 1e-6
    expect(cost - sumOf(nodeOf)).toBeGreaterThan(-1e-6)
    expect(cost - sumOf(nodeOf)).toBeLessThan(over)
    expect(identityCost - sumOf(nodeOfSlot)).toBeGreaterThan(-1e-6)
    expect(identityCost - sumOf(nodeOfSlot)).toBeLessThan(over)
    expect(cost).toBeLessThanOrEqual(identityCost)
    expect(slotOf.toSorted()).toEqual(Int32Array.from({ length: 64 }, (_, slot) => slot))
    expect(mapTopologies(graphs, { nodeOfSlot, objective }).slotOf).toEqual(slotOf)
  })

  it('follows the graph that is exchanged most, and makes tiles of equal ones', () => {
    const mapped = (timesOfRows: number, timesOfColumns: number) => {
      const graphs = [
        { topology: rows, times: timesOfRows },
        { topology: columns, times: timesOfColumns },
      ]
      const { nodeOf } = mapTopologies(graphs, { nodeOfSlot, objective: 'edges' })
      return [costOf(rows, nodeOf, 'edges'), costOf(columns, nodeOf, 'edges')]
    }
    const [identityRows, identityColumns] = [rows, columns].map((each) => costOf(each, nodeOfSlot, 'edges'))
    const [[rowsFirst], [, columnsFirst]] = [mapped(100, 1), mapped(1, 100)]
    expect(rowsFirst).toBe(identityRows)
    expect(columnsFirst).toBe(identityRows)
    // Of 2 x 2 tiles every rank has one neighbor of its row and one of its column on another node.
    expect(mapped(1, 1).reduce((a, b) => a + b)).toBeLessThanOrEqual(
      Math.min(128, identityRows + identityColumns),
    )
  })

  it('is mapTopology for one graph', () => {
    const one = mapTopology(rows, { nodeOfSlot })
    expect(mapTopologies([{ topology: rows }], { nodeOfSlot })).toEqual(one)
    expect(mapTopologies([{ topology: rows, times: 2 }], { nodeOfSlot }).cost).toBe(2 * one.cost)
  })

  it.each([
    ['no graphs', [], 'ERR_ARGUMENT'],
    [
      'graphs of several sizes',
      [{ topology: rows }, { topology: buildTopology('er:8:d=0.5') }],
      'ERR_TOPOLOGY',
    ],
    ['no times', [{ topology: rows, times: 0 }], 'ERR_ARGUMENT'],
    ['times without end', [{ topology: rows, times: Number.POSITIVE_INFINITY }], 'ERR_ARGUMENT'],
    ['a topology itself', rows, 'ERR_ARGUMENT'],
    ['nothing for a graph', [null], 'ERR_ARGUMENT'],
  ])('refuses %s', (_, graphs, code) => {
    expect(() => mapTopologies(graphs as never, { nodeOfSlot })).toThrowError(
      expect.objectContaining({ code }),
    )
    expect(() => joinedTopology(graphs as never)).toThrowError(expect.objectContaining({ code }))
  })
})
