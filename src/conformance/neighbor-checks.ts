import type { CartCommunicator } from '../handles/cart-communicator.js'
import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { simgridSlow } from '../machine/built-in-profiles.js'
import { cluster } from '../machine/machine.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import { createOperation } from '../messages/datatype/operation.js'
import { PROC_NULL } from '../messages/mailboxes/envelope.js'
import { type AutoStrategy, formatAuto } from '../neighborhood/choose/auto.js'
import {
  formatStrategy,
  parseStrategy,
  type Strategy,
  strategyKinds,
} from '../neighborhood/strategies/strategies.js'
import { dimsCreate } from '../topology/generate/cartesian.js'
import { mooreTopology } from '../topology/generate/stencil.js'
import { pairEdges } from '../topology/neighbors.js'
import { planningLimits } from '../topology-communicator/arguments.js'
import type { TopologyOptions } from '../topology-communicator/create.js'
import {
  checkCalls,
  checkPersistentStarts,
  checkStarts,
  type FormCase,
  type FormCases,
  type NamesWithForms,
} from './collective-forms.js'
import {
  concatenatedBlocks,
  type Draw,
  drawn,
  elements,
  lengthOf,
  ranksOf,
  same,
  shuffled,
} from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/** The edges of one rank, by numbers that both ends know, in the order of its lists. */
interface EdgesOfRank {
  readonly sent: readonly number[]
  readonly received: readonly number[]
}

/** Every neighborhood collective; one that is missing does not compile. */
type NeighborForms = Readonly<
  Record<Exclude<NamesWithForms<TopologyCommunicator>, NamesWithForms<Communicator>>, readonly FormCase[]>
>

const types = [BigInt64Array, Uint8Array, Float32Array] as const

/** Returns the elements that a rank passes, or that travel along an edge, in a round. */
type Passed = (from: number, round: number) => TypedArray

/**
 * Returns the cases of one rank of a graph on its own arrays.
 *
 * @param length elements of equal blocks; varying blocks have none, as many, or twice as many
 */
export function neighborForms(
  graph: TopologyCommunicator,
  { sent, received }: EdgesOfRank,
  slot: number,
  length: number,
): FormCases {
  const { rank } = graph
  const sources = [...graph.sources]
  const equal: Passed = (from, round) => elements(Float64Array, slot + round, from, 0, length)
  const varying: Passed = (from, round) => elements(Int16Array, slot + round, from, 1, lengthOf(from, length))
  const typed: Passed = (edge, round) => elements(types[edge % 3], slot + round, edge, 2, edge % 4)
  const reduced: Passed = (from, round) => elements(Int32Array, slot + round, from, 3, length)
  const joined = (passed: Passed, from: readonly number[], round: number) =>
    concatenatedBlocks(
      passed(from[0] ?? 0, 0).constructor as typeof Float64Array,
      from.map((each) => passed(each, round)),
    )
  const countsOf = (from: readonly number[]) => from.map((each) => lengthOf(each, length))
  const fills: ((round: number) => void)[] = []
  /** Returns an array that holds the elements to send in a round. */
  const sending = (passed: Passed, from: readonly number[]): TypedArray => {
    const array = joined(passed, from, 0)
    fills.push((round) => (array as Float64Array).set(joined(passed, from, round) as Float64Array))
    return array
  }
  /** Returns a case that fills an array with the received blocks. */
  const filling = (
    passed: Passed,
    from: readonly number[],
    call: readonly unknown[],
    counts?: readonly number[],
  ): FormCase => {
    const filled = joined(passed, from, 0)
    const form = {
      call,
      init: [...call, filled],
      filled,
      expected: (round: number) => joined(passed, from, round),
    }
    return counts === undefined ? form : { ...form, counts }
  }
  const typedData = sent.map((edge) => sending(typed, [edge]))
  const typedInto = received.map((edge) => typed(edge, 0))
  const terms = sending(reduced, [rank])
  const greatest = new Int32Array(length).fill(-1)
  const untouched = greatest.slice()
  const cases: NeighborForms = {
    neighborAllgather: [filling(equal, sources, [sending(equal, [rank])])],
    neighborAllgatherv: [filling(varying, sources, [sending(varying, [rank])], countsOf(sources))],
    neighborAlltoall: [filling(equal, received, [sending(equal, sent)])],
    neighborAlltoallv: [
      filling(varying, received, [sending(varying, sent), countsOf(sent)], countsOf(received)),
    ],
    neighborAlltoallw: [
      {
        call: [typedData],
        init: [typedData, typedInto],
        filled: typedInto,
        expected: (round) => received.map((edge) => typed(edge, round)),
      },
    ],
    neighborReduce: [
      {
        call: [terms, 'max'],
        init: [terms, greatest, 'max'],
        filled: greatest,
        ...(sources.length === 0
          ? { expected: () => null, holds: () => untouched }
          : {
              expected: (round) =>
                greatest.map((_, i) => greatestOf(sources, (src) => reduced(src, round)[i])),
            }),
      },
    ],
  }
  return {
    cases,
    fill(round) {
      for (const fill of fills) fill(round)
    },
  }
}

const greatestOf = (ranks: readonly number[], of: (rank: number) => number | bigint) =>
  ranks.map((rank) => Number(of(rank))).reduce((a, b) => Math.max(a, b))

/** Composes affine maps modulo a prime from left to right: associative, not commutative. */
const compose = createOperation<Int32Array>(
  (left, right) => {
    for (let i = 0; i + 1 < left.length; i += 2) {
      left[i + 1] = (left[i + 1] * right[i] + right[i + 1]) % 1009
      left[i] = (left[i] * right[i]) % 1009
    }
    return left
  },
  { name: 'compose' },
)

export async function exchangeEdges(
  graph: TopologyCommunicator,
  edges: EdgesOfRank,
  slot: number,
): Promise<void> {
  for (const length of [0, 40]) {
    const forms = neighborForms(graph, edges, slot, length)
    await checkCalls(graph, forms)
    await checkStarts(graph, forms)
    await checkPersistentStarts(graph, forms, 2)
  }
  await reduce(graph, slot)
}

async function reduce(graph: TopologyCommunicator, slot: number): Promise<void> {
  const sources = [...graph.sources]
  const mapOf = (rank: number): Int32Array => Int32Array.of(rank + 2 + slot, 5 * rank + 1, rank % 7, 3)
  const mine = mapOf(graph.rank)
  const expectedOf = (combine: (left: Int32Array, right: Int32Array) => Int32Array) =>
    sources.length === 0 ? null : sources.map(mapOf).reduce(combine)
  const sum = expectedOf((left, right) => left.map((value, i) => value + right[i]))
  same(await graph.neighborReduce(mine, 'sum'), sum, 'sum of a neighborReduce')
  const composed = expectedOf((left, right) => compose.combine(left, right) as Int32Array)
  same(await graph.neighborReduce(mine, compose), composed, 'neighborReduce in list order')
}

/** Checks that block s arrives as block s ^ 1, and that none arrives from beyond a border. */
export async function exchangeOnGrid(grid: CartCommunicator): Promise<void> {
  const slots = grid.sources.length
  const data = Int32Array.from({ length: slots }, (_, slot) => grid.rank * slots + slot)
  const got = await grid.neighborAlltoall(data, { into: new Int32Array(slots).fill(-1) })
  const expected = [...grid.sources].map((src, slot) => (src === PROC_NULL ? -1 : src * slots + (slot ^ 1)))
  same([...got], expected, 'neighborAlltoall on a grid')
}

/** The options of each kind that are checked. A kind without an entry is checked with its defaults. */
const cases: { readonly [K in Strategy['kind']]?: readonly Extract<Strategy, { readonly kind: K }>[] } = {
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
  pipelined: [{ kind: 'pipelined' }, { kind: 'pipelined', steps: [1, 2] }],
  allgather: [{ kind: 'allgather' }, { kind: 'allgather', radices: [3, 5, 7, 11], first: 'lowest' }],
}

const everyStrategy: readonly (Strategy | AutoStrategy)[] = [
  ...strategyKinds.flatMap((kind): readonly Strategy[] => cases[kind] ?? [parseStrategy(kind)]),
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
      // The graphs of this kind are grids.
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
