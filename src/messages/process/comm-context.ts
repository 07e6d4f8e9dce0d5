import type { RankweaveError } from '../../errors.js'
import type { MailboxDesign } from '../matching-queues/mailbox-designs.js'
import type { ContextId } from './context-id.js'
import type { KnownLosses } from './known-losses.js'
import type { ProcessPort } from './process-port.js'
import type { Transfers } from './transfers.js'

/** What messages need of a rank table: rank -> world rank. The tables themselves are in `comm`. */
export type RankLookup = LocalLookup | DistributedLookup

interface LocalLookup {
  readonly kind: 'strided' | 'replicated'
  lookup(rank: number): number
}

/** Most rows are on other processes: then the answer is a promise (decision 9). */
interface DistributedLookup {
  readonly kind: 'distributed'
  lookup(rank: number): number | Promise<number>
}

/** The maximal runs of consecutive ranks on one process. O(runs) memory, not O(ranks). */
export interface RankRuns {
  /** First rank of every run, then the size. Length `runs + 1`. */
  readonly runStart: Int32Array
  /** Process index of every run. Length `runs`. */
  readonly runProcess: Int32Array
}

/** World processes by their index in a communicator. */
export interface WorldProcesses extends Iterable<number> {
  readonly count: number
  /** World process with an index below `count`. */
  at(index: number): number
  /** Index of a world process, or -1. */
  indexOf(process: number): number
  includes(process: number): boolean
}

/**
 * The processes of a communicator and the ranks that each hosts; the runs throw unless the communicator is
 * placed.
 */
export interface CommProcesses extends RankRuns {
  /** Number of processes that host at least one rank. */
  readonly count: number
  readonly processes: WorldProcesses
  /** Rank after the run of consecutive ranks on one process that `rank` is in. */
  endOfRun(rank: number): number
}

/** The call that made a communicator. */
export interface MadeBy {
  /** `split()`, `range(0, 3)`. */
  readonly call: string
  readonly parent: ContextId
  /** Number of the collective on the parent; undefined for calls that are not collective. */
  readonly seq?: number
  /** ` at program.ts:3:9`, empty unless the world diagnoses. */
  readonly at: string
}

/**
 * Where a communicator comes from: `communicator 0.1 was made by split() #2 at program.ts:3:9 of communicator 0.0`. The
 * line stands beside its call, so that no reader takes it for that of another call of the message.
 */
export function madeBy({ id, label, made }: Pick<CommContext, 'id' | 'label' | 'made'>): string | undefined {
  if (made === undefined) return undefined
  const { call, parent, seq, at } = made
  const number = seq === undefined ? '' : ` #${seq}`
  const of = communicatorText({ id: parent })
  return `${communicatorText({ id, ...(label === undefined ? {} : { label }) })} was made by ${call}${number}${at} of ${of}`
}

/** A communicator as messages and reports name it: `communicator 0.1`, with its name where it has one. */
export function communicatorText({ id, label }: Pick<CommContext, 'id' | 'label'>): string {
  const name = label === undefined || label === '' ? '' : ` '${label}'`
  return `communicator ${id.leader}.${id.counter}${name}`
}

/** `rank 1`, or `rank 1 (world rank 5)` where its number in the world is another one. */
export function rankText(rank: number, worldRank: number | undefined): string {
  const world = worldRank === undefined || worldRank === rank ? '' : ` (world rank ${worldRank})`
  return `rank ${rank}${world}`
}

/** The design that the mailbox of a rank here is to have; undefined where nothing names one. */
export function matchingDesignOf(
  { matchingDesigns, runtime }: Pick<CommContext, 'matchingDesigns' | 'runtime'>,
  worldRank: number,
): MailboxDesign | undefined {
  return matchingDesigns?.get(worldRank) ?? runtime.options.matching?.design
}

/** A collective call while it runs in one process. */
export interface WatchedCall {
  /** Number of the collective on its communicator. */
  readonly seq: number
  /** Whether a watch follows it. */
  isWatched: boolean
  /** What the watch notes of it; a later call of the same exchange uses it again. */
  watched: unknown
}

/** Follows the collective calls of one communicator in one process. */
export interface CallWatch {
  /** All ranks here have joined a call: in the order of the calls, the same on all processes. */
  begin(call: WatchedCall, name: string): void
  /** A call that is watched starts to run: what it chooses before it returns is for it. */
  start(call: WatchedCall): void
  /** It has returned: what is chosen from now on is for no call that is watched. */
  stop(): void
  /** A call that is watched is complete here. */
  ended(call: WatchedCall): void
}

/** One communicator in one process, as messages and collective calls see it. */
export interface CommContext {
  readonly id: ContextId
  /** What `setName` gave it; empty without. */
  readonly label?: string
  /** The call that made it, as {@link madeBy} shows it; undefined for the world. */
  readonly made?: MadeBy | undefined
  /** The handles of all ranks here, ascending, as they were listed last; dropped when one of them is freed. */
  listedHandles?: readonly unknown[] | undefined
  /** Handles of ranks here that have been freed. */
  readonly freedHandles?: number
  readonly runtime: ProcessPort
  /**
   * The designs that ranks here have chosen for their mailboxes, by world rank: of this communicator, or of the one from
   * which it was made. Undefined where none has.
   */
  readonly matchingDesigns?: ReadonlyMap<number, MailboxDesign> | undefined
  /** Undefined unless the world learns from its calls: then nothing is paid for it. */
  readonly callWatch?: CallWatch | undefined
  /** Payload that follows its envelope when the receiver is ready. */
  readonly transfers: Transfers
  /** Its lost processes, as known here, and who has acknowledged them. */
  readonly losses: KnownLosses
  /** Ranks of the communicator. */
  readonly size: number
  readonly table: RankLookup
  /** World processes that host ranks of the communicator. */
  readonly processes: CommProcesses
  /** Index of this process in `processes`. */
  readonly processIndex: number
  /** Ranks of the communicator hosted here, ascending; the position in it is the local index of a rank. */
  readonly localRanks: Int32Array
  /** Made with a distributed table; the same in all its processes, also where it has been placed since. */
  readonly wasDistributed: boolean
  /**
   * Whether the location of every rank is known here: a precondition of collectives that gather or scatter by
   * rank.
   */
  readonly isPlaced: boolean
  /** Why the communicator can no longer be used: revoked, freed, or the world ended. */
  readonly failed: RankweaveError | undefined

  /** Index in `processes` of a world process that hosts ranks of the communicator. */
  indexOfProcess(process: number): number
  /** Index in `processes` of the process that hosts a rank; a promise if its address has to be looked up. */
  processOfRank(rank: number): number | Promise<number>
  /**
   * The same of many ranks, whose addresses take one message per slice of the table; nothing of them is
   * retained.
   */
  processesOfRanks(ranks: Int32Array): Promise<Int32Array>
  /**
   * Looks up the addresses of these ranks with one message per slice of the table, and retains them (Sack
   * 2011, section 2.3.2): from then on `table.lookup` answers at once. Called before many messages to known
   * partners.
   */
  prefetch(ranks: ArrayLike<number>): Promise<void>
  /** World rank of the rank with this local index. */
  worldRank(localIndex: number): number
  /** Hosted index (for the wait tracker) of the rank with this local index. */
  hostedIndex(localIndex: number): number
  /** Fetches the whole table to this process unless it is here: O(size) memory, a message per slice, once. */
  place(): Promise<unknown>
  /** Fails every pending and later operation on the communicator, in this process only. */
  fail(error: RankweaveError): void
}

/** A rank and its position in the communicator state that the ranks of its process share. */
export interface Seat<S extends CommContext = CommContext> {
  readonly state: S
  readonly localIndex: number
  readonly rank: number
  readonly handle: RankHandle<S>
}

/** One rank's handle on a communicator, as the functions behind its methods see it. */
export interface RankHandle<S extends CommContext = CommContext> {
  readonly rank: number
  readonly size: number
  /** Throws once the communicator cannot be used. */
  seat(): Seat<S>
  /** Its place among the ranks of `state` here; -1 on another communicator. Throws once it has been freed. */
  placeIn(state: object): number
}
