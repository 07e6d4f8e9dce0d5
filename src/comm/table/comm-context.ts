import type { RankweaveError } from '../../errors.js'
import type { ContextId } from '../../messages/process/context-id.js'
import type { KnownLosses } from '../../messages/process/known-losses.js'
import type { ProcessPort } from '../../messages/process/process-port.js'
import type { Transfers } from '../../messages/process/transfers.js'
import type { CommTable } from './comm-table.js'
import type { ProcessTable } from './process-table.js'
import type { LocalRankTable } from './rank-table.js'

/** One communicator in one process, as messages, collective calls and tables see it. */
export interface CommContext {
  readonly id: ContextId
  readonly runtime: ProcessPort
  /** Payload that follows its envelope when the receiver is ready. */
  readonly transfers: Transfers
  /** Its lost processes, as known here, and who has acknowledged them. */
  readonly losses: KnownLosses
  /** Ranks of the communicator. */
  readonly size: number
  readonly table: CommTable
  /** World processes that host ranks of the communicator. */
  readonly processes: ProcessTable
  /** Index of this process in `processes`. */
  readonly processIndex: number
  /** Ranks of the communicator hosted here, ascending; the position in it is the local index of a rank. */
  readonly localRanks: Int32Array
  /** Made with a distributed table; the same in all its processes, also where it has been placed since. */
  readonly wasDistributed: boolean
  /** Whether the location of every rank is known here: a precondition of collectives that gather or scatter by rank. */
  readonly isPlaced: boolean
  /** The whole table, of a communicator that is placed. */
  readonly wholeTable: LocalRankTable
  /** Why the communicator can no longer be used: revoked, freed, or the world ended. */
  readonly failed: RankweaveError | undefined

  /** Index in `processes` of a world process that hosts ranks of the communicator. */
  indexOfProcess(process: number): number
  /** Index in `processes` of the process that hosts a rank; a promise if its address has to be looked up. */
  processOfRank(rank: number): number | Promise<number>
  /** The same of many ranks, whose addresses take one message per slice of the table; nothing of them is retained. */
  processesOfRanks(ranks: Int32Array): Promise<Int32Array>
  /**
   * Looks up the addresses of these ranks with one message per slice of the table, and retains them (Sack 2011, section
   * 2.3.2): from then on `table.lookup` answers at once. Called before many messages to known partners.
   */
  prefetch(ranks: ArrayLike<number>): Promise<void>
  /** World rank of the rank with this local index. */
  worldRank(localIndex: number): number
  /** Hosted index (for the wait tracker) of the rank with this local index. */
  hostedIndex(localIndex: number): number
  /** Fetches the whole table to this process unless it is here: O(size) memory, a message per slice, once. */
  place(): Promise<LocalRankTable>
  /** Fails every pending and later operation on the communicator, in this process only. */
  fail(error: RankweaveError): void
}
