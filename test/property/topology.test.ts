import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cartNeighborSlots, coordsOf, rankOf, sizeOf } from '../../src/topology/cart-shape.js'
import { topologyFromGraph, topologyToGraph } from '../../src/topology/files/graphology.js'
import { cartTopology } from '../../src/topology/generate/cartesian.js'
import { mooreTopology } from '../../src/topology/generate/stencil.js'
import {
  distinctIn,
  distinctOut,
  inNeighbors,
  outNeighbors,
  pairEdges,
  transposeTopology,
} from '../../src/topology/neighbors.js'
import { checkTopology, type ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromLists } from '../../src/topology/topology-builders.js'
import { topologyHash } from '../../src/topology/topology-hash.js'
import { multigraphs, topologyOf } from '../support/multigraphs.js'
import { cases } from '../support/soak.js'

/** A topology whose lists are shuffled on each side by itself, as the adjacent form allows. */
const shuffled = fc
  .tuple(multigraphs, fc.infiniteStream(fc.nat()), fc.boolean())
  .map(([graph, order, weighted]) => {
    const topology = topologyOf(graph, weighted)
    const shuffle = (start: Int32Array) =>
      Array.from({ length: topology.ranks }, (_, r) =>
        Array.from({ length: start[r + 1] - start[r] }, (_, i) => [
          start[r] + i,
          order.next().value as number,
        ])
          .sort((a, b) => a[1] - b[1])
          .map(([e]) => e),
      ).flat()
    const out = shuffle(topology.outStart)
    const into = shuffle(topology.inStart)
    return topologyFromLists({
      ranks: topology.ranks,
      outStart: topology.outStart,
      outRank: out.map((e) => topology.outRank[e]),
      outWeight: topology.outWeight && out.map((e) => topology.outWeight![e]),
      inStart: topology.inStart,
      inRank: into.map((e) => topology.inRank[e]),
      inWeight: topology.inWeight && into.map((e) => topology.inWeight![e]),
    })
  })

const grids = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), { maxLength: 4 })
  .map((axes) => ({ dims: axes.map(([extent]) => extent), periods: axes.map(([, period]) => period) }))

describe('random multigraphs', () => {
  test('from edges are sound, both sides in edge order', () => {
    fc.assert(
      fc.property(multigraphs, fc.boolean(), (graph, weighted) => {
        const topology = topologyOf(graph, weighted)
        checkTopology(topology)
        for (let r = 0; r < graph.ranks; r++) {
          const out = graph.edges.filter(([source]) => source === r)
          const into = graph.edges.filter(([, destination]) => destination === r)
          expect([...outNeighbors(topology, r)]).toEqual(out.map(([, destination]) => destination))
          expect([...inNeighbors(topology, r)]).toEqual(into.map(([source]) => source))
          if (topology.inWeight !== null)
            expect([...topology.inWeight.subarray(topology.inStart[r], topology.inStart[r + 1])]).toEqual(
              into.map(([, , weight]) => weight),
            )
        }
      }),
      { numRuns: cases(1000) },
    )
  })

  test('survive lists and graphology unchanged', () => {
    fc.assert(
      fc.property(shuffled, (topology) => {
        checkTopology(topology)
        expect(topologyFromLists(topology)).toEqual(topology)
        const back = topologyFromGraph(topologyToGraph(topology))
        expect(back).toEqual(topology)
        expect(topologyHash(back)).toBe(topologyHash(topology))
        expect(transposeTopology(transposeTopology(topology))).toEqual(topology)
        checkTopology(transposeTopology(topology))
      }),
      { numRuns: cases(1000) },
    )
  })

  test('pairEdges pairs the c-th edge from p to q with the c-th at q', () => {
    fc.assert(
      fc.property(shuffled, (topology) => {
        const arrival = pairEdges(topology)
        expect([...arrival].sort((a, b) => a - b)).toEqual([...arrival.keys()])
        for (let p = 0; p < topology.ranks; p++)
          for (let e = topology.outStart[p]; e < topology.outStart[p + 1]; e++) {
            const q = topology.outRank[e]
            const at = arrival[e] - topology.inStart[q]
            const sources = inNeighbors(topology, q)
            expect(sources[at]).toBe(p)
            const occurrence = (list: Int32Array, end: number, rank: number) =>
              list.subarray(0, end).filter((other) => other === rank).length
            expect(occurrence(sources, at, p)).toBe(
              occurrence(outNeighbors(topology, p), e - topology.outStart[p], q),
            )
          }
      }),
      { numRuns: cases(500) },
    )
  })

  test('have the sets of their lists as distinct neighbors', () => {
    fc.assert(
      fc.property(multigraphs, (graph) => {
        const topology = topologyOf(graph)
        const sets = (side: typeof distinctOut, list: typeof outNeighbors) => {
          const { start, rank } = side(topology)
          for (let r = 0; r < graph.ranks; r++) {
            const expected = new Set(list(topology, r))
            expected.delete(r)
            expect([...rank.subarray(start[r], start[r + 1])]).toEqual([...expected].sort((a, b) => a - b))
          }
        }
        sets(distinctOut, outNeighbors)
        sets(distinctIn, inNeighbors)
      }),
      { numRuns: cases(500) },
    )
  })

  test('with a single change of one side are rejected', () => {
    fc.assert(
      fc.property(multigraphs, fc.nat(), fc.nat(), fc.boolean(), (graph, at, value, outSide) => {
        const topology = topologyOf(graph)
        const side: keyof ProcessTopology = outSide ? 'outRank' : 'inRank'
        if (graph.edges.length === 0 || graph.ranks === 1) return
        const changed = topology[side].slice()
        const e = at % changed.length
        changed[e] = (changed[e] + 1 + (value % (graph.ranks - 1))) % graph.ranks
        expect(() => checkTopology({ ...topology, [side]: changed })).toThrow(
          expect.objectContaining({ code: 'ERR_TOPOLOGY' }),
        )
      }),
      { numRuns: cases(500) },
    )
  })
})

describe('random grids', () => {
  test('are sound and symmetric: slot s of one is slot s^1 of the other', () => {
    fc.assert(
      fc.property(grids, (shape) => {
        const topology = cartTopology(shape)
        checkTopology(topology)
        const slots = Array.from({ length: topology.ranks }, (_, r) => cartNeighborSlots(shape, r))
        for (let r = 0; r < topology.ranks; r++) {
          expect(rankOf(shape, coordsOf(shape, r))).toBe(r)
          for (const [slot, neighbor] of slots[r].entries())
            if (neighbor >= 0) expect(slots[neighbor][slot ^ 1]).toBe(r)
        }
      }),
      { numRuns: cases(300) },
    )
  })

  test('Moore neighborhoods are sound, symmetric, without self loops and repetition', () => {
    fc.assert(
      fc.property(grids, fc.integer({ min: 1, max: 4 }), fc.boolean(), ({ dims }, radius, periodic) => {
        if (dims.length === 0) return
        const topology = mooreTopology({ dims, radius, periodic })
        checkTopology(topology)
        expect(topology.ranks).toBe(sizeOf({ dims }))
        expect(topology.inRank).toEqual(topology.outRank)
        expect(distinctOut(topology).rank).toHaveLength(topology.outRank.length)
      }),
      { numRuns: cases(300) },
    )
  })
})
