import { laterTurn } from '../../base/turn.js'
import { distinctIn, distinctOut, type NeighborSets, transposeTopology } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { strategyKind } from '../strategies/strategies.js'
import type { Route } from '../strategies/strategy-kind.js'
import { type Candidate, candidatesOf } from './candidates.js'
import type { ChosenOperation } from './choice.js'
import { type HopLoad, hubLoad, hubOf, routeLoad } from './route-load.js'

/** Milliseconds that long work holds the event loop at a time, and as long as one of its steps takes. */
export const sliceMs = 10

/** Runs all steps now. */
export function atOnce<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Runs the steps in slices, between which the event loop runs. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await laterTurn()
  }
}

/**
 * Pairs of ranks that a search for friends goes through at least, counted once for each destination that they
 * share: how much work a grouping is, whatever the computer. Time: edges.
 *
 * @param destinations distinct
 * @param nodeOf friends share a node; null: any ranks may be friends
 */
export function friendPairs({ start, rank }: NeighborSets, nodeOf: Int32Array | null): number {
  const ranks = start.length - 1
  const sources = Int32Array.from({ length: ranks }, (_, source) => source)
  if (nodeOf !== null) sources.sort((a, b) => nodeOf[a] - nodeOf[b] || a - b)
  /** Sources so far on the node that `seenOn` names, by destination. */
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

/** A candidate and what its ranks do, whatever the blocks and what messages cost. */
export interface LoadedCandidate {
  readonly candidate: Candidate
  /** Its place among the candidates, simplest first. */
  readonly order: number
  readonly load: readonly HopLoad[]
}

export interface CandidateLoads {
  /** Direct sends first. Of those of a kind that do the same, the first alone. */
  readonly candidates: readonly LoadedCandidate[]
  /** All, those that do the same included. */
  readonly considered: number
  /** How much work a search for friends is, on the same node and on any. */
  readonly friendPairs: Readonly<Record<'aware' | 'agnostic', number>>
}

interface Retained {
  readonly facts: string
  readonly nodeOf: Int32Array
  readonly loads: CandidateLoads
}

/** Loads that are retained per thread, about 1 MB each: those used last at the end. */
export const mostRetained = 4
let retained: readonly Retained[] = []

/** Of topologies in use. */
const factsOf = new WeakMap<ProcessTopology, string>()

/**
 * The candidates for a topology whose ranks are on these nodes. They are followed once for all lengths of
 * blocks, in steps of a candidate each.
 */
export function* candidateLoads(
  topology: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation = 'neighbor-allgather',
): Generator<void, CandidateLoads> {
  const facts = cachedFacts(topology, operation)
  const isKnown = (each: Retained): boolean => each.facts === facts && sameNumbers(each.nodeOf, nodeOf)
  const known = retained.find(isKnown)
  const loads = known?.loads ?? (yield* followed(topology, nodeOf, operation))
  const used = known ?? { facts, nodeOf: nodeOf.slice(), loads }
  retained = [...retained.filter((each) => !isKnown(each)).slice(1 - mostRetained), used]
  return loads
}

/** Loads that are being found in slices: logical processes of one thread want the same at the same time. */
const inFlight: {
  readonly facts: string
  readonly nodeOf: Int32Array
  readonly done: Promise<CandidateLoads>
}[] = []

/** As {@link candidateLoads}, without holding the event loop for long. */
export async function loadsInSlices(
  topology: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation,
): Promise<CandidateLoads> {
  const facts = cachedFacts(topology, operation)
  const known = inFlight.find((each) => each.facts === facts && sameNumbers(each.nodeOf, nodeOf))
  if (known !== undefined) return known.done
  const begun = { facts, nodeOf, done: inSlices(candidateLoads(topology, nodeOf, operation)) }
  inFlight.push(begun)
  try {
    return await begun.done
  } finally {
    inFlight.splice(inFlight.indexOf(begun), 1)
  }
}

const direct: Candidate = { strategy: { kind: 'direct' }, mostPeers: null }

function* followed(
  graph: ProcessTopology,
  nodeOf: Int32Array,
  operation: ChosenOperation,
): Generator<void, CandidateLoads> {
  // Partial results go the ways of blocks of the reversed graph, backwards.
  const topology = operation === 'neighbor-reduce-any' ? transposeTopology(graph) : graph
  const isMerged = operation !== 'neighbor-alltoall'
  const destinations = distinctOut(topology)
  // One object for all: what several routes need to know of nodes is found once.
  const facts = { topology, nodeOf }
  const hub = hubOf(distinctIn(topology))
  const loadOf = (route: Route, mostPeers: readonly number[] | null): HopLoad[] => {
    const load = routeLoad(route, destinations, nodeOf, mostPeers, isMerged)
    if (hub === null) return load
    const busiest = hubLoad(route, hub, nodeOf)
    return load.map((mean, h) => ({ ...mean, busiest: busiest[h] }))
  }
  const candidates: LoadedCandidate[] = []
  const known = new Set<string>()
  const all = [direct, ...candidatesOf(topology, nodeOf, isMerged)]
  for (const [order, candidate] of all.entries()) {
    const { strategy, mostPeers, leastLoad } = candidate
    const kind = strategyKind(strategy)
    const load = leastLoad ?? loadOf(kind.route(strategy, facts), mostPeers)
    const done = leastLoad === undefined ? `${strategy.kind} ${JSON.stringify(load)}` : String(order)
    if (!known.has(done)) candidates.push({ candidate, order, load })
    known.add(done)
    yield
  }
  return {
    candidates,
    considered: all.length,
    friendPairs: { aware: friendPairs(destinations, nodeOf), agnostic: friendPairs(destinations, null) },
  }
}

/** Equal for topologies and operations with the same candidates. */
function cachedFacts(topology: ProcessTopology, operation: ChosenOperation): string {
  let facts = factsOf.get(topology)
  if (facts === undefined) {
    const { cart } = topology
    const grid = cart === null ? '' : `${cart.dims.join('x')} ${cart.periods.join()}`
    facts = `${topologyHash(topology)} ${grid}`
    factsOf.set(topology, facts)
  }
  return `${operation} ${facts}`
}

function sameNumbers(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
