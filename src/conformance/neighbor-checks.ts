import type { Communicator } from '../handles/communicator.js'
import { simgridSlow } from '../machine/built-in-profiles.js'
import { cluster } from '../machine/machine.js'
import { PROC_NULL } from '../messages/mailboxes/envelope.js'
import { type AutoStrategy, formatAuto } from '../neighborhood/choose/auto.js'
import { formatStrategy, type Strategy } from '../neighborhood/strategies/strategies.js'
import { dimsCreate } from '../topology/generate/cartesian.js'
import { mooreTopology } from '../topology/generate/stencil.js'
import { pairEdges } from '../topology/neighbors.js'
import { planningLimits } from '../topology-communicator/arguments.js'
import type { TopologyOptions } from '../topology-communicator/create.js'
import { ranksOf } from './collective-oracles.js'
import { type Draw, drawn, same, shuffled } from './expect.js'
import { exchangeEdges, exchangeOnGrid } from './neighbor-exchange-checks.js'
import type { WorldCase } from './world-case.js'

/** The strategies of every kind; a new kind must have an entry here. */
const strategies: { readonly [K in Strategy['kind']]: readonly Extract<Strategy, { readonly kind: K }>[] } = {
  direct: [{ kind: 'direct' }],
  'common-neighbor': [
    { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
    { kind: 'common-neighbor', k: 3, mode: 'agnostic', theta: 1, dedupe: false, elide: false },
    { kind: 'common-neighbor', k: 4, mode: 'aware', theta: 0 },
  ],
  descending: [{ kind: 'descending', ks: [3, 2], mode: 'agnostic' }],
  cumulative: [{ kind: 'cumulative', k: 2, mode: 'agnostic' }],
  routed: [{ kind: 'routed' }, { kind: 'routed', radices: [3, 5, 7, 11], first: 'highest' }],
  hierarchical: [
    { kind: 'hierarchical' },
    { kind: 'hierarchical', first: 'inside' },
    { kind: 'hierarchical', digits: 'offset', order: 'highest' },
  ],
  lanes: [{ kind: 'lanes' }, { kind: 'lanes', lanes: 1 }, { kind: 'lanes', widths: [2, 1], own: 'spread' }],
  // The graphs of this kind are grids: onMoore and onGrid.
  cartesian: [{ kind: 'cartesian' }],
  pipelined: [{ kind: 'pipelined' }, { kind: 'pipelined', steps: [1, 2] }],
  allgather: [{ kind: 'allgather' }, { kind: 'allgather', radices: [3, 5, 7, 11], first: 'lowest' }],
}

const everyStrategy: readonly (Strategy | AutoStrategy)[] = [
  ...Object.values(strategies).flat(),
  { kind: 'auto', budget: 1 },
]

/** The edges of a rank, of a hundred possible ones. */
const densities = [0, 5, 60]

/** Returns the options for a communicator of some size; `auto` chooses for nodes of three cores. */
function optionsFor(strategy: Strategy | AutoStrategy, size: number): TopologyOptions {
  if (strategy.kind !== 'auto') return { strategy }
  const machine = cluster({ nodes: Math.ceil(size / 3), cores: 3, profile: simgridSlow })
  return { strategy, machine }
}

export const neighborChecks: readonly WorldCase[] = everyStrategy.map((strategy, n) => ({
  name: `neighbor collectives by ${strategy.kind === 'auto' ? formatAuto(strategy) : formatStrategy(strategy)}`,
  async check(world, { seed, rounds }) {
    for (let round = 0; round < rounds; round++) {
      const pick = drawn(seed, n, round)
      const keys = shuffled(ranksOf(world), pick)
      // Ranks are distributed over the processes at random.
      const comm = await world.split(0, keys[world.rank])
      if (strategy.kind === 'cartesian') await onMoore(comm, strategy)
      else await onMultigraph(comm, strategy, pick)
      await onGrid(comm, strategy)
      await comm.free()
    }
  },
}))

/**
 * Checks a graph with self loops, parallel edges and isolated ranks. A rank sends nothing, a little or much, so every
 * world has all of them. Ranks that plan from the graph and from their neighbors make the same plan.
 */
async function onMultigraph(
  comm: Communicator,
  strategy: Strategy | AutoStrategy,
  pick: Draw,
): Promise<void> {
  const { rank, size } = comm
  const edges: [number, number][] = []
  // A rank has no edges, if there are two or more.
  const isolated = size === 1 ? -1 : pick(size)
  for (let from = 0; from < size; from++) {
    const density = densities[pick(densities.length)]
    for (let to = 0; to < size; to++) {
      if (from === isolated || to === isolated) continue
      while (pick(100) < density) edges.push([from, to])
    }
  }
  shuffled(edges, pick)
  const received = [...edges.keys()].filter((edge) => edges[edge][1] === rank)
  const sent = [...edges.keys()].filter((edge) => edges[edge][0] === rank)
  const sources = received.map((edge) => edges[edge][0])
  const destinations = sent.map((edge) => edges[edge][1])
  const lists = { sources, destinations, ...optionsFor(strategy, size) }
  const graph = await comm.createDistGraphAdjacent({ ...lists, planFrom: 'graph' })
  same([...graph.sources], sources, 'sources')
  same([...graph.destinations], destinations, 'destinations')
  const plansFromNeighbors = strategy.kind !== 'auto' && Number.isFinite(planningLimits[strategy.kind])
  const twin = plansFromNeighbors
    ? await comm.createDistGraphAdjacent({ ...lists, planFrom: 'neighbors' })
    : await graph.dup()
  const [lines, twinLines] = await Promise.all([graph.planLines(0), twin.planLines(0)])
  same(twinLines?.join('\n'), lines?.join('\n'), 'the plan made from neighbors')
  // Two collectives are in flight, each in its own context.
  await Promise.all([exchangeEdges(graph, { sent, received }, 4), exchangeEdges(twin, { sent, received }, 6)])
  await Promise.all([graph.free(), twin.free()])
}

async function onGrid(comm: Communicator, strategy: Strategy | AutoStrategy): Promise<void> {
  const dims = dimsCreate(comm.size, 2)
  const grid = await comm.createCart([...dims], {
    periods: [true, false],
    ...optionsFor(strategy, comm.size),
  })
  if (grid === null) throw new Error('expected a place in a grid of all ranks, got null')
  const into = new Int32Array(grid.sources.length).fill(-1)
  const got = await grid.neighborAllgather(Int32Array.of(grid.rank), { into })
  // There is no neighbor beyond a border, and its block is not written.
  same(
    [...got],
    [...grid.sources].map((src) => (src === PROC_NULL ? -1 : src)),
    'neighbors on a grid',
  )
  await exchangeOnGrid(grid)
  await grid.free()
}

async function onMoore(comm: Communicator, strategy: Strategy | AutoStrategy): Promise<void> {
  const topology = mooreTopology({ dims: [...dimsCreate(comm.size, 2)], radius: 1, periodic: true })
  const graph = await comm.createTopology(topology, optionsFor(strategy, comm.size))
  // The number of an edge is its place among the destinations of all ranks.
  const { outStart, inStart } = topology
  const leaves = new Int32Array(topology.inRank.length)
  for (const [edge, place] of pairEdges(topology).entries()) leaves[place] = edge
  const sent = [...leaves.keys()].slice(outStart[comm.rank], outStart[comm.rank + 1])
  const received = [...leaves.subarray(inStart[comm.rank], inStart[comm.rank + 1])]
  await exchangeEdges(graph, { sent, received }, 8)
  await graph.free()
}
