import { bytesOf, wordsOf } from '../../base/bytes.js'
import { getOrAdd } from '../../base/maps.js'
import { packBlocks, unpackBlocks } from '../../base/packing.js'
import { inversePermutation, rangeAt } from '../../base/search.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CommState } from '../../comm/comm-state.js'
import { madeIn } from '../../comm/comm-state.js'
import { subgroup } from '../../comm/split/process-group.js'
import { runSplit } from '../../comm/split/run-split.js'
import type { SplitPart } from '../../comm/split/split-call.js'
import { planSplit } from '../../comm/split/split-plan.js'
import type { AdjacentEdges } from './gather-lists.js'
import type { HostedLists } from './hosted-lists.js'
import type { MappedClusters } from './map-in-parts.js'

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
