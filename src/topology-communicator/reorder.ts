import { bytesOf, wordsOf } from '../base/bytes.js'
import { largestOf, rangeAt } from '../base/search.js'
import { bcastBytes, type Exchange } from '../calls/exchange/exchange.js'
import type { CommState } from '../comm/comm-state.js'
import { type Machine, nodeOf } from '../machine/machine.js'
import { hopsBetween } from '../machine/network.js'
import { mapTopology } from '../topology/mapping/map-topology.js'
import { uniformDistance } from '../topology/mapping/placed-graph.js'
import { requireAmounts } from '../topology/mapping/weighted-graph.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import type { ReorderOptions } from './arguments.js'
import { type HostedLists, nodeOfRank, type RankHosts } from './distributed/hosted-lists.js'
import {
  type MappingBounds,
  type MovedContext,
  type MovedVertices,
  mapInParts,
  movedContext,
  moveVertices,
} from './distributed/map-in-parts.js'
import { nodesInCommunicator, placementOf } from './plan/neighborhood.js'

/** The visits of neighbors that refinement may spend, some 20 ns each: at most a tenth of the default of a mapping. */
const reorderWork = 1e7
const bcastStep = 2_000

/**
 * Returns the rank of the parent whose place every vertex takes, as process 0 maps them; null if that changes nothing.
 * All processes of the exchange call it.
 *
 * @param topology of the first ranks of the parent
 * @throws ERR_TOPOLOGY on all of them, for weights that the objective cannot add
 */
export async function reorderedSlots(
  state: CommState,
  exchange: Exchange,
  topology: ProcessTopology,
  { objective, machine }: ReorderOptions,
): Promise<Int32Array | null> {
  const { ranks } = topology
  const nodeOfSlot =
    machine === undefined
      ? nodesInCommunicator(state, undefined, placementOf(state)).subarray(0, ranks)
      : nodeOf(machine, ranks)
  const ofNodes = machine ?? state.runtime.options.machine
  // All processes know the nodes, so all return here or none does.
  if (nodeOfSlot.every((node) => node === nodeOfSlot[0])) return null
  requireAmounts(topology, objective ?? 'pairs')
  let slots: Uint8Array | null = null
  if (exchange.me === 0) {
    const { slotOf } = mapTopology(topology, {
      ...{ nodeOfSlot, mostWork: reorderWork },
      ...(objective === undefined ? {} : { objective }),
      ...(ofNodes === undefined ? {} : { distance: hopsBetween(ofNodes) }),
    })
    slots = bytesOf(slotOf.every((slot, v) => slot === v) ? new Int32Array(0) : slotOf)
  }
  const slotOf = wordsOf(await bcastBytes(exchange, 0, slots, bcastStep))
  return slotOf.length === 0 ? null : slotOf
}

/**
 * Process 0 gathers at most 8 MiB, if there are fewer processes than clusters. Few edges per vertex serve better than
 * clusters of several vertices, because clusters of unrelated vertices hide which vertices could be near.
 */
const mappingBounds: MappingBounds = { clusters: 2 ** 17, edges: 2 ** 19, degree: 64, work: reorderWork }

interface PartsToMove {
  readonly isWeighted: boolean
  readonly reorder: ReorderOptions
  /**
   * The hosts of ranks. They know the ranks that the lists name, and all ranks if nodes are those of the world's
   * machine.
   */
  readonly hosts: RankHosts
}

/** Vertices in the places of a mapping, and the communicator whose ranks they are. */
export interface Moved extends MovedContext, MovedVertices {}

/** Maps the graph, and moves its vertices to their places; returns null if that changes nothing. */
export async function movedRanks(
  state: CommState,
  exchange: Exchange,
  lists: HostedLists,
  { isWeighted, reorder, hosts }: PartsToMove,
): Promise<Moved | null> {
  const { objective = 'pairs' } = reorder
  if (isOnOneNode(state, reorder.machine)) return null
  const ofNodes = reorder.machine ?? state.runtime.options.machine
  const parts = {
    ...{ objective, hosts, ranks: state.size },
    nodeOf: (rank: number) => nodeOfRank(state, hosts, reorder.machine, rank),
    nodes: ofNodes?.cores.length ?? largestOf(nodesOfProcesses(state)) + 1,
    distance: ofNodes === undefined ? uniformDistance : hopsBetween(ofNodes),
  }
  const mapped = await mapInParts(exchange, lists, parts, mappingBounds)
  if (mapped === null) return null
  const vertices = await moveVertices(exchange, lists, mapped, isWeighted)
  return { ...vertices, ...(await movedContext(state, exchange, vertices.vertexAt)) }
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

function nodesOfProcesses({ processes: { processes, count }, runtime }: CommState): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => runtime.layout.nodeOfProcess[processes.at(index)])
}
