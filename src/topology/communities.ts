import { UndirectedGraph } from 'graphology'
import louvain from 'graphology-communities-louvain'
import type { AbstractGraph } from 'graphology-types'
import { seededRandom } from '../base/random.js'

/** Pairs of different vertices with edges between them, each once, and their numbers of edges. */
export interface VertexPairs {
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly edges: readonly number[]
}

interface LouvainOptions {
  readonly getEdgeWeight: string
  readonly rng: () => number
  readonly resolution: number
}

// The package is CommonJS but its types describe a module, so the import is the function itself.
const detect = louvain as unknown as (
  graph: AbstractGraph,
  options: LouvainOptions,
) => Readonly<Record<string, number>>

/**
 * Returns the community of every vertex, numbered in order of their first vertices: the same pairs give the same
 * communities.
 *
 * @param resolution the larger, the smaller communities are
 * @see Blondel, Guillaume, Lambiotte, Lefebvre 2008, Fast unfolding of communities in large networks
 */
export function communitiesOf(vertices: number, { from, to, edges }: VertexPairs, resolution = 1): number[] {
  const graph = new UndirectedGraph()
  for (let v = 0; v < vertices; v++) graph.addNode(String(v))
  for (let i = 0; i < from.length; i++) graph.addEdge(String(from[i]), String(to[i]), { weight: edges[i] })
  const found = detect(graph, { getEdgeWeight: 'weight', rng: seededRandom(1), resolution })
  const numberOf = new Map<number, number>()
  return Array.from({ length: vertices }, (_, v) => {
    const community = found[String(v)]
    const number = numberOf.get(community) ?? numberOf.size
    numberOf.set(community, number)
    return number
  })
}
