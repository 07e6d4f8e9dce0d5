import { GrowingInt32Array } from '../../base/growing-array.js'
import { indexIn, rangeAt } from '../../base/search.js'
import type { CommState } from '../../comm/comm-state.js'
import type { Machine } from '../../machine/machine.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AdjacentEdges } from './gather-lists.js'

/** The ranks of a process, ascending, and what they passed, in the same order. */
export interface HostedLists {
  readonly localRanks: Int32Array
  readonly hosted: readonly AdjacentEdges[]
}

/**
 * Lists the ranks of a process, their neighbors and some others, ascending. Their places in the list become their
 * numbers.
 */
export function namedRanks(
  { localRanks, hosted }: HostedLists,
  others: Iterable<Int32Array> = [],
): Int32Array {
  const named = new GrowingInt32Array()
  named.append(localRanks)
  for (const { sources, destinations } of hosted) {
    named.append(Int32Array.from(sources))
    named.append(Int32Array.from(destinations))
  }
  for (const ranks of others) named.append(ranks)
  return distinct(named.toArray())
}

/** Returns the distinct ranks of a list except one, ascending. */
export function distinctBut(rank: number, list: ArrayLike<number>): Int32Array {
  return distinct(Int32Array.from(list).filter((other) => other !== rank))
}

function distinct(ranks: Int32Array): Int32Array {
  ranks.sort()
  let kept = 0
  for (const rank of ranks) if (kept === 0 || rank !== ranks[kept - 1]) ranks[kept++] = rank
  return ranks.slice(0, kept)
}

/** Builds the topology with the lists of a process's ranks only, in numbers; the lists of other ranks are empty. */
export function numberedTopology(rankOf: Int32Array, { localRanks, hosted }: HostedLists): ProcessTopology {
  const isWeighted = hosted.some(({ sourceWeights }) => sourceWeights !== undefined)
  const own = localRanks.map((rank) => indexIn(rankOf, rank))
  const rows = (list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    const start = new Int32Array(rankOf.length + 1)
    for (const [i, number] of own.entries()) start[number + 1] = list(hosted[i]).length
    for (let r = 0; r < rankOf.length; r++) start[r + 1] += start[r]
    return start
  }
  const numbers = (start: Int32Array, list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    const into = new Int32Array(start[rankOf.length])
    for (const [i, number] of own.entries()) {
      const ranks = list(hosted[i])
      for (let e = 0; e < ranks.length; e++) into[start[number] + e] = indexIn(rankOf, ranks[e])
    }
    return into
  }
  const weights = (start: Int32Array, list: (edges: AdjacentEdges) => ArrayLike<number>) => {
    if (!isWeighted) return null
    const into = new Float64Array(start[rankOf.length])
    for (const [i, number] of own.entries()) into.set(list(hosted[i]), start[number])
    return into
  }
  const outStart = rows(({ destinations }) => destinations)
  const inStart = rows(({ sources }) => sources)
  return {
    ranks: rankOf.length,
    outStart,
    outRank: numbers(outStart, ({ destinations }) => destinations),
    outWeight: weights(outStart, ({ destinationWeights }) => destinationWeights!),
    inStart,
    inRank: numbers(inStart, ({ sources }) => sources),
    inWeight: weights(inStart, ({ sourceWeights }) => sourceWeights!),
    pairing: 'occurrence',
    cart: null,
  }
}

/** The processes that host ranks, as far as this process knows: of all ranks, or of those that it has looked up. */
export interface RankHosts {
  /** Returns the process index; undefined for a rank that has not been looked up. */
  find(rank: number): number | undefined
  /** Looks up those of these ranks that are unknown, with one message per slice of the rank table. */
  learn(ranks: Int32Array): Promise<void>
  /** Records the process of a rank as another process has reported it; known ones stay. */
  believe(rank: number, process: number): void
}

/** The placement of ranks, queried for single ranks: no process needs it for all. */
export interface RankPlacement {
  /** The number of ranks of the communicator. */
  readonly ranks: number
  /** Returns the node of a rank that `hosts` knows. */
  nodeOf(rank: number): number
  /** Returns the node of every rank; with a distributed table the nodes are fetched. */
  nodesOfAll(): Promise<Int32Array>
  readonly hosts: RankHosts
}

/**
 * Returns the hosts of a communicator's ranks. With a distributed rank table they know only the ranks hosted here at
 * first, and do not fetch the table.
 */
export function rankHosts(state: CommState): RankHosts {
  return state.isPlaced ? new PlacedHosts(state) : new LookedUpHosts(state)
}

class PlacedHosts implements RankHosts {
  readonly #state: CommState

  constructor(state: CommState) {
    this.#state = state
  }

  find(rank: number): number {
    const { runStart, runProcess } = this.#state.processes
    return runProcess[rangeAt(runStart, rank)]
  }

  learn(): Promise<void> {
    return Promise.resolve()
  }

  believe(): void {}
}

class LookedUpHosts implements RankHosts {
  readonly #state: CommState
  readonly #found = new Map<number, number>()

  constructor(state: CommState) {
    this.#state = state
    for (const rank of state.localRanks) this.#found.set(rank, state.processIndex)
  }

  find(rank: number): number | undefined {
    return this.#found.get(rank)
  }

  async learn(ranks: Int32Array): Promise<void> {
    const missing = Int32Array.from(new Set(ranks.filter((rank) => !this.#found.has(rank))))
    if (missing.length === 0) return
    const processes = await this.#state.processesOfRanks(missing)
    for (const [i, rank] of missing.entries()) this.#found.set(rank, processes[i])
  }

  believe(rank: number, process: number): void {
    if (!this.#found.has(rank)) this.#found.set(rank, process)
  }
}

/**
 * Returns the node of one rank, as `nodesInCommunicator` has it for all. The state must be placed if nodes are those of
 * the world's machine.
 */
export function nodeOfRank(
  state: CommState,
  hosts: RankHosts,
  machine: Machine | undefined,
  rank: number,
): number {
  if (machine !== undefined) return rangeAt(machine.firstRank, rank)
  const { runtime } = state
  const ofWorld = runtime.options.machine
  if (ofWorld !== undefined) return rangeAt(ofWorld.firstRank, state.wholeTable.lookup(rank))
  return runtime.layout.nodeOfProcess[state.processes.processes.at(hosts.find(rank)!)]
}
