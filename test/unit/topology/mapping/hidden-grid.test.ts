import { hopsBetween, torus } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../../../src/base/random.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { cartTopology } from '../../../../src/topology/generate/cartesian.js'
import { gridStarts, hiddenGrid, turnedGrid } from '../../../../src/topology/mapping/grid-starts.js'
import { type MapOptions, mapTopology } from '../../../../src/topology/mapping/map-topology.js'
import { relabelledTopology } from '../../../../src/topology/mapping/relabel.js'
import { exchangeGraph } from '../../../../src/topology/mapping/weighted-graph.js'
import { distinctIn, distinctOut } from '../../../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'

const upTo = (n: number) => Int32Array.from({ length: n }, (_, i) => i)

function shuffled(topology: ProcessTopology, seed = 1): ProcessTopology {
  return relabelledTopology(topology, drawnPermutation(mulberry32(seed), topology.ranks))
}

function gridIn(topology: ProcessTopology) {
  const { start, to } = exchangeGraph(distinctOut(topology), distinctIn(topology))
  return hiddenGrid({ start, rank: to })
}

const coordinatesOf = (dims: readonly number[], place: number) =>
  dims.map((extent, d) => Math.floor(place / dims.slice(d + 1).reduce((a, b) => a * b, 1)) % extent)

describe('a hidden grid', () => {
  it.each([
    [[6, 6, 6], 1, [6, 6, 6]],
    [[5, 7], 1, [5, 7]],
    [[5, 7], 0, [5, 7]],
    [[9, 2], 0, [2, 9]],
    [[3, 6, 5], 1, [3, 5, 6]],
    [[12], 1, [12]],
    [[12], 0, [12]],
    // Cycles of four are products of two edges.
    [[4, 4, 4], 1, [4, 4, 4]],
    [[4, 6, 4], 1, [4, 4, 6]],
    [[2, 2, 2, 2, 2], 0, [2, 4, 4]],
  ])('of %j, periodic %d, is found whatever the numbers of its vertices', (dims, periodic, extents) => {
    const periods = dims.map(() => periodic === 1)
    for (const seed of [1, 2]) {
      const topology = shuffled(cartTopology({ dims, periods }), seed)
      const grid = gridIn(topology)!
      expect([...grid.dims].sort((a, b) => a - b)).toEqual(extents)
      expect(grid.placeOf.toSorted()).toEqual(upTo(topology.ranks))
      const { outStart, outRank } = topology
      for (let v = 0; v < topology.ranks; v++)
        for (const u of outRank.subarray(outStart[v], outStart[v + 1])) {
          const [a, b] = [v, u].map((each) => coordinatesOf(grid.dims, grid.placeOf[each]))
          const steps = a.map((at, d) => Math.abs(at - b[d])).map((by, d) => Math.min(by, grid.dims[d] - by))
          expect(steps.reduce((sum, by) => sum + by)).toBe(1)
        }
    }
  })

  it('is null for graphs without one', () => {
    for (const spec of ['moore:6x6:r=1', 'er:40:d=0.05:seed=1', 'er:40:d=0', 'stencil:6x1:offsets=2,0/-2,0'])
      expect(gridIn(buildTopology(spec))).toBeNull()
  })

  it('turns by its dimensions', () => {
    const grid = { dims: [2, 3, 5], placeOf: upTo(30) }
    const { dims, placeOf } = turnedGrid(grid, [2, 0, 1])
    expect(dims).toEqual([5, 2, 3])
    for (let v = 0; v < 30; v++) {
      const [a, b, c] = coordinatesOf(grid.dims, v)
      expect(coordinatesOf(dims, placeOf[v])).toEqual([c, a, b])
    }
  })
})

describe('starts by boxes', () => {
  const topology = shuffled(buildTopology('cart:6x8:periodic'))

  it('fill nodes exactly, uneven ones by halved boxes', () => {
    for (const capacities of [new Int32Array(12).fill(4), Int32Array.of(5, 0, 20, 11, 12)]) {
      const starts = gridStarts(topology, { capacities, isNumbered: true })
      expect(starts[0].start).toBe('halved boxes')
      expect(starts.length > 1).toBe(capacities.length === 12)
      for (const { nodeOf } of starts)
        expect(capacities.map((_, node) => nodeOf.filter((each) => each === node).length)).toEqual(capacities)
    }
  })

  it('are numbered along each order of dimensions where nodes differ', () => {
    const capacities = new Int32Array(12).fill(4)
    const count = (isNumbered: boolean) => gridStarts(topology, { capacities, isNumbered }).length - 1
    expect(count(true)).toBe(2 * count(false))
  })

  it.each([
    ['cart:8x4x6:periodic', [8, 4, 6], 1, 6 * 192],
    ['cart:16x12:periodic', [4, 6], 8, 12 * 24],
  ])('bring shuffled %s on a torus of %j x %d to %d hop-bytes', (spec, dims, cores, ideal) => {
    const graph = shuffled(buildTopology(spec))
    const options: MapOptions = {
      nodeOfSlot: upTo(graph.ranks).map((slot) => Math.floor(slot / cores)),
      ...{ objective: 'hop-bytes', distance: hopsBetween(torus({ dims, cores })), mostWork: 1e6 },
    }
    expect(mapTopology(graph, options).cost).toBeLessThanOrEqual(ideal)
  })
})
