import { ArrayBlocks, type EntryBlockLayout, entryBytes } from './array-blocks.js'
import type { MatchingCounters, MatchingDesign, Traversals } from './design.js'
import type { MatchingElement, MatchingKey } from './element.js'
import { noLevels } from './routed-design.js'

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
