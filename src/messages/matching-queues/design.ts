import type { MatchingElement, MatchingKey } from './element.js'
import type { QueueCounts } from './source-counts.js'

/** The work and the contents of a design. All counts begin at 0. */
export interface MatchingCounters {
  /** The searches and peeks, successful or not. */
  readonly searches: number
  /** The entries that these have passed, the one that was found among them. */
  readonly traversals: number
  /** The lists by which a design tells sources apart, except one for receives from any source. */
  readonly queues: number
  /** The number of these that are for the messages of collectives only. */
  readonly collectiveQueues: number
  /** The levels of lists that were made one after the other while elements were inserted. */
  readonly levels: number
  /** The sources with a list that they do not share. */
  readonly partners: number
  /**
   * The most bytes at any time besides elements and their links: heads of lists, tables, holes. They are those of a
   * program in C with pointers of 8 bytes.
   */
  readonly overheadBytes: number
}

/**
 * A structure for one matching queue of one process: for its posted receives or for its unexpected messages.
 *
 * Whatever the structure, a search returns the element that was inserted first of all that match. MPI demands it:
 * messages do not overtake each other (MPI-4.1 §3.5).
 */
export interface MatchingDesign<E extends MatchingElement = MatchingElement> {
  /** The number of elements that are queued. */
  readonly size: number
  /** Returns the first element that matches, removed; undefined if none does. */
  search(key: MatchingKey): E | undefined
  /** Returns the first element that matches, left in the queue: for probes. It counts as a search. */
  peek(key: MatchingKey): E | undefined
  /**
   * Appends an element that is in no queue.
   *
   * @throws ERR_ARGUMENT for a receive from any source, if the facts exclude them
   */
  insert(element: E): void
  /** Removes an element that is in this queue: a receive that is cancelled. */
  remove(element: E): void
  counters(): MatchingCounters
}

/** The facts that designs know of their process. */
export interface ProcessFacts {
  /** The ranks of the world: sources are below. */
  readonly processes: number
  /** The ranks of a communicator by its context. Default: all. */
  readonly communicatorSizes?: ReadonlyMap<number, number>
  /**
   * Whether no receive names `ANY_SOURCE`, so that no search looks for one. Default: false.
   *
   * @see MPI-4.1 §7.4.4 (mpi_assert_no_any_source)
   */
  readonly noAnySource?: boolean
  /** The counts of an earlier run of the same process, for designs that start from it. */
  readonly counts?: QueueCounts
}

/** The entries passed, while a search is in progress and in all. */
export interface Traversals {
  traversals: number
}

/** The sizes of what {@link MatchingCounters.overheadBytes} counts. */
export const overheads = {
  pointerBytes: 8,
  /** The first and the last element. */
  listBytes: 16,
  /** A key and a value. */
  tableEntryBytes: 16,
} as const
