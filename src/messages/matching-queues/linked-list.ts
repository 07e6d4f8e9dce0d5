import {
  Chain,
  type MatchingCounters,
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  overheads,
  type Traversals,
} from './design.js'

/**
 * A single list with all elements, as in MPICH and MVAPICH: insertion takes constant time, a search passes every
 * element before the one that matches. Every other design has to find what this one finds.
 *
 * @see Ghazimirsaeed 2019 chapter 2 (LL)
 */
export class LinkedListDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly #chain = new Chain<E>()
  readonly #passed: Traversals = { traversals: 0 }
  #searches = 0
  #inserted = 0

  get size(): number {
    return this.#chain.length
  }

  search(key: MatchingKey): E | undefined {
    const found = this.peek(key)
    if (found !== undefined) this.#chain.remove(found)
    return found
  }

  peek(key: MatchingKey): E | undefined {
    this.#searches++
    return this.#chain.find(key, this.#passed)
  }

  insert(element: E): void {
    element.order = this.#inserted++
    this.#chain.append(element)
  }

  remove(element: E): void {
    this.#chain.remove(element)
  }

  counters(): MatchingCounters {
    return {
      searches: this.#searches,
      traversals: this.#passed.traversals,
      queues: 1,
      collectiveQueues: 0,
      levels: 0,
      partners: 0,
      overheadBytes: overheads.listBytes,
    }
  }
}
