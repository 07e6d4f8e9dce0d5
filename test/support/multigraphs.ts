import fc from 'fast-check'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'

export interface RandomMultigraph {
  readonly ranks: number
  /** Source, destination, weight. */
  readonly edges: readonly (readonly [source: number, destination: number, weight: number])[]
}

/** Up to 12 ranks, self loops, parallel edges and isolated ranks included. */
export const multigraphs: fc.Arbitrary<RandomMultigraph> = fc.integer({ min: 1, max: 12 }).chain((ranks) => {
  const rank = fc.integer({ min: 0, max: ranks - 1 })
  const weight = fc.double({ noNaN: true })
  return fc.record({
    ranks: fc.constant(ranks),
    edges: fc.array(fc.tuple(rank, rank, weight), { maxLength: 40 }),
  })
})

/** Weighted only if there are edges: other forms cannot express it without edges. */
export function topologyOf({ ranks, edges }: RandomMultigraph, weighted = false): ProcessTopology {
  return topologyFromEdges(ranks, {
    sources: edges.map(([source]) => source),
    destinations: edges.map(([, destination]) => destination),
    weights: weighted && edges.length > 0 ? edges.map(([, , weight]) => weight) : null,
  })
}
