import { medianOf } from '../../src/base/search.js'
import { QueueElement } from '../../src/messages/matching-queues/design.js'
import { LinkedListDesign } from '../../src/messages/matching-queues/linked-list.js'

/** What an entry takes that a search of the linked list passes, measured on this computer. */
export interface ListCost {
  /** Entries of the list before the first search. */
  readonly entries: number
  /** Nanoseconds per entry passed: the median of the runs, the least, and the most. */
  readonly medianNs: number
  readonly leastNs: number
  readonly mostNs: number
}

export const listLengths = [1024, 2048, 4096, 8192, 16_384] as const
const runs = 7
/** A run empties as many lists as pass about this many entries, so that a clock of microseconds suffices. */
const leastPassed = 16_000_000

/**
 * Empties lists of unexpected messages in reverse, so that every search passes all entries that are left.
 *
 * @param now milliseconds; only differences count
 * @see Ghazimirsaeed 2019 chapter 3 (reverse search)
 */
export function linkedListCosts(now: () => number): ListCost[] {
  return listLengths.map((entries) => {
    emptied(entries, now)
    const times = Array.from({ length: runs }, () => emptied(entries, now))
    return { entries, medianNs: medianOf(times), leastNs: Math.min(...times), mostNs: Math.max(...times) }
  })
}

/** Nanoseconds per entry passed. */
function emptied(entries: number, now: () => number): number {
  let passed = 0
  let spentMs = 0
  while (passed < leastPassed) {
    const list = new LinkedListDesign<QueueElement>()
    const fields = (tag: number) => ({ context: 0, source: 1, tag })
    for (let tag = 0; tag < entries; tag++) list.insert(new QueueElement(tag, fields(tag)))
    const receives = Array.from({ length: entries }, (_, tag) => new QueueElement(tag, fields(tag)))
    const begin = now()
    for (let tag = entries - 1; tag >= 0; tag--) list.search(receives[tag])
    spentMs += now() - begin
    passed += list.counters().traversals
  }
  return (1e6 * spentMs) / passed
}
