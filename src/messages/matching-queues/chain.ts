import type { Traversals } from './design.js'
import { isMatch, type MatchingElement, type MatchingKey } from './element.js'

/** A doubly linked list of elements in the order in which they were appended. An element is in at most one. */
export class Chain<E extends MatchingElement> {
  #first: E | undefined
  #last: E | undefined
  length = 0

  append(element: E): void {
    element.place = this
    element.listed = true
    element.previous = this.#last
    if (this.#last === undefined) this.#first = element
    else this.#last.next = element
    this.#last = element
    this.length++
  }

  /** @param element in this chain */
  remove(element: E): void {
    if (element.previous === undefined) this.#first = element.next as E | undefined
    else element.previous.next = element.next
    if (element.next === undefined) this.#last = element.previous as E | undefined
    else element.next.previous = element.previous
    element.previous = element.next = element.place = undefined
    element.listed = false
    this.length--
  }

  /** Returns the first element that matches, left in the chain. O(length) */
  find(key: MatchingKey, passed: Traversals): E | undefined {
    let count = 0
    for (let element = this.#first; element !== undefined; element = element.next as E | undefined) {
      count++
      if (!isMatch(element, key)) continue
      passed.traversals += count
      return element
    }
    passed.traversals += count
    return undefined
  }

  *[Symbol.iterator](): Generator<E> {
    for (let element = this.#first; element !== undefined; element = element.next as E | undefined)
      yield element
  }
}

export function unchain<E extends MatchingElement>(element: E): void {
  const chain = element.place as Chain<E>
  chain.remove(element)
}
