import { packWords, unpackWords } from '../base/packing.js'
import { largestOf, rangeAt } from '../base/search.js'
import type { Exchange } from '../calls/exchange.js'
import { allgatherBytes } from '../calls/exchange-patterns.js'
import type { CommState } from '../comm/comm-state.js'
import { hopsBetween } from '../machine/hops.js'
import type { Machine } from '../machine/machine.js'
import { type MappingBounds, mapInParts } from './distributed/map-in-parts.js'
import {
  type MovedContext,
  type MovedVertices,
  movedContext,
  moveVertices,
} from './distributed/move-vertices.js'
import type { OwnLists } from './distributed/own-lists.js'
import { nodeOfRank, type RankHosts } from './distributed/rank-hosts.js'
import { nodesInCommunicator, placementOf } from './execute/placement.js'
import { reorderWork } from './reorder.js'
import type { ReorderOptions } from './reorder-options.js'

/** Process 0 gathers at most 8 MiB, where there are fewer processes than clusters. */
const mappingBounds: MappingBounds = { clusters: 8_192, edges: 2 ** 19, degree: 64, work: reorderWork }

/** Of the exchange; an allgather takes up to 32. */
const nodesStep = 3_200

interface PartsToMove {
  readonly isWeighted: boolean
  readonly reorder: ReorderOptions
  /** Knows the ranks that the lists name, and all where nodes are those of the world's machine. */
  readonly hosts: RankHosts
  /** Numbers nodes for what is planned; undefined: it needs none, or those of processes. */
  readonly machine: Machine | undefined
}

/** Vertices in the places of a mapping, and what they need to plan there. */
export interface Moved extends MovedContext, MovedVertices {
  /** Node of every new rank on the machine of the options; null without one. */
  readonly nodeOf: Int32Array | null
}

/** Maps the graph, and brings its vertices to their places; null where that changes nothing. */
export async function movedRanks(
  state: CommState,
  exchange: Exchange,
  lists: OwnLists,
  { isWeighted, reorder, hosts, machine }: PartsToMove,
): Promise<Moved | null> {
  const { objective = 'pairs' } = reorder
  if (isOnOneNode(state, reorder.machine)) return null
  const ofNodes = reorder.machine ?? state.runtime.options.machine
  const parts = {
    ...{ objective, hosts, ranks: state.size },
    nodeOf: (rank: number) => nodeOfRank(state, hosts, reorder.machine, rank),
    nodes: ofNodes?.cores.length ?? largestOf(nodesOfProcesses(state)) + 1,
    distance: ofNodes === undefined ? apart : hopsBetween(ofNodes),
  }
  const mapped = await mapInParts(exchange, lists, parts, mappingBounds)
  if (mapped === null) return null
  const vertices = await moveVertices(exchange, lists, mapped, isWeighted)
  const nodeOf = machine === undefined ? null : await movedNodes(state, exchange, machine, vertices.vertexAt)
  return { ...vertices, nodeOf, ...(await movedContext(state, exchange, vertices.vertexAt)) }
}

/** The node of every new rank, on every process: 4 bytes a rank. */
async function movedNodes(
  { localRanks, size }: CommState,
  exchange: Exchange,
  machine: Machine,
  vertexAt: Int32Array,
): Promise<Int32Array> {
  const nodes = localRanks.map((rank) => rangeAt(machine.firstRank, rank))
  const nodeOf = new Int32Array(size)
  for (const bytes of await allgatherBytes(exchange, packWords([vertexAt, nodes]), nodesStep)) {
    const [vertices, theirs] = unpackWords(bytes)
    for (const [i, vertex] of vertices.entries()) nodeOf[vertex] = theirs[i]
  }
  return nodeOf
}

function isOnOneNode(state: CommState, machine: Machine | undefined): boolean {
  if (machine !== undefined)
    return rangeAt(machine.firstRank, 0) === rangeAt(machine.firstRank, state.size - 1)
  const nodes =
    state.runtime.options.machine === undefined
      ? nodesOfProcesses(state)
      : nodesInCommunicator(state, undefined, placementOf(state))
  return nodes.every((node) => node === nodes[0])
}

/** Node of every process of a communicator. */
function nodesOfProcesses({ processes: { processes, count }, runtime }: CommState): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => runtime.layout.nodeOfProcess[processes.at(index)])
}

const apart = (nodeA: number, nodeB: number) => (nodeA === nodeB ? 0 : 1)
