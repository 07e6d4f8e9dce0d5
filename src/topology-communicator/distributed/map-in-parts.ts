import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import { concatenateWords, packBlocks, unpackBlocks } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes, bcastBytes, gatherBytes } from '../../calls/exchange/exchange-patterns.js'
import {
  type ClusterEdges,
  type Clusters,
  clusterCount,
  clusterEdges,
  costOfParts,
  growClusters,
  mapClusters,
  type NodeDistances,
  type PartGraph,
  partCosts,
  partGraph,
} from '../../topology/mapping/clusters.js'
import type { MappingObjective } from '../../topology/mapping/problem.js'
import { combineAll } from './agreed-plan.js'
import type { HostedLists, RankPlacement } from './hosted-lists.js'

/** Bounds of what process 0 gathers. */
export interface MappingBounds {
  /** The number of clusters, unless there are more processes. */
  readonly clusters: number
  /** The number of edges of clusters, if each retains equally many. */
  readonly edges: number
  /** The number of heaviest destinations that a cluster retains. */
  readonly degree: number
  /** The visits of neighbors that refinement may spend. */
  readonly work: number
}

/** The places of clusters of the whole graph, and the clusters of this process. */
export interface MappedClusters {
  readonly clusters: Clusters
  /** The cluster whose place every cluster takes: a permutation. */
  readonly slotOf: Int32Array
  /** The number of the first cluster of every process, then that of all clusters. */
  readonly firstOf: Int32Array
}

interface PartsToMap extends NodeDistances, Pick<RankPlacement, 'ranks' | 'nodeOf' | 'hosts'> {
  readonly objective: MappingObjective
}

// Steps of the exchange; an allgather takes up to 32.
const sizeStep = 3_000
const nodesStep = 3_010
const clustersStep = 3_050
const edgesStep = 3_051
const slotsStep = 3_052
const movedStep = 3_053
const costsStep = 3_060

/** The number of cluster sizes that are compared. */
const comparedSizes = 32
/** Fewer edges of a cluster reveal too little of the graph. */
const leastDegree = 4

/**
 * Maps a graph that no process has. Each process joins its vertices in clusters of one size, process 0 maps the
 * clusters, and all count the cost by the objective. Returns null if it does not fall.
 *
 * Memory: in proportion to ranks and edges here, 8 bytes a cluster, and on process 0 the graph of clusters. Messages:
 * one to each process with sources of ranks here, twice; one to process 0; five trees.
 *
 * @param parts knows the hosts of the ranks that the lists name
 */
export async function mapInParts(
  exchange: Exchange,
  lists: HostedLists,
  parts: PartsToMap,
  bounds: MappingBounds,
): Promise<MappedClusters | null> {
  const { objective, nodeOf, hosts } = parts
  const { localRanks, hosted } = lists
  const graph = partGraph(localRanks, hosted, objective === 'hop-bytes')
  const peers = edgePeers(exchange.me, lists, graph, (rank) => hosts.find(rank)!)
  const nodesHere = localRanks.map(nodeOf)
  const size = await clusterSize(exchange, nodesHere, parts.ranks, bounds.clusters)
  const clusters = growClusters(graph, nodesHere, size)
  const nodes = (await allgatherBytes(exchange, bytesOf(clusters.nodeOf), nodesStep)).map(wordsOf)
  const firstOf = new Int32Array(exchange.count + 1)
  for (const [process, { length }] of nodes.entries()) firstOf[process + 1] = firstOf[process] + length
  const nodeOfCluster = concatenateWords(nodes)
  if (nodeOfCluster.every((node) => node === nodeOfCluster[0])) return null

  const first = firstOf[exchange.me]
  const numbered = clusters.clusterOf.map((cluster) => (cluster < 0 ? -1 : first + cluster))
  const clusterAt = await destinationWords(exchange, peers, graph, numbered, clustersStep)
  const kept = Math.floor(bounds.edges / nodeOfCluster.length)
  const most = Math.max(leastDegree, Math.min(bounds.degree, kept))
  const gathered = await gatherEdges(exchange, clusterEdges(graph, clusterAt, most))
  let slots: Uint8Array | null = null
  if (gathered !== null) {
    const { distance } = parts
    const mapped = mapClusters(gathered, nodeOfCluster, { size, objective, distance, mostWork: bounds.work })
    slots = bytesOf(mapped ?? new Int32Array(0))
  }
  const slotOf = wordsOf(await bcastBytes(exchange, 0, slots, slotsStep))
  if (slotOf.length === 0) return null

  const nodesThen = numbered.map((cluster, v) =>
    cluster < 0 ? nodesHere[v] : nodeOfCluster[slotOf[cluster]],
  )
  const nodesAt = await destinationWords(exchange, peers, graph, nodesThen, movedStep)
  const before = partCosts(graph, graph.named.map(nodeOf), objective, parts)
  const after = partCosts(graph, nodesAt, objective, parts)
  const isBetter = await isLess(exchange, after, before)
  return isBetter ? { clusters, slotOf, firstOf } : null
}

/**
 * Chooses the number of vertices of a cluster, from the least size to below its double. It leaves fewest vertices
 * without a cluster; of equal sizes the smallest.
 */
async function clusterSize(
  exchange: Exchange,
  nodesHere: Int32Array,
  ranks: number,
  mostClusters: number,
): Promise<number> {
  const least = Math.ceil(ranks / Math.max(mostClusters, exchange.count))
  if (least === 1) return 1
  const sizes = Array.from({ length: Math.min(least, comparedSizes) }, (_, i) => least + i)
  const here = Float64Array.from(sizes, (size) => size * clusterCount(nodesHere, size))
  const all = await combineAll(exchange, here, sumOf, sizeStep)
  return sizes[all.indexOf(all.reduce((most, joined) => Math.max(most, joined)))]
}

/** Gathers the edges of all clusters at process 0; returns null elsewhere. */
async function gatherEdges(
  exchange: Exchange,
  { sources, destinations, weights }: ClusterEdges,
): Promise<ClusterEdges | null> {
  const packed = packBlocks([bytesOf(sources), bytesOf(destinations), bytesOf(weights)])
  const all = (await gatherBytes(exchange, 0, packed, edgesStep))?.map(unpackBlocks)
  if (all === undefined) return null
  const total = all.reduce((sum, [block]) => sum + block.byteLength / 4, 0)
  const joined = new Float64Array(total)
  let at = 0
  for (const [, , block] of all) {
    const part = new Float64Array(block.buffer, block.byteOffset, block.byteLength / 8)
    joined.set(part, at)
    at += part.length
  }
  return {
    sources: concatenateWords(all.map(([block]) => wordsOf(block))),
    destinations: concatenateWords(all.map(([, block]) => wordsOf(block))),
    weights: joined,
  }
}

/** Whether the first cost of the whole graph is less than the second. The same on all processes. */
async function isLess(exchange: Exchange, first: Float64Array, second: Float64Array): Promise<boolean> {
  const both = new Float64Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  const sums = await combineAll(exchange, both, sumOf, costsStep)
  return costOfParts(sums.subarray(0, first.length)) < costOfParts(sums.subarray(first.length))
}

const sumOf = (into: Float64Array, from: Float64Array) => into.map((value, i) => value + from[i])

/**
 * The processes that host the ends of this process's edges. Both ends of an edge know it, so all messages are expected.
 */
interface EdgePeers {
  /** For every other process that hosts sources of ranks here, the local indices of those ranks, ascending. */
  readonly told: ReadonlyMap<number, readonly number[]>
  /** For every other process that hosts destinations of ranks here, their places in the graph, ascending. */
  readonly heard: ReadonlyMap<number, readonly number[]>
}

/** @param processOf returns the process of a rank that the lists name */
function edgePeers(
  me: number,
  { hosted }: HostedLists,
  { named }: PartGraph,
  processOf: (rank: number) => number,
): EdgePeers {
  const told = new Map<number, number[]>()
  for (const [i, { sources }] of hosted.entries()) {
    const peers = new Set(Array.from(sources, processOf))
    peers.delete(me)
    for (const peer of peers) getOrAdd(told, peer, () => []).push(i)
  }
  const heard = new Map<number, number[]>()
  for (const [place, rank] of named.entries()) {
    const peer = processOf(rank)
    if (peer !== me) getOrAdd(heard, peer, () => []).push(place)
  }
  return { told, heard }
}

/**
 * Returns a word for every place of the graph. Each process sends those of its own ranks, 4 bytes each, in one message
 * to each process that hosts sources of these.
 *
 * @param words by local index
 */
async function destinationWords(
  exchange: Exchange,
  { told, heard }: EdgePeers,
  { named, own }: PartGraph,
  words: Int32Array,
  step: number,
): Promise<Int32Array> {
  for (const [peer, ranks] of told)
    exchange.send(peer, step, bytesOf(Int32Array.from(ranks, (i) => words[i])))
  const all = new Int32Array(named.length)
  for (const [i, place] of own.entries()) all[place] = words[i]
  for (const [peer, places] of heard) {
    const theirs = wordsOf(await exchange.receive(peer, step))
    for (const [i, place] of places.entries()) all[place] = theirs[i]
  }
  return all
}
