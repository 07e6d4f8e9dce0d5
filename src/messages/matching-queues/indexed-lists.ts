import {
  type MatchingCounters,
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  type MatchingQueue,
  noLevels,
  overheads,
} from './design.js'
import { EntryList } from './entry-list.js'

/**
 * The lists with an index of Rankweave's mailboxes, one for each communicator and kind of traffic. A search takes
 * amortized constant time, however long the queue is. Its traversals are the entries compared, and those put into an
 * index.
 */
export class IndexedListsDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly #holds: 'patterns' | 'messages'
  readonly #contexts = new Map<number, Map<number, EntryList<E>>>()
  #lists = 0
  #searches = 0
  #size = 0
  #mostBytes = 0

  constructor(queue: MatchingQueue) {
    this.#holds = queue === 'posted' ? 'patterns' : 'messages'
  }

  get size(): number {
    return this.#size
  }

  search(key: MatchingKey): E | undefined {
    const found = this.peek(key)
    if (found !== undefined) this.remove(found)
    return found
  }

  peek(key: MatchingKey): E | undefined {
    this.#searches++
    return this.#contexts.get(key.context)?.get(key.traffic)?.find(key.source, key.tag)
  }

  insert(element: E): void {
    this.#listOf(element).add(element)
    this.#size++
  }

  remove(element: E): void {
    const list = this.#listOf(element)
    // An index is largest just before an element leaves it.
    this.#mostBytes = Math.max(this.#mostBytes, bytesOfIndex(list))
    list.remove(element)
    this.#size--
  }

  counters(): MatchingCounters {
    let traversals = 0
    let bytes = 0
    for (const lists of this.#contexts.values())
      for (const list of lists.values()) {
        traversals += list.passed
        bytes = Math.max(bytes, bytesOfIndex(list))
      }
    return {
      ...noLevels,
      searches: this.#searches,
      traversals,
      queues: this.#lists,
      overheadBytes: this.#lists * overheads.listBytes + Math.max(this.#mostBytes, bytes),
    }
  }

  #listOf({ context, traffic }: MatchingKey): EntryList<E> {
    const found = this.#contexts.get(context)?.get(traffic)
    if (found !== undefined) return found
    const list = new EntryList<E>(this.#holds)
    const lists = this.#contexts.get(context) ?? new Map<number, EntryList<E>>()
    this.#contexts.set(context, lists.set(traffic, list))
    this.#lists++
    return list
  }
}

/** Counts a place in a table for each entry of the index, though several may share a line. */
function bytesOfIndex({ indexed }: { readonly indexed: number }): number {
  return indexed * overheads.tableEntryBytes
}
