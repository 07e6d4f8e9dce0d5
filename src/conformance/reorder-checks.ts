import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { simgridSlow } from '../machine/built-in-profiles.js'
import { cluster, type Machine, nodeOf } from '../machine/machine.js'
import { parseMachine } from '../machine/machine-text.js'
import { hopsBetween } from '../machine/network.js'
import { torus } from '../machine/torus.js'
import { PROC_NULL } from '../messages/mailboxes/envelope.js'
import { cartTopology, dimsCreate } from '../topology/generate/cartesian.js'
import { mapTopology } from '../topology/mapping/map-topology.js'
import { placementCosts } from '../topology/mapping/placement-costs.js'
import { type MappingObjective, mappingObjectives } from '../topology/mapping/problem.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { topologyFromEdges, topologyFromLists } from '../topology/topology-builders.js'
import type { TopologyOptions } from '../topology-communicator/create.js'
import { type Draw, drawn, ranksOf, same, shuffled } from './collective-oracles.js'
import { exchangeEdges, exchangeOnGrid } from './neighbor-checks.js'
import type { WorldCase } from './world-case.js'

type Edge = readonly [from: number, to: number]

const machineFor = (ranks: number) => cluster({ nodes: Math.ceil(ranks / 3), cores: 3, profile: simgridSlow })

const strategies = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'aware', theta: 0 },
  { kind: 'lanes' },
  { kind: 'auto', budget: 1 },
] as const

/** A machine with far more cores than a world of a test has ranks; most nodes only pass messages on. */
const worldMachine = torus({ dims: [16, 16], cores: 3, profile: simgridSlow })

/**
 * The cases of communicators with a topology whose ranks are renumbered: as the mapping says, and with the same
 * results.
 */
const machineChecks: readonly WorldCase[] = mappingObjectives.map((objective, n) => ({
  name: `communicators reordered for ${objective}`,
  async check(world, { seed, rounds }) {
    for (let round = 0; round < rounds; round++) {
      const pick = drawn(seed, n, round)
      const keys = shuffled(ranksOf(world), pick)
      const comm = await world.split(0, keys[world.rank])
      const strategy = strategies[pick(strategies.length)]
      await onGraphs(comm, objective, { strategy }, pick)
      await onGrids(comm, objective, { strategy })
      await comm.free()
    }
  },
}))

/** The case of communicators that hold some ranks of the world, in another order, if the world has a machine. */
const worldMachineCheck: WorldCase = {
  name: 'communicators reordered on the machine of the world',
  settings: [{ machine: worldMachine }],
  async check(world, { seed, rounds }) {
    for (let round = 0; round < rounds; round++) {
      const pick = drawn(seed, 91, round)
      const colors = ranksOf(world).map(() => pick(2))
      const keys = shuffled(ranksOf(world), pick)
      const comm = await world.split(colors[world.rank], keys[world.rank])
      const places = await placesInWorld(world, comm)
      // Each communicator draws the same.
      for (const objective of ['pairs', 'hop-bytes'] as const) await onPlaces(comm, places, objective, pick)
      await comm.free()
    }
  },
}

export const reorderChecks: readonly WorldCase[] = [...machineChecks, worldMachineCheck]

/** The places of a communicator's ranks: the nodes that a reordering starts from, and how far apart they are. */
interface Places {
  readonly nodeOfSlot: Int32Array
  readonly distance?: (nodeA: number, nodeB: number) => number
}

/** Returns the places on the machine of the world; without a machine, the nodes of its processes. */
async function placesInWorld(world: Communicator, comm: Communicator): Promise<Places> {
  const { from, text } = world.describe().machine
  const worldRanks = await comm.allgather(Int32Array.of(world.rank))
  if (text === null) {
    same(from, 'nodes', 'where the machine is from')
    return { nodeOfSlot: await comm.allgather(Int32Array.of(world.location.node)) }
  }
  same(from, 'world', 'where the machine is from')
  // Only nodes count, and a profile of that name need not be known here.
  const machine = parseMachine(text.replace(/,profile=[^,]*/, ''))
  const nodes = nodeOf(machine, world.size)
  return { nodeOfSlot: worldRanks.map((rank) => nodes[rank]), distance: hopsBetween(machine) }
}

async function onPlaces(
  comm: Communicator,
  places: Places,
  objective: MappingObjective,
  pick: Draw,
): Promise<void> {
  const { size } = comm
  const edges = farEdges(size, pick)
  const received = (of: number) => [...edges.keys()].filter((edge) => edges[edge][1] === of)
  const sent = (of: number) => [...edges.keys()].filter((edge) => edges[edge][0] === of)
  const topology = topologyFromEdges(size, {
    sources: edges.map(([from]) => from),
    destinations: edges.map(([, to]) => to),
  })
  // The strategy is the one chosen on the machine, if the world has one with a profile, or one that knows nodes.
  const { from, text } = comm.describe().machine
  const strategy = text?.includes('profile=') && pick(2) === 0 ? strategies[3] : strategies[1]
  const options = { strategy, reorder: { objective } }
  const graph = await comm.createTopology(topology, options)
  await requirePlaces(comm, graph, topology, objective, places)
  same(graph.describe().machine.from, from, 'where the machine is from')
  await exchangeEdges(graph, { sent: sent(graph.rank), received: received(graph.rank) }, 4)
  // A machine of the options takes precedence.
  const machine = machineFor(size)
  const other = await comm.createTopology(topology, { ...options, machine })
  await requirePlaces(comm, other, topology, objective)
  same(other.describe().machine.from, 'options', 'where the machine is from')
  const grid = (await comm.createCart([...dimsCreate(size, 2)], options))!
  const row = await grid.sub([false, true])
  await exchangeOnGrid(row)
  await Promise.all([graph.free(), other.free(), row.free(), grid.free()])
}

/** Returns edges in which every rank is the partner of one that is far from it, and sends to a few others. */
function farEdges(size: number, pick: Draw): Edge[] {
  const half = size >> 1
  const partners = ranksUpTo(size).map((from): Edge => [from, (from + half) % size])
  const others = ranksUpTo(size).map((): Edge => [pick(size), pick(size)])
  return shuffled([...partners, ...others], pick)
}

const ranksUpTo = (size: number) => Array.from({ length: size }, (_, rank) => rank)

async function onGraphs(
  comm: Communicator,
  objective: MappingObjective,
  options: TopologyOptions,
  pick: Draw,
): Promise<void> {
  const { rank, size } = comm
  const edges = farEdges(size, pick)
  const received = (of: number) => [...edges.keys()].filter((edge) => edges[edge][1] === of)
  const sent = (of: number) => [...edges.keys()].filter((edge) => edges[edge][0] === of)
  const sources = received(rank).map((edge) => edges[edge][0])
  const destinations = sent(rank).map((edge) => edges[edge][1])
  const machine = machineFor(size)
  const reordering = { ...options, machine, reorder: { objective } }
  const topology = topologyFromEdges(size, {
    sources: edges.map(([from]) => from),
    destinations: edges.map(([, to]) => to),
  })
  const lists = await comm.createDistGraphAdjacent({ sources, destinations, ...reordering })
  const given = await comm.createTopology(topology, reordering)
  const spread = await comm.createDistGraph({
    ...{ sources: [rank], degrees: [destinations.length], destinations },
    ...reordering,
  })
  for (const graph of [lists, given, spread]) {
    await requirePlaces(comm, graph, topology, objective)
    // The other graph has the same edges in another order, and each rank passes its own.
    if (graph === spread) continue
    same(
      [...graph.destinations],
      sent(graph.rank).map((edge) => edges[edge][1]),
      'destinations',
    )
    await exchangeEdges(graph, { sent: sent(graph.rank), received: received(graph.rank) }, 4)
  }
  await fromNeighbors()
  await Promise.all([lists.free(), given.free(), spread.free()])

  /**
   * Checks planning from neighbors, when no process has the graph. The mapping differs then, and is no worse than none.
   */
  async function fromNeighbors(): Promise<void> {
    const strategy = options.strategy?.kind === 'auto' ? ({ kind: 'direct' } as const) : options.strategy!
    const inParts = { ...reordering, strategy, planFrom: 'neighbors' } as const
    const graph = await comm.createDistGraphAdjacent({ sources, destinations, ...inParts })
    await requireNoWorse(comm, graph, topology, objective)
    same(
      [...graph.sources],
      received(graph.rank).map((edge) => edges[edge][0]),
      'sources of a rank that planned from neighbors',
    )
    await exchangeEdges(graph, { sent: sent(graph.rank), received: received(graph.rank) }, 4)
    await graph.free()
  }
}

async function onGrids(
  comm: Communicator,
  objective: MappingObjective,
  options: TopologyOptions,
): Promise<void> {
  const { size } = comm
  // The grid has no place for the last rank, if there is more than one.
  const ranks = Math.max(1, size - 1)
  const dims = [...dimsCreate(ranks, 2)]
  const reordering = { ...options, machine: machineFor(size), reorder: { objective } }
  const periods = [true, false]
  const grid = await comm.createCart(dims, { periods, ...reordering })
  same(grid === null, comm.rank >= ranks, 'a place in the grid')
  if (grid === null) return
  await requirePlaces(comm, grid, cartTopology({ dims, periods }), objective)
  const got = await grid.neighborAllgather(Int32Array.of(grid.rank), {
    into: new Int32Array(grid.sources.length).fill(-1),
  })
  const expected = [...grid.sources].map((src) => (src === PROC_NULL ? -1 : src))
  same([...got], expected, 'neighbors on a reordered grid')
  await exchangeOnGrid(grid)
  const ring = await onRing(grid)
  await requirePlaces(grid, ring, ringOf(grid.size), objective)
  await Promise.all([grid.free(), ring.free()])

  async function onRing(parent: Communicator): Promise<TopologyCommunicator> {
    const { index, edges } = ringLists(parent.size)
    return (await parent.createGraph(index, edges, { ...reordering, machine: machineFor(size) }))!
  }
}

/** Returns index and edges of MPI_Graph_create: each rank has the ranks at half the way around. */
function ringLists(size: number) {
  const edges = ranksUpTo(size).flatMap((rank) => [
    (rank + (size >> 1)) % size,
    (rank + size - (size >> 1)) % size,
  ])
  return { index: ranksUpTo(size).map((rank) => 2 * (rank + 1)), edges }
}

function ringOf(size: number): ProcessTopology {
  const { index, edges } = ringLists(size)
  const start = [0, ...index]
  return topologyFromLists({ ranks: size, inStart: start, inRank: edges, outStart: start, outRank: edges })
}

/** Checks that rank v is where the mapping puts vertex v. */
async function requirePlaces(
  comm: Communicator,
  graph: TopologyCommunicator,
  topology: ProcessTopology,
  objective: MappingObjective,
  places: Places = placesOn(machineFor(comm.size), topology.ranks),
): Promise<void> {
  const { slotOf } = mapTopology(topology, { ...places, objective, mostWork: 1e7 })
  const slots = await graph.allgather(Int32Array.of(comm.rank))
  same([...slots], [...slotOf], 'the place of every rank')
}

const costNames = {
  pairs: 'pairs',
  edges: 'edges',
  'hop-bytes': 'hopBytes',
  'busiest-node': 'busiestNode',
} as const

/** Checks that every place has one vertex, and that the objective is not worse than with vertex v at place v. */
async function requireNoWorse(
  comm: Communicator,
  graph: TopologyCommunicator,
  topology: ProcessTopology,
  objective: MappingObjective,
): Promise<void> {
  const machine = machineFor(comm.size)
  const nodes = nodeOf(machine, comm.size)
  const places = await graph.allgather(Int32Array.of(comm.rank))
  same([...places].toSorted(ascending), ranksUpTo(comm.size), 'places')
  const costOf = (nodeOfVertex: Int32Array) =>
    placementCosts(topology, nodeOfVertex, hopsBetween(machine))[costNames[objective]]
  const [before, after] = [costOf(nodes), costOf(places.map((place) => nodes[place]))]
  same(after <= before, true, `${objective} of ${after}, from ${before}`)
}

const ascending = (a: number, b: number) => a - b

const placesOn = (machine: Machine, ranks: number): Places => ({
  nodeOfSlot: nodeOf(machine, ranks),
  distance: hopsBetween(machine),
})
