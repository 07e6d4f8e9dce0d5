import type { Entry } from './entry.js'
import type { MatchingList } from './matching-list.js'
import { ANY_SOURCE, ANY_TAG } from './wildcards.js'

/** A search that passes more entries than these builds an index for those that follow. */
const indexBeyond = 24

/**
 * Entries in the order they were added. `find` returns the earliest that matches, in amortized constant time
 * however many are queued: the first entries are searched one by one, which finds what is taken in the order in
 * which it was added; a list in which one search has gone further has an index by source and tag until it is empty.
 *
 * The index is lazy: removed entries stay in it until a search passes them, and it is rebuilt when as many
 * entries were removed as are left, so the cost per entry stays constant.
 */
export class EntryList<E extends Entry> implements MatchingList<E> {
  readonly #holds: 'patterns' | 'messages'
  #first: Entry | undefined
  #last: Entry | undefined
  #size = 0
  #nextOrder = 0
  #index: Index | undefined
  #gone = 0
  /** Entries that searches have compared, or put into an index, so far. */
  passed = 0

  /** @param holds `patterns`: posted receives, searched by messages; `messages`: the reverse */
  constructor(holds: 'patterns' | 'messages') {
    this.#holds = holds
  }

  get size(): number {
    return this.#size
  }

  /** Entries of the index; 0 while there is none. */
  get indexed(): number {
    return this.#index === undefined ? 0 : (this.#size + this.#gone) * this.#index.linesPerEntry
  }

  add(entry: E): void {
    entry.order = this.#nextOrder++
    entry.listed = true
    entry.previous = this.#last
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size++
    this.#index?.add(entry)
  }

  /** The earliest entry that matches, left in the list. */
  find(source: number, tag: number): E | undefined {
    if (this.#index !== undefined) return this.#findIndexed(this.#index, source, tag)
    let passed = 0
    for (let entry = this.#first; entry !== undefined; entry = entry.next, passed++) {
      if (passed === indexBeyond) {
        this.passed += passed
        return this.#findIndexed(this.#reindex(), source, tag)
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

  /** Removes an entry that is in the list. */
  remove(entry: E): void {
    if (entry.previous === undefined) this.#first = entry.next
    else entry.previous.next = entry.next
    if (entry.next === undefined) this.#last = entry.previous
    else entry.next.previous = entry.previous
    entry.previous = entry.next = undefined
    entry.listed = false
    this.#size--
    if (this.#index === undefined) return
    if (this.#size === 0) this.#index = undefined
    else if (++this.#gone > this.#size + indexBeyond) this.#reindex()
  }

  /** In order. The current entry may be removed during the iteration. */
  *[Symbol.iterator](): Generator<E> {
    for (let entry = this.#first; entry !== undefined; ) {
      const next = entry.next
      yield entry as E
      entry = next
    }
  }

  #findIndexed(index: Index, source: number, tag: number): E | undefined {
    this.passed += index.linesPerSearch
    return index.find(source, tag) as E | undefined
  }

  #reindex(): Index {
    this.#gone = 0
    this.passed += this.#size
    const index = this.#holds === 'patterns' ? new PatternIndex() : new MessageIndex()
    for (let entry = this.#first; entry !== undefined; entry = entry.next) index.add(entry)
    this.#index = index
    return index
  }
}

interface Index {
  /** Lines in which an entry stands. */
  readonly linesPerEntry: number
  /** Lines whose first entries a search compares. */
  readonly linesPerSearch: number
  add(entry: Entry): void
  find(source: number, tag: number): Entry | undefined
}

/** First in, first out; entries that were removed from the list are skipped. */
class Line {
  readonly #entries: Entry[]
  #head = 0

  constructor(...entries: Entry[]) {
    this.#entries = entries
  }

  push(entry: Entry): void {
    this.#entries.push(entry)
  }

  first(): Entry | undefined {
    while (this.#head < this.#entries.length && !this.#entries[this.#head].listed) this.#head++
    return this.#entries[this.#head]
  }
}

/** By source or tag. An entry alone needs no line: where each has another tag, lines would take most memory. */
class Lines {
  readonly #lines = new Map<number, Line | Entry>()

  push(key: number, entry: Entry): void {
    const before = this.#lines.get(key)
    if (before instanceof Line) before.push(entry)
    else if (before?.listed !== true) this.#lines.set(key, entry)
    else this.#lines.set(key, new Line(before, entry))
  }

  first(key: number): Entry | undefined {
    const found = this.#lines.get(key)
    if (found instanceof Line) return found.first()
    return found?.listed === true ? found : undefined
  }
}

/** Exact: sources are below 2^22 and tags below 2^31. */
const keyOf = (source: number, tag: number) => source * 2 ** 31 + tag

/** Every receive under its own pattern; a message is searched under the four patterns that accept it. */
class PatternIndex implements Index {
  readonly linesPerEntry = 1
  readonly linesPerSearch = 4
  readonly #exact = new Lines()
  readonly #ofSource = new Lines()
  readonly #ofTag = new Lines()
  readonly #any = new Line()

  add(entry: Entry): void {
    const { source, tag } = entry
    if (source === ANY_SOURCE && tag === ANY_TAG) this.#any.push(entry)
    else if (tag === ANY_TAG) this.#ofSource.push(source, entry)
    else if (source === ANY_SOURCE) this.#ofTag.push(tag, entry)
    else this.#exact.push(keyOf(source, tag), entry)
  }

  find(source: number, tag: number): Entry | undefined {
    let first = this.#exact.first(keyOf(source, tag))
    first = earlier(first, this.#ofSource.first(source))
    first = earlier(first, this.#ofTag.first(tag))
    return earlier(first, this.#any.first())
  }
}

/** Every message under the four patterns that accept it; a receive is searched under its own pattern. */
class MessageIndex implements Index {
  readonly linesPerEntry = 4
  readonly linesPerSearch = 1
  readonly #exact = new Lines()
  readonly #ofSource = new Lines()
  readonly #ofTag = new Lines()
  readonly #any = new Line()

  add(entry: Entry): void {
    const { source, tag } = entry
    this.#exact.push(keyOf(source, tag), entry)
    this.#ofSource.push(source, entry)
    this.#ofTag.push(tag, entry)
    this.#any.push(entry)
  }

  find(source: number, tag: number): Entry | undefined {
    if (source === ANY_SOURCE) return tag === ANY_TAG ? this.#any.first() : this.#ofTag.first(tag)
    return tag === ANY_TAG ? this.#ofSource.first(source) : this.#exact.first(keyOf(source, tag))
  }
}

function earlier(a: Entry | undefined, b: Entry | undefined): Entry | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.order < b.order ? a : b
}
