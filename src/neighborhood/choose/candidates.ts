import { equalNumbers } from '../../base/search.js'
import { inSlices, joinWork, type SharedWork } from '../../base/turn.js'
import { distinctIn, distinctOut, type NeighborSets, transposeTopology } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { windowsOf } from '../strategies/cartesian.js'
import { type Strategy, strategies, strategyKind } from '../strategies/strategies.js'
import type { Extents } from '../strategies/strategy-kind.js'
import type { ChosenOperation } from './auto.js'
import { type HopLoad, hubLoad, hubOf, routeLoad } from './estimate.js'

/** Lists the strategies to consider, simplest first: of several that take equally long, the first is chosen. */
export function candidatesOf(topology: ProcessTopology, nodeOf: Int32Array): Strategy[] {
  if (topology.ranks <= 1) return [{ kind: 'direct' }]
  const extents = extentsOf(topology, nodeOf)
  const candidates = Object.values(strategies)
    .toSorted((a, b) => a.place - b.place)
    .flatMap((kind): Strategy[] => kind.candidates(extents))
  // Friend groups come last, and those within nodes before others.
  const turnOf = (strategy: Strategy): number => (isGrouped(strategy) ? modes.indexOf(strategy.mode) : -1)
  return candidates.sort((a, b) => turnOf(a) - turnOf(b))
}

const modes = ['aware', 'agnostic']

/** Returns the numbers that the parameters of a topology's strategies have to cover. */
export function extentsOf(topology: ProcessTopology, nodeOf: Int32Array): Extents {
  const sizes = new Map<number, number>()
  for (const node of nodeOf) sizes.set(node, (sizes.get(node) ?? 0) + 1)
  const grid = windowsOf(topology)
  return {
    ranks: topology.ranks,
    nodes: sizes.size,
    largest: [...sizes.values()].reduce((most, size) => Math.max(most, size), 0),
    windows: grid === null ? [] : grid.dims.map((_, d) => grid.high[d] - grid.low[d] + 1),
  }
}

/** Returns strategies of the same kind that differ from one in a step, those that were faster most often first. */
export function similarTo(strategy: Strategy, extents: Extents): Strategy[] {
  return strategyKind(strategy).similar?.(strategy, extents) ?? []
}

/** A strategy that groups friends before its messages are known. */
type Grouped = Extract<Strategy, { readonly mode: unknown }>

export const isGrouped = (strategy: Strategy): strategy is Grouped => 'mode' in strategy

/**
 * Counts the pairs of ranks that a search for friends visits at least, once for each destination that they share. The
 * count measures the work of a grouping on any computer. Time: edges.
 *
 * @param destinations distinct
 * @param nodeOf friends share a node; null: any ranks may be friends
 */
export function friendPairs({ start, rank }: NeighborSets, nodeOf: Int32Array | null): number {
  const ranks = start.length - 1
  const sources = Int32Array.from({ length: ranks }, (_, source) => source)
  if (nodeOf !== null) sources.sort((a, b) => nodeOf[a] - nodeOf[b] || a - b)
  /** By destination, the number of its sources so far on the node that `seenOn` names. */
  const seen = new Int32Array(ranks)
  const seenOn = new Int32Array(ranks).fill(-1)
  let pairs = 0
  for (const source of sources) {
    const node = nodeOf === null ? 0 : nodeOf[source]
    for (let e = start[source]; e < start[source + 1]; e++) {
      const destination = rank[e]
      if (seenOn[destination] !== node) seen[destination] = 0
      seenOn[destination] = node
      pairs += seen[destination]++
    }
  }
  return pairs
}

/** A candidate and the load of its ranks, whatever the blocks and the costs of messages. */
export interface LoadedCandidate {
  readonly strategy: Strategy
  /** Its place among the candidates, simplest first. */
  readonly order: number
  /**
   * The load; of friend groups its least possible value, because finding their routes is as much work as planning them.
   */
  readonly load: readonly HopLoad[]
}

/** Returns the number of blocks that all ranks send together; a block counts once for every hop. */
export function movedBlocks(ranks: number, load: readonly HopLoad[]): number {
  return ranks * load.reduce((sum, { blocks }) => sum + blocks[0] + blocks[1], 0)
}

export interface CandidateLoads {
  /** The candidates, direct sends first. Of equivalent ones of a kind only the first is listed. */
  readonly candidates: readonly LoadedCandidate[]
  /** The number of all candidates, equivalent ones included. */
  readonly considered: number
  /** The work of a search for friends, on the same node and on any. */
  readonly friendPairs: Readonly<Record<'aware' | 'agnostic', number>>
}

interface LoadFacts {
  /** A text that is equal for topologies and operations with the same candidates. */
  readonly text: string
  readonly nodeOf: Int32Array
}

/** The number of loads retained per thread, about 1 MB each, the last used at the end. */
const mostRetained = 4
let retained: readonly { readonly facts: LoadFacts; readonly loads: CandidateLoads }[] = []

/**
 * Computes the loads of the candidates for a topology whose ranks are on these nodes. Candidates are followed once for
 * all lengths of blocks, in steps of a candidate each.
 */
export function* candidateLoads(
  topology: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation = 'neighbor-allgather',
): Generator<void, CandidateLoads> {
  const facts = factsOf(topology, nodeOf, operation)
  const known = retained.find((each) => areSame(each.facts, facts))
  const loads = known?.loads ?? (yield* followed(topology, nodeOf, operation))
  const used = known ?? { facts: { ...facts, nodeOf: nodeOf.slice() }, loads }
  retained = [...retained.filter((each) => !areSame(each.facts, facts)).slice(1 - mostRetained), used]
  return loads
}

/** Loads that are computed in slices. Logical processes of one thread need the same at the same time. */
const inFlight: SharedWork<LoadFacts, CandidateLoads>[] = []

/** Computes {@link candidateLoads} without holding the event loop for long. */
export function loadsInSlices(
  topology: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation,
): Promise<CandidateLoads> {
  const facts = factsOf(topology, nodeOf, operation)
  return joinWork(inFlight, facts, areSame, () => inSlices(candidateLoads(topology, nodeOf, operation)))
}

function* followed(
  graph: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation,
): Generator<void, CandidateLoads> {
  // Partial results take the ways of blocks of the reversed graph, backwards.
  const topology = operation === 'neighbor-reduce-any' ? transposeTopology(graph) : graph
  const isMerged = operation !== 'neighbor-alltoall'
  const destinations = distinctOut(topology)
  // Candidates share one object of facts, so that what several routes need to know of nodes is computed once.
  const facts = { topology, nodeOf }
  const hub = hubOf(distinctIn(topology))
  const extents = extentsOf(topology, nodeOf)
  const loadOf = (strategy: Strategy): readonly HopLoad[] => {
    const kind = strategyKind(strategy)
    const route = kind.route(strategy, facts)
    const most = kind.mostMessages?.(strategy, extents) ?? null
    const load = routeLoad(route, destinations, nodeOf, most, isMerged)
    if (hub === null) return load
    const busiest = hubLoad(route, hub, nodeOf)
    return load.map((mean, h) => ({ ...mean, busiest: busiest[h] }))
  }
  const degree = destinations.rank.length / topology.ranks
  const candidates: LoadedCandidate[] = []
  const known = new Set<string>()
  const all = candidatesOf(topology, nodeOf)
  for (const [order, strategy] of all.entries()) {
    const load = isGrouped(strategy) ? leastLoad(strategy, degree, isMerged) : loadOf(strategy)
    const done = isGrouped(strategy) ? String(order) : `${strategy.kind} ${JSON.stringify(load)}`
    if (!known.has(done)) candidates.push({ strategy, order, load })
    known.add(done)
    yield
  }
  return {
    candidates,
    considered: all.length,
    friendPairs: { aware: friendPairs(destinations, nodeOf), agnostic: friendPairs(destinations, null) },
  }
}

/**
 * Bounds the load of friend groups. A rank with m destinations sends at least its block to k - 1 friends, and m / k
 * combined messages. If every destination has its own block, friends get those that they serve.
 *
 * @param degree the mean number of destinations
 */
function leastLoad(strategy: Grouped, degree: number, isMerged: boolean): HopLoad[] {
  const k = strategyKind(strategy).friends!(strategy)
  return [
    { messages: [k - 1, 0], blocks: [isMerged ? k - 1 : degree * (1 - 1 / k), 0] },
    { messages: [degree / k, 0], blocks: [degree, 0] },
  ]
}

/** The hashes of topologies in use. */
const hashes = new WeakMap<ProcessTopology, string>()

function factsOf(topology: ProcessTopology, nodeOf: Int32Array, operation: ChosenOperation): LoadFacts {
  let hash = hashes.get(topology)
  if (hash === undefined) {
    const { cart } = topology
    const grid = cart === null ? '' : `${cart.dims.join('x')} ${cart.periods.join()}`
    hash = `${topologyHash(topology)} ${grid}`
    hashes.set(topology, hash)
  }
  return { text: `${operation} ${hash}`, nodeOf }
}

function areSame(a: LoadFacts, b: LoadFacts): boolean {
  return a.text === b.text && equalNumbers(a.nodeOf, b.nodeOf)
}
