import type { RankweaveError } from '../errors.js'
import { CollectiveEngine } from './collective-engine.js'
import { headerWord } from './frames.js'
import { Matching } from './matching.js'
import { type LocalRankTable, type ProcessTable, processTable } from './rank-table.js'
import type { Runtime } from './runtime.js'

/** A communicator's name: world rank of its rank 0, and a counter of that rank's process. */
export interface ContextId {
  readonly leader: number
  readonly counter: number
}

/** The id as one number; exact because leaders are below 2^22 and counters below 2^31. */
export function contextKey(id: ContextId): number {
  return id.leader * 2 ** 31 + id.counter
}

/** Frames of kinds below this one belong to point-to-point matching. */
const firstCollectiveKind = 16

/**
 * What a process keeps for one communicator, shared by all its ranks here: table, matching, collectives. A
 * rank's `Communicator` is a small handle on it.
 */
export class CommState {
  readonly runtime: Runtime
  readonly id: ContextId
  readonly table: LocalRankTable
  readonly processes: ProcessTable
  /** Index of this process in `processes`. */
  readonly processIndex: number
  /** Ranks of this communicator hosted here, ascending; the position in it is the local index of a rank. */
  readonly localRanks: Int32Array
  readonly matching: Matching
  readonly collectives: CollectiveEngine
  #failed: RankweaveError | undefined

  constructor(runtime: Runtime, id: ContextId, table: LocalRankTable) {
    this.runtime = runtime
    this.id = id
    this.table = table
    this.processes = processTable(table, runtime.layout)
    this.processIndex = this.processes.processes.indexOf(runtime.process)
    this.localRanks = ranksOf(this.processes, this.processIndex)
    this.matching = new Matching(this)
    this.collectives = new CollectiveEngine(this)
  }

  get size(): number {
    return this.table.size
  }

  /** Why this communicator can no longer be used: revoked, freed, or the world ended. */
  get failed(): RankweaveError | undefined {
    return this.#failed ?? this.runtime.ended
  }

  /** Hosted index (for the wait tracker) of the rank with this local index. */
  hostedIndex(localIndex: number): number {
    return this.table.lookup(this.localRanks[localIndex]!) - this.runtime.firstRank
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (header[headerWord.kind]! < firstCollectiveKind) this.matching.frame(src, header, payload)
    else this.collectives.frame(src, header, payload)
  }

  /** Fails every pending and later operation on this communicator, in this process only. */
  fail(error: RankweaveError): void {
    this.#failed ??= error
    this.matching.fail(error)
    this.collectives.fail(error)
  }

  peerLost(peer: number, reason: string): void {
    if (!this.processes.processes.includes(peer)) return
    this.matching.peerLost(peer, reason)
    this.collectives.peerLost(peer, reason)
  }

  describeWaits(): string[] {
    return [...this.matching.describeWaits(), ...this.collectives.describeWaits()]
  }
}

function ranksOf(table: ProcessTable, processIndex: number): Int32Array {
  const { runStart, runProcess } = table
  let count = 0
  for (let run = 0; run < runProcess.length; run++) {
    if (runProcess[run] === processIndex) count += runStart[run + 1]! - runStart[run]!
  }
  const ranks = new Int32Array(count)
  let at = 0
  for (let run = 0; run < runProcess.length; run++) {
    if (runProcess[run] !== processIndex) continue
    for (let rank = runStart[run]!; rank < runStart[run + 1]!; rank++) ranks[at++] = rank
  }
  return ranks
}
