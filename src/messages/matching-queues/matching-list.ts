import type { Entry } from './entry.js'

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
