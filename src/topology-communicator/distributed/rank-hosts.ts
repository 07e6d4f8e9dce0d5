import { rangeAt } from '../../base/search.js'
import type { CommState } from '../../comm/comm-state.js'
import type { Machine } from '../../machine/machine.js'

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
