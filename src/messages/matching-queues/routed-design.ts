import { wrongValue } from '../../errors.js'
import { Chain, unchain } from './chain.js'
import type { MatchingCounters, MatchingDesign, ProcessFacts, Traversals } from './design.js'
import { earlierOf, type MatchingElement, type MatchingKey } from './element.js'

/** The counters that depend on how elements are distributed over chains. */
export type RoutingCounters = Pick<
  MatchingCounters,
  'queues' | 'collectiveQueues' | 'levels' | 'partners' | 'overheadBytes'
>

/** The rule by which a design distributes the elements that name their source over chains. */
export interface SourceRouting<E extends MatchingElement> {
  append(element: E): void
  /** Returns the first match among the elements of one source, left in its chain. The key names its source. */
  find(key: MatchingKey, passed: Traversals): E | undefined
  /** Returns every chain that may hold elements that match a key which does not name its source. */
  chains(key: MatchingKey): Iterable<Chain<E>>
  /** Returns a chain for receives from any source, instead of one for all of them. */
  anySource?(key: MatchingKey): Chain<E>
  /** Notes that an element has left the chain in which it was. */
  left?(element: E): void
  counters(): RoutingCounters
}

/**
 * A design that distributes elements over several chains by their source. Receives from any source have a separate
 * chain, which every message searches too; a receive from any source searches all chains. Of the elements found the one
 * with the lowest sequence number is taken, so the order of the single list holds.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (PRQ_ANY, sequence numbers)
 */
export class RoutedDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly #routing: SourceRouting<E>
  readonly #passed: Traversals = { traversals: 0 }
  readonly #fromAny: Chain<E> | undefined
  #searches = 0
  #inserted = 0
  #size = 0

  constructor(routing: SourceRouting<E>, { noAnySource }: ProcessFacts) {
    this.#routing = routing
    this.#fromAny = noAnySource ? undefined : new Chain()
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
    if (key.sourceMask === 0) return this.#findOfAll(key)
    const named = this.#routing.find(key, this.#passed)
    return earlierOf(named, this.#anySource(key)?.find(key, this.#passed))
  }

  insert(element: E): void {
    if (element.sourceMask === 0) {
      const chain = this.#anySource(element)
      if (chain === undefined)
        throw wrongValue('ERR_ARGUMENT', 'expected a receive that names its source', 'ANY_SOURCE')
      element.order = this.#inserted++
      chain.append(element)
    } else {
      element.order = this.#inserted++
      this.#routing.append(element)
    }
    this.#size++
  }

  remove(element: E): void {
    unchain(element)
    this.#size--
    if (element.sourceMask !== 0) this.#routing.left?.(element)
  }

  counters(): MatchingCounters {
    const { traversals } = this.#passed
    return { searches: this.#searches, traversals, ...this.#routing.counters() }
  }

  #anySource(key: MatchingKey): Chain<E> | undefined {
    if (this.#fromAny === undefined) return undefined
    return this.#routing.anySource?.(key) ?? this.#fromAny
  }

  #findOfAll(key: MatchingKey): E | undefined {
    let first: E | undefined
    for (const chain of this.#routing.chains(key)) first = earlierOf(first, chain.find(key, this.#passed))
    return first
  }
}

/** The counters that are 0 for most routings. */
export const noLevels = { collectiveQueues: 0, levels: 0, partners: 0 } as const
