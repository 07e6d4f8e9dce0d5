import type { MatchingElement, MatchingKey } from './element.js'
import type { QueueCounts } from './source-counts.js'

/** What a design has done and what it holds. All counts begin at 0. */
export interface MatchingCounters {
  /** Searches and peeks, successful or not. */
  readonly searches: number
  /** Entries that these have passed, the one that was found among them. */
  readonly traversals: number
  /** Lists by which a design tells sources apart; without one for receives from any source. */
  readonly queues: number
  /** Of these, lists for the messages of collectives only. */
  readonly collectiveQueues: number
  /** Levels of lists that were made one after the other while elements were inserted. */
  readonly levels: number
  /** Sources with a list that they do not share. */
  readonly partners: number
  /**
   * Bytes besides elements and their links, the most at any time, as a program in C with pointers of 8 bytes
   * would need them: heads of lists, tables, holes.
   */
  readonly overheadBytes: number
}

/**
 * A structure for one matching queue of one process: for its posted receives or for its unexpected messages.
 *
 * Whatever the structure, of all elements that match a search returns the one that was inserted first. MPI
 * demands it: messages do not overtake each other (MPI-4.1 §3.5).
 */
export interface MatchingDesign<E extends MatchingElement = MatchingElement> {
  /** Elements that are queued. */
  readonly size: number
  /** The first element that matches, removed; undefined where none does. */
  search(key: MatchingKey): E | undefined
  /** The first element that matches, left in the queue: for probes. It counts as a search. */
  peek(key: MatchingKey): E | undefined
  /**
   * Appends an element that is in no queue.
   * @throws ERR_ARGUMENT for a receive from any source, where the facts exclude them
   */
  insert(element: E): void
  /** Removes an element that is in this queue: a receive that is cancelled. */
  remove(element: E): void
  counters(): MatchingCounters
}

/** What designs know of their process. */
export interface ProcessFacts {
  /** Ranks of the world: sources are below. */
  readonly processes: number
  /** Ranks of a communicator by its context. Default: all. */
  readonly communicatorSizes?: ReadonlyMap<number, number>
  /**
   * That no receive names `ANY_SOURCE`, so that no search looks for one. Default: false.
   * @see MPI-4.1 §7.4.4 (mpi_assert_no_any_source)
   */
  readonly noAnySource?: boolean
  /** What an earlier run of the same process has counted, for designs that start from it. */
  readonly counts?: QueueCounts
}

/** Entries passed, while a search is in progress and in all. */
export interface Traversals {
  traversals: number
}

/** Sizes of what {@link MatchingCounters.overheadBytes} counts. */
export const overheads = {
  pointerBytes: 8,
  /** The first and the last element. */
  listBytes: 16,
  /** A key and a value. */
  tableEntryBytes: 16,
} as const
