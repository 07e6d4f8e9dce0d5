import { bytesOf, wordsOf } from '../base/bytes.js'
import { packWords, unpackWords } from '../base/packing.js'
import { largestOf, rangeAt } from '../base/search.js'
import { allgatherBytes, bcastBytes, type Exchange } from '../calls/exchange/exchange.js'
import type { CommState } from '../comm/comm-state.js'
import { isRankweaveError } from '../errors.js'
import { type Machine, nodeOf, nodeOf as nodesOfMachine } from '../machine/machine.js'
import { hopsBetween } from '../machine/network.js'
import { type AutoStrategy, isAuto } from '../neighborhood/choose/auto.js'
import { verifiedPlan } from '../neighborhood/plan/plan.js'
import { type PlanStore, storedPlan, storePlan } from '../neighborhood/plan/plan-store.js'
import { groupingOf, type Strategy } from '../neighborhood/strategies/strategies.js'
import { mapTopology } from '../topology/mapping/map-topology.js'
import { uniformDistance } from '../topology/mapping/placed-graph.js'
import { requireAmounts } from '../topology/mapping/weighted-graph.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { topologyFromLists } from '../topology/topology-builders.js'
import { limitOf, type PlanFrom, planFromOf, type ReorderOptions } from './arguments.js'
import { agreedPlan, compareEnds, findOneSidedEdge } from './distributed/agreed-plan.js'
import { planFromNeighbors } from './distributed/distributed-plan.js'
import { type AdjacentEdges, gatherAdjacent } from './distributed/gather-lists.js'
import {
  type HostedLists,
  namedRanks,
  nodeOfRank,
  type RankHosts,
  type RankPlacement,
  rankHosts,
} from './distributed/hosted-lists.js'
import {
  type MappingBounds,
  type MovedContext,
  type MovedVertices,
  mapInParts,
  movedContext,
  moveVertices,
} from './distributed/map-in-parts.js'
import {
  cachedTopology,
  Neighborhood,
  nodesInCommunicator,
  type PlacedPart,
  placementOf,
  type TopologyOrPlan,
} from './plan/neighborhood.js'

// The first creation of a process loads this module (`create.ts`), because many programs create no topology. It is what
// a creation needs once the ranks have agreed on its arguments, and what its communicators need.
export { cartTopology } from '../topology/generate/cartesian.js'
export { prepareEngine } from '../topology/grouping/exact-round.js'
export { topologyFromEdges } from '../topology/topology-builders.js'
export { gatherEdges } from './distributed/gather-lists.js'
export { cachedTopology, Neighborhood, topologyFromLists }

/** The step of the exchange, after those of moving; an allgather takes up to 32. */
const nodesStep = 3_200

/** The given description of a topology, and the purpose for which it is planned. */
interface Given {
  readonly isWeighted: boolean
  readonly strategy: Strategy | AutoStrategy
  readonly machine: Machine | undefined
  readonly planFrom: PlanFrom | undefined
  /** The renumbering; null if ranks keep their numbers. The caller renumbers the ranks of a gathered topology. */
  readonly reorder: ReorderOptions | null
}

/**
 * Gathers the whole topology, or plans from neighbors alone: as demanded, else by the size of the graph. Gathering
 * needs the whole rank table. Planning from neighbors needs the addresses of neighbors and friends of the ranks here,
 * and the whole table for nodes of the world's machine.
 */
export async function topologyOrPlan(
  state: CommState,
  exchange: Exchange,
  hosted: readonly AdjacentEdges[],
  given: Given,
): Promise<TopologyOrPlan> {
  const { isWeighted, strategy, reorder } = given
  // Direct sends need no nodes.
  const machine = isAuto(strategy) || strategy.kind === 'direct' ? undefined : given.machine
  const planFrom = given.planFrom ?? planFromOf(strategy, exchange.count)
  const lists = { localRanks: state.localRanks, hosted }
  if (planFrom !== 'graph') {
    const { agree, edges } = await compareEnds(exchange, lists)
    if (planFrom === 'neighbors' || edges > limitOf(strategy, reorder !== null)) {
      const needsNodes =
        (machine === undefined && groupingOf(strategy) !== undefined) ||
        (reorder !== null && reorder.machine === undefined)
      await placeOnMachineOfWorld(state, needsNodes)
      const hosts = rankHosts(state)
      await hosts.learn(namedRanks(lists))
      const error = agree ? null : await findOneSidedEdge(exchange, lists, (rank) => hosts.find(rank)!)
      if (error !== null) throw error
      const moved = reorder && (await movedRanks(state, exchange, lists, { isWeighted, reorder, hosts }))
      if (moved !== null) return planOfMoved(moved, state.localRanks, strategy, machine)
      const where = placementIn(state, hosts, given.machine)
      return planOfPart(exchange, lists, strategy, where)
    }
  }
  await state.place()
  const gathered = await gatherAdjacent(state, exchange, hosted, isWeighted)
  return { topology: cachedTopology(topologyFromLists(gathered)) }
}

async function planOfPart(
  exchange: Exchange,
  lists: HostedLists,
  strategy: Strategy | AutoStrategy,
  where: RankPlacement,
): Promise<PlacedPart> {
  const named = isAuto(strategy) ? ({ kind: 'direct' } as const) : strategy
  const plan = await planFromNeighbors(exchange, lists, named, where)
  return { plan, placement: plan.rankOf.map((rank) => where.hosts.find(rank)!) }
}

/**
 * Places the ranks if nodes are those of the world's machine. Only the whole rank table has the world rank of each
 * rank, and thus its core.
 */
async function placeOnMachineOfWorld(state: CommState, needsNodes: boolean): Promise<void> {
  if (needsNodes && state.runtime.options.machine !== undefined) await state.place()
}

function placementIn(state: CommState, hosts: RankHosts, machine: Machine | undefined): RankPlacement {
  const nodeOf = (rank: number) => nodeOfRank(state, hosts, machine, rank)
  const nodesOfAll = async () => {
    if (machine === undefined) await state.place()
    return machine === undefined
      ? nodesInCommunicator(state, machine, placementOf(state))
      : nodesOfMachine(machine, state.size)
  }
  return { ranks: state.size, nodeOf, nodesOfAll, hosts }
}

/**
 * @param slots the ranks of the parent whose places the vertices here took
 * @param machine numbers the nodes for the plan; undefined if it needs none, or those of processes
 * @throws the error of planning; the new communicator has not been used then
 */
async function planOfMoved(
  moved: Moved,
  slots: Int32Array,
  strategy: Strategy | AutoStrategy,
  machine: Machine | undefined,
): Promise<PlacedPart> {
  const { state, exchange, lists, vertexAt } = moved
  try {
    await placeOnMachineOfWorld(state, machine === undefined && groupingOf(strategy) !== undefined)
    const hosts = rankHosts(state)
    await hosts.learn(namedRanks(lists))
    const where =
      machine === undefined
        ? placementIn(state, hosts, undefined)
        : placementOn(await movedNodes(moved, slots, machine), hosts)
    const part = await planOfPart(exchange, lists, strategy, where)
    return { ...part, moved: { state, vertexAt } }
  } catch (error) {
    // Other processes may still have the plan when a process is lost, and their frames may still arrive.
    if (exchange.hasFailed && isRankweaveError(error)) {
      state.fail(error)
      for (let freed = 0; freed < state.localRanks.length; freed++) state.freeIfFailed()
    } else state.runtime.dropContext(state.id)
    throw error
  }
}

function placementOn(nodes: Int32Array, hosts: RankHosts): RankPlacement {
  return {
    ...{ ranks: nodes.length, hosts },
    nodeOf: (rank) => nodes[rank],
    nodesOfAll: () => Promise.resolve(nodes),
  }
}

/** Gathers the node of every vertex on the machine of the parent's ranks, on every process: 4 bytes a rank. */
async function movedNodes(
  { state, exchange, vertexAt }: Moved,
  slots: Int32Array,
  machine: Machine,
): Promise<Int32Array> {
  const nodesHere = slots.map((slot) => rangeAt(machine.firstRank, slot))
  const nodes = new Int32Array(state.size)
  for (const bytes of await allgatherBytes(exchange, packWords([vertexAt, nodesHere]), nodesStep)) {
    const [vertices, theirs] = unpackWords(bytes)
    for (const [i, vertex] of vertices.entries()) nodes[vertex] = theirs[i]
  }
  return nodes
}

/**
 * Plans when the communicator is created, by a stored plan if there is one; the plan is the same on all processes. All
 * processes of the exchange call it; `neighborhood` is null on those without ranks of the topology.
 *
 * @throws what {@link agreedPlan} throws, the same on all processes
 */
export async function planByStore(
  exchange: Exchange,
  neighborhood: Neighborhood | null,
  store: PlanStore,
): Promise<void> {
  if (neighborhood === null) {
    await agreedPlan(exchange, null, null)
    return
  }
  const { topology, strategy, nodes } = neighborhood
  const make = () => verifiedPlan(topology, strategy, { nodeOf: nodes })
  const first = async () =>
    neighborhood.planInMemory ?? (await storedPlan(store, topology, strategy, nodes, make)).plan
  const afresh = async () => {
    const made = make()
    await storePlan(store, topology, strategy, nodes, made)
    return made
  }
  neighborhood.adopt((await agreedPlan(exchange, first, afresh))!)
}

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
interface Moved extends MovedContext, MovedVertices {}

/** Maps the graph, and moves its vertices to their places; returns null if that changes nothing. */
async function movedRanks(
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
