import {
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  type ProcessFacts,
  pointToPoint,
} from '../matching-queues/design.js'
import { makeMatchingDesign } from '../matching-queues/designs.js'
import type { Entry, MatchingList } from '../matching-queues/entry-list.js'
import type { MailboxDesign } from '../process/matching-options.js'
import { ANY_SOURCE, ANY_TAG } from './envelope.js'

/** An entry as its design has it: one object while the entry is queued. */
class ListedEntry<E extends Entry> implements MatchingElement {
  readonly entry: E
  readonly context = 0
  readonly traffic = pointToPoint
  readonly source: number
  readonly tag: number
  readonly sourceMask: number
  readonly tagMask: number
  readonly bytes = 0
  readonly call = -1
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined
  place: object | undefined = undefined
  slot = 0

  constructor(entry: E) {
    const { source, tag } = entry
    this.entry = entry
    this.source = source
    this.tag = tag
    this.sourceMask = source === ANY_SOURCE ? 0 : -1
    this.tagMask = tag === ANY_TAG ? 0 : -1
  }
}

/** The key by which a message or a receive is searched: one object for all searches of a list. */
class SearchKey implements MatchingKey {
  readonly context = 0
  readonly traffic = pointToPoint
  readonly bytes = 0
  readonly call = -1
  source = 0
  tag = 0
  sourceMask = -1
  tagMask = -1

  by(source: number, tag: number): this {
    this.source = source
    this.tag = tag
    this.sourceMask = source === ANY_SOURCE ? 0 : -1
    this.tagMask = tag === ANY_TAG ? 0 : -1
    return this
  }
}

/** A matching queue of a mailbox in any design. A map has its entries in order, for iterations over all of them. */
export class DesignList<E extends Entry> implements MatchingList<E> {
  readonly #design: MatchingDesign<ListedEntry<E>>
  readonly #listed = new Map<E, ListedEntry<E>>()
  readonly #key = new SearchKey()

  /** @param facts of the communicator: sources are below its size */
  constructor(name: MailboxDesign, holds: 'patterns' | 'messages', facts: ProcessFacts) {
    this.#design = makeMatchingDesign({ name }, holds === 'patterns' ? 'posted' : 'unexpected', facts)
  }

  get size(): number {
    return this.#listed.size
  }

  get passed(): number {
    return this.#design.counters().traversals
  }

  add(entry: E): void {
    const listed = new ListedEntry(entry)
    this.#listed.set(entry, listed)
    entry.listed = true
    this.#design.insert(listed)
  }

  find(source: number, tag: number): E | undefined {
    return this.#design.peek(this.#key.by(source, tag))?.entry
  }

  remove(entry: E): void {
    const listed = this.#listed.get(entry)!
    this.#listed.delete(entry)
    entry.listed = false
    this.#design.remove(listed)
  }

  [Symbol.iterator](): IterableIterator<E> {
    return this.#listed.keys()
  }
}
