import type { RankweaveError } from '../../errors.js'
import type { KnownLosses } from './failures.js'
import type { ContextId } from './frames.js'
import type { MailboxDesign } from './matching-options.js'
import type { ProcessPort } from './process-port.js'
import type { Transfers } from './transfers.js'

/**
 * The part of a rank table that messages need: it maps a rank to its world rank. The tables themselves are in `comm`.
 */
export type RankLookup = LocalLookup | DistributedLookup

interface LocalLookup {
  readonly kind: 'strided' | 'replicated'
  lookup(rank: number): number
}

/** A look-up whose rows are mostly on other processes: then the answer is a promise (decision 9). */
interface DistributedLookup {
  readonly kind: 'distributed'
  lookup(rank: number): number | Promise<number>
}

/** The maximal runs of consecutive ranks on one process. O(runs) memory, not O(ranks). */
export interface RankRuns {
  /** The first rank of every run, then the size. Length `runs + 1`. */
  readonly runStart: Int32Array
  /** The process index of every run. Length `runs`. */
  readonly runProcess: Int32Array
}

export interface WorldProcesses extends Iterable<number> {
  readonly count: number
  /** Returns the world process with an index below `count`. */
  at(index: number): number
  indexOf(process: number): number
  includes(process: number): boolean
}

/** The processes of a communicator and the ranks that each hosts; the runs throw unless the communicator is placed. */
export interface CommProcesses extends RankRuns {
  readonly count: number
  readonly processes: WorldProcesses
  /** Returns the rank after the run of consecutive ranks on one process that `rank` is in. */
  endOfRun(rank: number): number
}

export interface MadeBy {
  /** The call as text: `split()`, `range(0, 3)`. */
  readonly call: string
  readonly parent: ContextId
  /** The number of the collective on the parent; undefined for calls that are not collective. */
  readonly seq?: number
  /** The place ` at program.ts:3:9`, empty unless the world diagnoses. */
  readonly at: string
}

/**
 * Returns the origin of a communicator: `communicator 0.1 was made by split() #2 at program.ts:3:9 of communicator
 * 0.0`. The line stands beside its call, so that no reader takes it for that of another call of the message.
 */
export function madeBy({ id, label, made }: Pick<CommContext, 'id' | 'label' | 'made'>): string | undefined {
  if (made === undefined) return undefined
  const { call, parent, seq, at } = made
  const number = seq === undefined ? '' : ` #${seq}`
  const of = communicatorText({ id: parent })
  return `${communicatorText({ id, ...(label === undefined ? {} : { label }) })} was made by ${call}${number}${at} of ${of}`
}

/** Returns a communicator as messages name it: `the world`, or `communicator 0.1`, with its name if it has one. */
export function communicatorText({ id, label }: Pick<CommContext, 'id' | 'label'>): string {
  const name = label === undefined || label === '' ? '' : ` '${label}'`
  const isWorld = id.leader === 0 && id.counter === 0
  return `${isWorld ? 'the world' : `communicator ${id.leader}.${id.counter}`}${name}`
}

/** Returns `rank 1`, or `rank 1 (world rank 5)` if its number in the world differs. */
export function rankText(rank: number, worldRank: number | undefined): string {
  const world = worldRank === undefined || worldRank === rank ? '' : ` (world rank ${worldRank})`
  return `rank ${rank}${world}`
}

/** Returns the design requested for the mailbox of a rank here; undefined if nothing names one. */
export function matchingDesignOf(
  { matchingDesigns, runtime }: Pick<CommContext, 'matchingDesigns' | 'runtime'>,
  worldRank: number,
): MailboxDesign | undefined {
  return matchingDesigns?.get(worldRank) ?? runtime.options.matching?.design
}

export interface WatchedCall {
  readonly seq: number
  isWatched: boolean
  /** The notes of the watch; a later call of the same exchange reuses the object. */
  watched: unknown
}

export interface CallWatch {
  /** Notes a call that all ranks here have joined: in the order of the calls, the same on all processes. */
  begin(call: WatchedCall, name: string): void
  ended(call: WatchedCall): void
}

/** The handles of all ranks of a communicator here, ascending. */
export interface ListedHandles {
  /** The list that was passed, if it cannot change. */
  readonly frozen: unknown
  readonly handles: readonly unknown[]
}

/** A communicator in one process, as messages and collective calls see it. */
export interface CommContext {
  readonly id: ContextId
  /** The name that `setName` gave it; empty without. */
  readonly label?: string
  /** The call that made it, as {@link madeBy} shows it; undefined for the world. */
  readonly made?: MadeBy | undefined
  /** The handles of all ranks here, ascending, as they were listed last; dropped when one of them is freed. */
  listedHandles?: ListedHandles | undefined
  readonly freedHandles?: number
  readonly runtime: ProcessPort
  /**
   * The designs that ranks here have chosen for their mailboxes, by world rank, on this communicator or the one from
   * which it was made. Undefined if none has.
   */
  readonly matchingDesigns?: ReadonlyMap<number, MailboxDesign> | undefined
  /** Undefined unless the world learns from its calls; then it costs nothing. */
  readonly callWatch?: CallWatch | undefined
  /** The payload that follows its envelope when the receiver is ready. */
  readonly transfers: Transfers
  /** Its lost processes, as known here, and the ranks that have acknowledged them. */
  readonly losses: KnownLosses
  readonly size: number
  readonly table: RankLookup
  /** The world processes that host ranks of the communicator. */
  readonly processes: CommProcesses
  /** The index of this process in `processes`. */
  readonly processIndex: number
  /** The ranks of the communicator hosted here, ascending. A rank's position in it is its local index. */
  readonly localRanks: Int32Array
  /**
   * Whether it was made with a distributed table. The answer is the same in all its processes, also if it has been
   * placed since.
   */
  readonly wasDistributed: boolean
  /** Whether the location of every rank is known here: a precondition of collectives that gather or scatter by rank. */
  readonly isPlaced: boolean
  /** The reason the communicator can no longer be used: revoked, freed, or the world ended. */
  readonly failed: RankweaveError | undefined

  /** Returns the index in `processes` of a world process that hosts ranks of the communicator. */
  indexOfProcess(process: number): number
  /**
   * Returns the index in `processes` of the process that hosts a rank; a promise if its address has to be looked up.
   */
  processOfRank(rank: number): number | Promise<number>
  /**
   * Returns the process indices of many ranks, whose addresses take one message per slice of the table. They are not
   * retained.
   */
  processesOfRanks(ranks: Int32Array): Promise<Int32Array>
  /**
   * Looks up the addresses of these ranks with one message per slice of the table, and retains them (Sack 2011, section
   * 2.3.2). From then on `table.lookup` answers at once. Called before many messages to known partners.
   */
  prefetch(ranks: ArrayLike<number>): Promise<void>
  worldRank(localIndex: number): number
  /** Returns the hosted index (for the wait tracker) of the rank with this local index. */
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

/** A handle of one rank on a communicator, as the functions behind its methods see it. */
export interface RankHandle<S extends CommContext = CommContext> {
  readonly rank: number
  readonly size: number
  /** Returns the seat; throws once the communicator cannot be used. */
  seat(): Seat<S>
  /** Returns its place among the ranks of `state` here; -1 on another communicator. Throws once it has been freed. */
  placeIn(state: object): number
}
