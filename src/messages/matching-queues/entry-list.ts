import type { Entry } from './entry.js'
import { EntryIndex } from './entry-index.js'
import type { MatchingList } from './matching-list.js'
import { ANY_SOURCE, ANY_TAG } from './wildcards.js'

/** The number of entries beyond which a search builds an index for those that follow. */
const indexBeyond = 24

/**
 * Entries in the order they were added. `find` returns the earliest that matches, in amortized constant time however
 * many are queued. The first entries are searched one by one, which finds entries that are taken in the order in which
 * they were added. Once a search has gone further, the list has an index by source and tag until it is empty.
 *
 * The index is lazy: removed entries stay in it until a search passes them. It is rebuilt when as many entries were
 * removed as are left, so the cost per entry stays constant.
 */
export class EntryList<E extends Entry> implements MatchingList<E> {
  readonly #holds: 'patterns' | 'messages'
  #first: Entry | undefined
  #last: Entry | undefined
  #size = 0
  #index: EntryIndex | undefined
  /** The number of entries that searches have compared, or put into an index, so far. */
  passed = 0

  /** @param holds `patterns`: posted receives, searched by messages; `messages`: the reverse */
  constructor(holds: 'patterns' | 'messages') {
    this.#holds = holds
  }

  get size(): number {
    return this.#size
  }

  /** The number of places of entries in the index; 0 while there is none. */
  get indexed(): number {
    return this.#index?.lined ?? 0
  }

  add(entry: E): void {
    entry.listed = true
    entry.previous = this.#last
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size++
    this.#index?.add(entry)
  }

  find(source: number, tag: number): E | undefined {
    if (this.#index !== undefined) return this.#findIndexed(this.#index, source, tag)
    let passed = 0
    for (let entry = this.#first; entry !== undefined; entry = entry.next, passed++) {
      if (passed === indexBeyond) {
        this.passed += passed
        this.#index = this.#newIndex()
        return this.#findInLines(this.#index, source, tag)
      }
      if (
        (entry.source === source || entry.source === ANY_SOURCE || source === ANY_SOURCE) &&
        (entry.tag === tag || entry.tag === ANY_TAG || tag === ANY_TAG)
      ) {
        this.passed += passed + 1
        return entry as E
      }
    }
    this.passed += passed
    return undefined
  }

  remove(entry: E): void {
    if (entry.previous === undefined) this.#first = entry.next
    else entry.previous.next = entry.next
    if (entry.next === undefined) this.#last = entry.previous
    else entry.next.previous = entry.previous
    entry.previous = entry.next = undefined
    entry.listed = false
    this.#size--
    const index = this.#index
    if (index === undefined) return
    index.remove(entry)
    if (this.#size === 0) this.#index = undefined
    else if (index.gone > this.#size + indexBeyond) this.#index = this.#newIndex()
  }

  /** Yields the entries in order. The current entry may be removed during the iteration. */
  *[Symbol.iterator](): Generator<E> {
    for (let entry = this.#first; entry !== undefined; ) {
      const next = entry.next
      yield entry as E
      entry = next
    }
  }

  /** Finds an entry by the index. Entries that are taken in the order in which they were added are found without it. */
  #findIndexed(index: EntryIndex, source: number, tag: number): E | undefined {
    const entry = this.#first!
    this.passed++
    if (
      (entry.source === source || entry.source === ANY_SOURCE || source === ANY_SOURCE) &&
      (entry.tag === tag || entry.tag === ANY_TAG || tag === ANY_TAG)
    )
      return entry as E
    return this.#findInLines(index, source, tag)
  }

  #findInLines(index: EntryIndex, source: number, tag: number): E | undefined {
    const { lined } = index
    const found = index.find(source, tag) as E | undefined
    this.passed += index.lined - lined + 1
    return found
  }

  #newIndex(): EntryIndex {
    const index = new EntryIndex(this.#holds)
    for (let entry = this.#first; entry !== undefined; entry = entry.next) index.add(entry)
    this.passed += index.lined
    return index
  }
}
