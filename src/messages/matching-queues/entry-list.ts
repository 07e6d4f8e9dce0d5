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

/** The value of a field that is a wildcard: no source and no tag has it. */
const wild = -1
const none = -1

/**
 * An index of entries by source and tag, for each of four kinds of pattern: exact, of a source, of a tag, of any.
 * Posted receives are in the line of their pattern, and a message is searched in the lines of the four patterns that
 * accept it. Messages are in the lines of all kinds of which there was a receive, and a receive is searched in the line
 * of its pattern.
 *
 * An entry's order is its place here, counted from 0.
 */
class EntryIndex {
  readonly #holds: 'patterns' | 'messages'
  /** The entries by place; undefined if the entry has left. */
  readonly #entries: (Entry | undefined)[] = []
  #exact: KeyLines | undefined
  #ofSource: KeyLines | undefined
  #ofTag: KeyLines | undefined
  #ofAny: KeyLines | undefined
  lined = 0
  gone = 0

  constructor(holds: 'patterns' | 'messages') {
    this.#holds = holds
  }

  add(entry: Entry): void {
    const entries = this.#entries
    const place = entries.length
    entry.order = place
    entries.push(entry)
    if (this.#holds === 'patterns') this.#addPattern(entry, place)
    else this.#addMessage(entry, place)
  }

  /** @param entry in this index */
  remove(entry: Entry): void {
    this.#entries[entry.order] = undefined
    this.gone++
  }

  find(source: number, tag: number): Entry | undefined {
    const place = this.#holds === 'patterns' ? this.#findPattern(source, tag) : this.#findMessage(source, tag)
    return place === none ? undefined : this.#entries[place]
  }

  #addPattern({ source, tag }: Entry, place: number): void {
    if (source !== ANY_SOURCE && tag !== ANY_TAG) {
      this.#exact ??= this.#newLines()
      this.#line(this.#exact, source, tag, place)
    } else if (source !== ANY_SOURCE) {
      this.#ofSource ??= this.#newLines()
      this.#line(this.#ofSource, source, wild, place)
    } else if (tag !== ANY_TAG) {
      this.#ofTag ??= this.#newLines()
      this.#line(this.#ofTag, wild, tag, place)
    } else {
      this.#ofAny ??= this.#newLines()
      this.#line(this.#ofAny, wild, wild, place)
    }
  }

  #findPattern(source: number, tag: number): number {
    const entries = this.#entries
    let place = none
    if (this.#exact !== undefined) place = this.#exact.first(source, tag, entries)
    if (this.#ofSource !== undefined) place = earlier(place, this.#ofSource.first(source, wild, entries))
    if (this.#ofTag !== undefined) place = earlier(place, this.#ofTag.first(wild, tag, entries))
    if (this.#ofAny !== undefined) place = earlier(place, this.#ofAny.first(wild, wild, entries))
    return place
  }

  #addMessage({ source, tag }: Entry, place: number): void {
    if (this.#exact !== undefined) this.#line(this.#exact, source, tag, place)
    if (this.#ofSource !== undefined) this.#line(this.#ofSource, source, wild, place)
    if (this.#ofTag !== undefined) this.#line(this.#ofTag, wild, tag, place)
  }

  /** Finds a message. A receive of any message takes the first entry of the list and is not searched here. */
  #findMessage(source: number, tag: number): number {
    const entries = this.#entries
    if (source !== ANY_SOURCE) {
      if (tag === ANY_TAG) {
        this.#ofSource ??= this.#linesOfAll(1, 0)
        return this.#ofSource.first(source, wild, entries)
      }
      this.#exact ??= this.#linesOfAll(1, 1)
      return this.#exact.first(source, tag, entries)
    }
    this.#ofTag ??= this.#linesOfAll(0, 1)
    return this.#ofTag.first(wild, tag, entries)
  }

  #linesOfAll(bySource: 0 | 1, byTag: 0 | 1): KeyLines {
    const lines = this.#newLines()
    const entries = this.#entries
    for (let place = 0; place < entries.length; place++) {
      const entry = entries[place]
      if (entry === undefined) continue
      this.#line(lines, bySource === 1 ? entry.source : wild, byTag === 1 ? entry.tag : wild, place)
    }
    return lines
  }

  #line(lines: KeyLines, source: number, tag: number, place: number): void {
    this.lined++
    lines.push(source, tag, place)
  }

  #newLines(): KeyLines {
    return new KeyLines(this.#entries.length)
  }
}

function earlier(a: number, b: number): number {
  return a === none || (b !== none && b < a) ? b : a
}

const [sourceWord, tagWord, nextWord, firstWord, lastWord] = [0, 1, 2, 3, 4]
const nodeWords = 5

/**
 * Lines of places by two integers, first in, first out, in a hash table of integers: no object is made for a place. A
 * place whose entry is gone leaves its line when a search passes it.
 */
class KeyLines {
  // These are arrays of small integers: short lines took longer in typed arrays (docs/decisions/0088).
  /** The first node of each bucket; as many as there may be nodes. */
  #buckets: number[]
  /** The nodes: source and tag of each key, the next key in its bucket, and the first and last place of its line. */
  readonly #nodes: number[] = []
  /** The next place in its line, by place. */
  readonly #behind: number[] = []

  /** @param keys that are expected, at least 1 */
  constructor(keys: number) {
    this.#buckets = new Array<number>(2 ** (32 - Math.clz32(keys))).fill(none)
  }

  /** @param place after all that have been pushed before */
  push(source: number, tag: number, place: number): void {
    const behind = this.#behind
    // Other lines have the places before.
    while (behind.length <= place) behind.push(none)
    const found = this.#nodeOf(source, tag)
    const node = found === none ? this.#newNode(source, tag) : found
    const nodes = this.#nodes
    if (nodes[node + firstWord] === none) nodes[node + firstWord] = place
    else behind[nodes[node + lastWord]] = place
    nodes[node + lastWord] = place
  }

  /**
   * Returns the first place of a line whose entry is there; -1 without one.
   *
   * @param entries by place, undefined if they are gone
   */
  first(source: number, tag: number, entries: readonly unknown[]): number {
    const node = this.#nodeOf(source, tag)
    if (node === none) return none
    let place = this.#nodes[node + firstWord]
    if (place === none || entries[place] !== undefined) return place
    do place = this.#behind[place]
    while (place !== none && entries[place] === undefined)
    this.#nodes[node + firstWord] = place
    return place
  }

  #nodeOf(source: number, tag: number): number {
    const nodes = this.#nodes
    let node = this.#buckets[hashOf(source, tag) & (this.#buckets.length - 1)]
    while (node !== none && (nodes[node + tagWord] !== tag || nodes[node + sourceWord] !== source))
      node = nodes[node + nextWord]
    return node
  }

  #newNode(source: number, tag: number): number {
    const nodes = this.#nodes
    if (nodes.length === nodeWords * this.#buckets.length) this.#grow()
    const node = nodes.length
    nodes.push(source, tag, none, none, none)
    this.#chain(node)
    return node
  }

  /** Puts a node before those of its bucket. */
  #chain(node: number): void {
    const nodes = this.#nodes
    const bucket = hashOf(nodes[node + sourceWord], nodes[node + tagWord]) & (this.#buckets.length - 1)
    nodes[node + nextWord] = this.#buckets[bucket]
    this.#buckets[bucket] = node
  }

  #grow(): void {
    this.#buckets = new Array<number>(2 * this.#buckets.length).fill(none)
    for (let node = 0; node < this.#nodes.length; node += nodeWords) this.#chain(node)
  }
}

/** Hashes a key. The upper bits are folded into the lower ones, which choose the bucket. */
function hashOf(source: number, tag: number): number {
  const hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(tag, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}

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
