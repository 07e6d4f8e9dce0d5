/** A matching queue of a mailbox, whatever its design: entries in the order in which they were added. */
export interface MatchingList<E extends Entry> extends Iterable<E> {
  readonly size: number
  readonly passed: number
  add(entry: E): void
  /** Returns the earliest entry that matches, left in the list. */
  find(source: number, tag: number): E | undefined
  /** Removes an entry that is in the list; the current one of an iteration, too. */
  remove(entry: E): void
}

/** An entry of a matching queue: a posted receive (source and tag may be wildcards) or a message (both are exact). */
export interface Entry {
  readonly source: number
  readonly tag: number
  /** The place in the order of its list. These four belong to the list. */
  order: number
  listed: boolean
  previous: Entry | undefined
  next: Entry | undefined
}

/** The source of a receive from any rank. MPI-4.1 §3.2.4. */
export const ANY_SOURCE = -1

/** The tag of a receive of a message with any tag. MPI-4.1 §3.2.4. */
export const ANY_TAG = -1
