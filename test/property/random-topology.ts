import fc from 'fast-check'
import { mulberry32 } from '../../src/base/random.js'
import { mooreTopology } from '../../src/topology/generate/stencil.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'

/** A small topology and what it is, for the report of a failing case. */
export interface Described {
  readonly what: string
  readonly topology: ProcessTopology
}

/**
 * Small topologies with many common neighbors: random multigraphs of all densities with self loops, parallel
 * edges in any order and isolated ranks; empty, full and bipartite ones; grids with and without wrap-around.
 */
export function smallTopologies(maxRanks: number): fc.Arbitrary<Described> {
  const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 })
  const ranks = fc.oneof(fc.constantFrom(1, 2, 3, 4), {
    weight: 4,
    arbitrary: fc.integer({ min: 5, max: maxRanks }),
  })
  // Ranks apart have idle ones between them: a sparse topology of many ranks, though few take part.
  const apart = fc.constantFrom(1, 1, 1, 9)
  const multigraph = fc
    .record({ ranks, seed, density: fc.constantFrom(0, 0.1, 0.3, 0.5, 0.7, 0.9, 1), apart })
    .map(({ ranks: n, seed: s, density, apart: by }) => ({
      what: `multigraph ranks=${n} seed=${s} density=${density} apart=${by}`,
      topology: randomMultigraph(n, s, by, (_, __, u) => u < density),
    }))
  const bipartite = fc
    .record({ ranks, seed, density: fc.constantFrom(0.5, 0.8, 1), apart })
    .map(({ ranks: n, seed: s, density, apart: by }) => ({
      what: `bipartite ranks=${n} seed=${s} density=${density} apart=${by}`,
      topology: randomMultigraph(n, s, by, (p, q, u) => p < n / 2 && q >= n / 2 && u < density),
    }))
  const grids = [[2, 3], [2, 5], [3, 3], [3, 4], [10], [2, 2, 3]].filter(
    (dims) => dims.reduce((size, extent) => size * extent, 1) <= maxRanks,
  )
  const moore = fc
    .constantFrom(...grids)
    .chain((dims) =>
      fc.record({ dims: fc.constant(dims), radius: fc.constantFrom(1, 2), periodic: fc.boolean() }),
    )
    .map((spec) => ({ what: JSON.stringify(spec), topology: mooreTopology(spec) }))
  return fc.oneof({ weight: 5, arbitrary: multigraph }, { weight: 2, arbitrary: bipartite }, moore)
}

function randomMultigraph(
  ranks: number,
  seed: number,
  apart: number,
  isEdge: (p: number, q: number, uniform: number) => boolean,
): ProcessTopology {
  const draw = mulberry32(seed)
  const uniform = () => draw() / 2 ** 32
  const edges: [number, number][] = []
  for (let p = 0; p < ranks; p++) {
    const isolated = uniform() < 0.1
    for (let q = 0; q < ranks; q++) {
      const wanted = isEdge(p, q, uniform()) && !isolated
      if (p === q && uniform() < 0.7) continue
      const copies = uniform() < 0.15 ? 2 + Math.floor(uniform() * 2) : 1
      if (wanted) for (let c = 0; c < copies; c++) edges.push([p, q])
    }
  }
  // Lists in any order, not only ascending.
  for (let i = edges.length - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1))
    const held = edges[i]
    edges[i] = edges[j]
    edges[j] = held
  }
  return topologyFromEdges(ranks * apart, {
    sources: edges.map(([p]) => p * apart),
    destinations: edges.map(([, q]) => q * apart),
  })
}

/** A node for every rank: blocks, round robin, one for all, or any. */
export function nodesFor(ranks: number): fc.Arbitrary<Int32Array> {
  return fc.oneof(
    fc
      .integer({ min: 1, max: ranks + 1 })
      .map((per) => Int32Array.from({ length: ranks }, (_, r) => Math.floor(r / per))),
    fc.integer({ min: 1, max: 4 }).map((nodes) => Int32Array.from({ length: ranks }, (_, r) => r % nodes)),
    fc
      .array(fc.integer({ min: 0, max: 2 }), { minLength: ranks, maxLength: ranks })
      .map((a) => Int32Array.from(a)),
  )
}
