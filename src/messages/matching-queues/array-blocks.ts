import {
  type MatchingCounters,
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  type MatchingQueue,
  noLevels,
  type Traversals,
} from './design.js'

/**
 * A list whose links join blocks of entries, so that a search reads keys that lie side by side. Receives from any
 * source are in it like all others, by their masks.
 *
 * @see Ghazimirsaeed 2019 chapter 6 (LLA, linked list of arrays; LLV, of vectors)
 */
export class ArrayBlocksDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly blocks: ArrayBlocks<E>
  readonly #passed: Traversals = { traversals: 0 }
  #searches = 0
  #inserted = 0
  /** The most places without an element at any time. */
  #mostUnused = 0

  constructor(layout: EntryBlockLayout) {
    this.blocks = new ArrayBlocks(layout)
  }

  get size(): number {
    return this.blocks.size
  }

  search(key: MatchingKey): E | undefined {
    const found = this.peek(key)
    if (found !== undefined) this.remove(found)
    return found
  }

  peek(key: MatchingKey): E | undefined {
    this.#searches++
    return this.blocks.find(key, this.#passed)
  }

  insert(element: E): void {
    element.order = this.#inserted++
    this.blocks.append(element)
    this.#noteUnused()
  }

  remove(element: E): void {
    this.blocks.remove(element)
    this.#noteUnused()
  }

  counters(): MatchingCounters {
    const overheadBytes = this.#mostUnused * entryBytes[this.blocks.layout.queue]
    const { traversals } = this.#passed
    return { ...noLevels, searches: this.#searches, traversals, queues: 1, overheadBytes }
  }

  #noteUnused(): void {
    const { blocks, size, layout } = this.blocks
    this.#mostUnused = Math.max(this.#mostUnused, blocks * layout.entries - size)
  }
}

/**
 * The bytes of an entry besides the reference to its element: context, traffic, source, tag, and for receives both
 * masks.
 */
const entryBytes: { readonly [Queue in MatchingQueue]: number } = { posted: 24, unexpected: 16 }

/** The bytes of a block's header: the next and the previous block, head and tail. */
const headerBytes = 16

/** Returns the entries of a block that fills a line of 64 bytes: 2 receives or 3 messages. */
export function entriesOfLine(queue: MatchingQueue): number {
  return Math.floor((64 - headerBytes) / entryBytes[queue])
}

export interface EntryBlockLayout {
  readonly queue: MatchingQueue
  readonly entries: number
  /** The number of entries that a search compares together; 1: each alone. Groups begin at multiples of it. */
  readonly group: number
  /** Whether a block has its entries one after the other, or an array for each field. */
  readonly fields: 'by-entry' | 'by-field'
}

const [nextWord, previousWord, headWord, tailWord] = [0, 1, 2, 3]
const headerWords = headerBytes / 4
/** The traffic of a place without an element: no key has it. */
const hole = -1
const none = -1

/**
 * Linked blocks of a few entries in one array of integers. Entries are appended behind the tail of the last block. An
 * entry that is removed leaves a hole; holes at either end of a block's entries are cut off. A block without entries
 * leaves the list, unless it is the only one.
 *
 * @see Ghazimirsaeed 2019 chapter 6 (hole markers, head and tail; figures 6.3 and 6.4)
 */
export class ArrayBlocks<E extends MatchingElement> {
  readonly layout: EntryBlockLayout
  readonly #blockWords: number
  /** The steps from a field of an entry to its next field, and to the same field of the next entry. */
  readonly #fieldStep: number
  readonly #entryStep: number
  #words = new Int32Array(0)
  #elements: (E | undefined)[] = []
  readonly #free: number[] = []
  #made = 0
  #first = none
  #last = none
  size = 0
  blocks = 0
  /** The number of places between head and tail of all blocks. */
  #spanned = 0

  constructor(layout: EntryBlockLayout) {
    this.layout = layout
    const fields = entryBytes[layout.queue] / 4
    this.#blockWords = headerWords + layout.entries * fields
    this.#fieldStep = layout.fields === 'by-entry' ? 1 : layout.entries
    this.#entryStep = layout.fields === 'by-entry' ? fields : 1
  }

  get blockBytes(): number {
    return this.#blockWords * 4
  }

  /** The number of places that removed entries have left between others. */
  get holes(): number {
    return this.#spanned - this.size
  }

  /** Yields head and tail of each block, and its elements in between: undefined in holes. For tests and pictures. */
  *spans(): Generator<{
    readonly head: number
    readonly tail: number
    readonly elements: (E | undefined)[]
  }> {
    const { entries } = this.layout
    for (let block = this.#first; block !== none; block = this.#header(block, nextWord)) {
      const [head, tail] = [this.#header(block, headWord), this.#header(block, tailWord)]
      yield { head, tail, elements: this.#elements.slice(block * entries + head, block * entries + tail) }
    }
  }

  append(element: E): void {
    const { entries, queue } = this.layout
    let block = this.#last
    if (block === none || this.#header(block, tailWord) === entries) block = this.#addBlock()
    const slot = this.#header(block, tailWord)
    this.#words[block * this.#blockWords + tailWord] = slot + 1
    const place = block * entries + slot
    this.#elements[place] = element
    element.slot = place
    element.listed = true
    const words = this.#words
    const step = this.#fieldStep
    const at = this.#trafficAt(block, slot)
    words[at] = element.traffic
    words[at + step] = element.context
    words[at + 2 * step] = element.source
    words[at + 3 * step] = element.tag
    if (queue === 'posted') {
      words[at + 4 * step] = element.sourceMask
      words[at + 5 * step] = element.tagMask
    }
    this.size++
    this.#spanned++
  }

  /** @param element in these blocks */
  remove(element: E): void {
    const { entries } = this.layout
    const block = Math.floor(element.slot / entries)
    const slot = element.slot % entries
    this.#words[this.#trafficAt(block, slot)] = hole
    this.#elements[element.slot] = undefined
    element.listed = false
    this.size--
    let [head, tail] = [this.#header(block, headWord), this.#header(block, tailWord)]
    const before = tail - head
    while (head < tail && this.#isHole(block, head)) head++
    while (tail > head && this.#isHole(block, tail - 1)) tail--
    this.#spanned += tail - head - before
    if (head < tail) this.#setSpan(block, head, tail)
    else if (this.blocks === 1) this.#setSpan(block, 0, 0)
    else this.#dropBlock(block)
  }

  /** Returns the first element that matches. Every place of a group that is compared counts, holes too. */
  find(key: MatchingKey, passed: Traversals): E | undefined {
    const { group, entries, queue } = this.layout
    const words = this.#words
    const blockWords = this.#blockWords
    const isByEntry = this.layout.fields === 'by-entry'
    const hasMasks = queue === 'posted'
    const isScanned = !hasMasks && !isByEntry
    let count = 0
    for (let block = this.#first; block !== none; block = words[block * blockWords + nextWord]) {
      const header = block * blockWords
      const tail = words[header + tailWord]
      const head = words[header + headWord]
      const from = group === 1 ? head : head - (head % group)
      const at = header + headerWords
      const slot = isByEntry
        ? hasMasks
          ? firstReceive(words, at, from, tail, key)
          : firstMessage(words, at, from, tail, key)
        : isScanned
          ? firstOfFields(words, at, from, tail, entries, key)
          : firstOfMaskedFields(words, at, from, tail, entries, key)
      if (slot < tail) {
        passed.traversals += count + (group === 1 ? slot - from + 1 : groupsOf(slot - from + 1, group))
        return this.#elements[block * entries + slot]
      }
      count += group === 1 ? tail - from : groupsOf(tail - from, group)
    }
    passed.traversals += count
    return undefined
  }

  #header(block: number, word: number): number {
    return this.#words[block * this.#blockWords + word]
  }

  #trafficAt(block: number, slot: number): number {
    return block * this.#blockWords + headerWords + slot * this.#entryStep
  }

  #isHole(block: number, slot: number): boolean {
    return this.#words[this.#trafficAt(block, slot)] === hole
  }

  #setSpan(block: number, head: number, tail: number): void {
    this.#words[block * this.#blockWords + headWord] = head
    this.#words[block * this.#blockWords + tailWord] = tail
  }

  #addBlock(): number {
    const block = this.#free.pop() ?? this.#makeBlock()
    const header = block * this.#blockWords
    this.#words[header + nextWord] = none
    this.#words[header + previousWord] = this.#last
    if (this.#last === none) this.#first = block
    else this.#words[this.#last * this.#blockWords + nextWord] = block
    this.#last = block
    this.blocks++
    return block
  }

  #makeBlock(): number {
    const block = this.#made++
    const end = this.#made * this.#blockWords
    if (end > this.#words.length) {
      const larger = new Int32Array(Math.max(end, 2 * this.#words.length))
      larger.set(this.#words)
      this.#words = larger
    }
    for (let slot = 0; slot < this.layout.entries; slot++) {
      this.#words[this.#trafficAt(block, slot)] = hole
      this.#elements.push(undefined)
    }
    return block
  }

  #dropBlock(block: number): void {
    const [next, previous] = [this.#header(block, nextWord), this.#header(block, previousWord)]
    if (previous === none) this.#first = next
    else this.#words[previous * this.#blockWords + nextWord] = next
    if (next === none) this.#last = previous
    else this.#words[next * this.#blockWords + previousWord] = previous
    this.#setSpan(block, 0, 0)
    this.#free.push(block)
    this.blocks--
  }
}

/** Returns the places of whole groups. */
function groupsOf(places: number, group: number): number {
  return Math.ceil(places / group) * group
}

// Each of these returns the first place of a block that matches, or its tail. They are loops over integers without
// calls, one for each layout. A hole, whose other fields are those of its last element, has no key's traffic.

function firstReceive(words: Int32Array, at: number, from: number, tail: number, key: MatchingKey): number {
  const { traffic, context, source, tag, sourceMask, tagMask } = key
  for (let slot = from, entry = at + 6 * from; slot < tail; slot++, entry += 6) {
    // Tags differ most often.
    if (((words[entry + 3] ^ tag) & tagMask & words[entry + 5]) !== 0) continue
    if (((words[entry + 2] ^ source) & sourceMask & words[entry + 4]) !== 0) continue
    if (words[entry] === traffic && words[entry + 1] === context) return slot
  }
  return tail
}

function firstMessage(words: Int32Array, at: number, from: number, tail: number, key: MatchingKey): number {
  const { traffic, context, source, tag, sourceMask, tagMask } = key
  for (let slot = from, entry = at + 4 * from; slot < tail; slot++, entry += 4) {
    if (((words[entry + 3] ^ tag) & tagMask) !== 0) continue
    if (((words[entry + 2] ^ source) & sourceMask) !== 0) continue
    if (words[entry] === traffic && words[entry + 1] === context) return slot
  }
  return tail
}

/** Searches messages by field: scans one array, and reads the others where it matches. */
function firstOfFields(
  words: Int32Array,
  at: number,
  from: number,
  tail: number,
  entries: number,
  key: MatchingKey,
): number {
  const { traffic, context, source, tag, sourceMask, tagMask } = key
  const [contexts, sources, tags] = [at + entries, at + 2 * entries, at + 3 * entries]
  const scanned = tagMask !== 0 ? tags : sourceMask !== 0 ? sources : at
  const value = tagMask !== 0 ? tag : sourceMask !== 0 ? source : traffic
  for (let slot = from; slot < tail; slot++) {
    if (words[scanned + slot] !== value) continue
    if (words[at + slot] !== traffic || words[contexts + slot] !== context) continue
    if (((words[sources + slot] ^ source) & sourceMask) !== 0) continue
    if (((words[tags + slot] ^ tag) & tagMask) === 0) return slot
  }
  return tail
}

function firstOfMaskedFields(
  words: Int32Array,
  at: number,
  from: number,
  tail: number,
  entries: number,
  key: MatchingKey,
): number {
  const { traffic, context, source, tag, sourceMask, tagMask } = key
  const [contexts, sources, tags] = [at + entries, at + 2 * entries, at + 3 * entries]
  const [sourceMasks, tagMasks] = [at + 4 * entries, at + 5 * entries]
  for (let slot = from; slot < tail; slot++) {
    if (((words[tags + slot] ^ tag) & tagMask & words[tagMasks + slot]) !== 0) continue
    if (((words[sources + slot] ^ source) & sourceMask & words[sourceMasks + slot]) !== 0) continue
    if (words[at + slot] === traffic && words[contexts + slot] === context) return slot
  }
  return tail
}
