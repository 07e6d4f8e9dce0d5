import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import { concatenateWords, packBlocks, unpackBlocks } from '../../base/packing.js'
import { inversePermutation, rangeAt } from '../../base/search.js'
import { allgatherBytes, bcastBytes, type Exchange, gatherBytes } from '../../calls/exchange/exchange.js'
import { type CommState, madeIn } from '../../comm/comm-state.js'
import { subgroup } from '../../comm/split/process-group.js'
import { runSplit } from '../../comm/split/run-split.js'
import type { SplitPart } from '../../comm/split/split-call.js'
import { planSplit } from '../../comm/split/split-plan.js'
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
import type { AdjacentEdges } from './gather-lists.js'
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
interface MappedClusters {
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

/** The step of the exchange; distinct from those of the mapping and of the split. */
const listsStep = 3_100

/** The vertices of this process after a mapping. */
export interface MovedVertices {
  /** The vertex in the place of every rank of the parent here, by local index. */
  readonly vertexAt: Int32Array
  /** The lists of those vertices, ascending. */
  readonly lists: HostedLists
}

/**
 * Sends the lists of vertices to their new processes. The i-th vertex of a cluster takes the place of the i-th vertex
 * of another cluster. Each process that gets any receives one message: 12 bytes a vertex, 4 a neighbor, and 8 a weight.
 */
export async function moveVertices(
  exchange: Exchange,
  { localRanks, hosted }: HostedLists,
  { clusters, slotOf, firstOf }: MappedClusters,
  isWeighted: boolean,
): Promise<MovedVertices> {
  const { me } = exchange
  const { size, members } = clusters
  const first = firstOf[me]
  const end = firstOf[me + 1]
  const processOf = (cluster: number) => rangeAt(firstOf, cluster)
  const outgoing = new Map<number, number[]>()
  const incoming = new Map<number, number[]>()
  const takenBy = inversePermutation(slotOf)
  for (let cluster = first; cluster < end; cluster++) {
    getOrAdd(outgoing, processOf(slotOf[cluster]), () => []).push(cluster)
    getOrAdd(incoming, processOf(takenBy[cluster]), () => []).push(takenBy[cluster])
  }
  const packed = (moving: readonly number[]) =>
    packLists(
      moving.flatMap((cluster) =>
        Array.from(members.subarray((cluster - first) * size, (cluster - first + 1) * size), (v) => ({
          vertex: localRanks[v],
          edges: hosted[v],
        })),
      ),
    )
  for (const [peer, moving] of outgoing) if (peer !== me) exchange.send(peer, listsStep, packed(moving))
  const vertexAt = localRanks.slice()
  const edgesAt = [...hosted]
  for (const [peer, moving] of incoming) {
    const bytes = peer === me ? packed(outgoing.get(me)!) : await exchange.receive(peer, listsStep)
    const arrived = unpackLists(bytes, isWeighted)
    // Sender and receiver both list clusters ascending.
    for (const [n, cluster] of moving.sort((a, b) => a - b).entries())
      for (let i = 0; i < size; i++) {
        const at = members[(slotOf[cluster] - first) * size + i]
        const { vertex, edges } = arrived[n * size + i]
        vertexAt[at] = vertex
        edgesAt[at] = edges
      }
  }
  const order = Int32Array.from(vertexAt.keys()).sort((a, b) => vertexAt[a] - vertexAt[b])
  const lists = {
    localRanks: order.map((at) => vertexAt[at]),
    hosted: Array.from(order, (at) => edgesAt[at]),
  }
  return { vertexAt, lists }
}

interface VertexLists {
  readonly vertex: number
  readonly edges: AdjacentEdges
}

/**
 * Packs words, then all weights. The words of each vertex are its number, its numbers of sources and destinations, and
 * these lists.
 */
function packLists(rows: readonly VertexLists[]): Uint8Array {
  const words: number[] = []
  const weights: number[] = []
  for (const { vertex, edges } of rows) {
    const { sources, destinations, sourceWeights, destinationWeights } = edges
    words.push(vertex, sources.length, destinations.length)
    for (const list of [sources, destinations]) for (let e = 0; e < list.length; e++) words.push(list[e])
    for (const list of [sourceWeights, destinationWeights])
      for (let e = 0; e < (list?.length ?? 0); e++) weights.push(list![e])
  }
  return packBlocks([bytesOf(Int32Array.from(words)), bytesOf(Float64Array.from(weights))])
}

/** @param bytes at a multiple of 8 bytes in their buffer */
function unpackLists(bytes: Uint8Array, isWeighted: boolean): VertexLists[] {
  const [wordBlock, weightBlock] = unpackBlocks(bytes)
  const words = wordsOf(wordBlock)
  const weights = new Float64Array(weightBlock.buffer, weightBlock.byteOffset, weightBlock.byteLength / 8)
  const rows: VertexLists[] = []
  let weight = 0
  for (let at = 0; at < words.length; ) {
    const [vertex, sourceCount, destinationCount] = words.subarray(at, at + 3)
    const middle = at + 3 + sourceCount
    at = middle + destinationCount
    const lists = {
      sources: words.slice(middle - sourceCount, middle),
      destinations: words.slice(middle, at),
    }
    if (!isWeighted) {
      rows.push({ vertex, edges: lists })
      continue
    }
    const between = weight + sourceCount
    const sourceWeights = weights.slice(weight, between)
    weight = between + destinationCount
    rows.push({
      vertex,
      edges: { ...lists, sourceWeights, destinationWeights: weights.slice(between, weight) },
    })
  }
  return rows
}

/** A communicator whose ranks are vertices in the places of the parent's ranks, and the exchange of its processes. */
export interface MovedContext {
  readonly state: CommState
  /** The exchange of the parent, with processes numbered as in `state`. */
  readonly exchange: Exchange
}

/**
 * Creates a context with a distributed rank table. It is a split in which all ranks pass one color, and as key the
 * vertex that takes their place.
 */
export async function movedContext(
  parent: CommState,
  exchange: Exchange,
  vertexAt: Int32Array,
): Promise<MovedContext> {
  const plan = planSplit(parent.size, exchange.count, { table: 'distributed' })
  const request = { color: new Int32Array(vertexAt.length), key: vertexAt }
  let part: SplitPart | undefined
  let origin: CommState['origin']
  await runSplit(parent, exchange, request, plan, (outcome) => {
    part = outcome.parts[0]
    origin = outcome.origin
  })
  // A split that fails here throws. Otherwise the collective has failed and has told its ranks.
  if (part === undefined) throw new Error('the collective has failed')
  const state = parent.runtime.createContext(part.id, part.table, part.processes, parent.matchingDesigns)
  state.origin = origin
  state.made = madeIn(parent, exchange)
  const members = Int32Array.from({ length: exchange.count }, (_, process) =>
    parent.indexOfProcess(state.processes.processes.at(process)),
  )
  return { state, exchange: subgroup(exchange, members) }
}
