import { UndirectedGraph } from 'graphology'
import louvain from 'graphology-communities-louvain'
import type { AbstractGraph } from 'graphology-types'
import { seededRandom } from '../../base/random.js'
import { distinctIn, distinctOut } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import {
  joinedTopology,
  type MapOptions,
  type Mapping,
  type MappingStart,
  mapTopologies,
  type RepeatedTopology,
} from './map-topology.js'
import { nodeList } from './placed-graph.js'
import { exchangeGraph } from './weighted-graph.js'

/** The most pairs of neighboring vertices in a graph whose communities are searched. */
const mostPairs = 2 ** 18
/** Vertices are ordered by large communities first, then by the smaller ones within each. */
const resolutions = [1, 8, 32]

/**
 * Maps vertices in the order of their communities, and of smaller communities in each, the first vertices to the first
 * slots. Returns null for graphs of more than 2^18 pairs of neighbors.
 *
 * @param nodeOfSlot the node of every slot; as many slots as ranks
 * @throws ERR_TOPOLOGY, ERR_MACHINE
 * @see Blondel, Guillaume, Lambiotte, Lefebvre 2008, Fast unfolding of communities in large networks
 */
export function communityStart(
  topology: ProcessTopology,
  nodeOfSlot: ArrayLike<number>,
): MappingStart | null {
  requireTopology(topology)
  const nodes = nodeList('nodeOfSlot', nodeOfSlot, topology.ranks).sort()
  const { start, to, weight } = exchangeGraph(distinctOut(topology), distinctIn(topology))
  if (to.length > 2 * mostPairs) return null
  const vertices = topology.ranks
  const pairs = { from: [] as number[], to: [] as number[], edges: [] as number[] }
  for (let v = 0; v < vertices; v++)
    for (let e = start[v]; e < start[v + 1]; e++) {
      if (to[e] < v) continue
      pairs.from.push(v)
      pairs.to.push(to[e])
      pairs.edges.push(weight[e])
    }
  const communities = resolutions.map((resolution) => communitiesOf(vertices, pairs, resolution))
  const order = Int32Array.from({ length: vertices }, (_, v) => v).sort((a, b) => {
    for (const of of communities) if (of[a] !== of[b]) return of[a] - of[b]
    return a - b
  })
  const nodeOf = new Int32Array(vertices)
  for (const [place, v] of order.entries()) nodeOf[v] = nodes[place]
  return { start: 'communities', nodeOf }
}

/**
 * Maps as {@link mapTopologies} does, from communities as well. `rankweave map`, and `--map auto` of other commands,
 * compute this mapping.
 *
 * @throws ERR_ARGUMENT, ERR_TOPOLOGY, ERR_MACHINE
 */
export function mapFromCommunities(graphs: readonly RepeatedTopology[], options: MapOptions): Mapping {
  const topology = graphs.length === 1 ? graphs[0].topology : joinedTopology(graphs)
  const communities = communityStart(topology, options.nodeOfSlot)
  return mapTopologies(graphs, { ...options, starts: communities === null ? [] : [communities] })
}

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
