import { requireTopology } from '../check-topology.js'
import { communitiesOf } from '../communities.js'
import { distinctIn, distinctOut } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { joinedTopology, type RepeatedTopology } from './joined-topology.js'
import { type MapOptions, type Mapping, type MappingStart, mapTopologies } from './map-topology.js'
import { nodeList } from './node-list.js'
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
