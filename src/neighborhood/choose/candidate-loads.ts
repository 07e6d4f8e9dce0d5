import { distinctIn, distinctOut, transposeTopology } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { strategyKind } from '../plan/strategies.js'
import type { Route } from '../strategies/route.js'
import { type Candidate, candidatesOf } from './candidates.js'
import type { ChosenOperation } from './chosen-operation.js'
import { friendPairs } from './friend-search.js'
import { inSlices } from './in-slices.js'
import { type HopLoad, hubLoad, hubOf, routeLoad } from './route-load.js'

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
