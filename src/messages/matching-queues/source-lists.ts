import {
  Chain,
  type MatchingElement,
  type MatchingKey,
  noLevels,
  overheads,
  type ProcessFacts,
  type RoutingCounters,
  type SourceRouting,
  type Traversals,
} from './design.js'

interface OfContext<E extends MatchingElement> {
  readonly bySource: (Chain<E> | undefined)[]
  readonly fromAny: Chain<E>
}

/**
 * An array with a list per source for every communicator, as in Open MPI's `ob1`. A search passes elements of its
 * source only; the arrays take memory for every rank of every communicator.
 *
 * @see Ghazimirsaeed 2019 chapters 2 and 4 (OMPI: K communicators of R ranks take K·R places)
 */
export class ListsBySource<E extends MatchingElement> implements SourceRouting<E> {
  readonly #facts: ProcessFacts
  readonly #contexts = new Map<number, OfContext<E>>()
  #lists = 0
  #places = 0

  constructor(facts: ProcessFacts) {
    this.#facts = facts
  }

  append(element: E): void {
    const { bySource } = this.#ofContext(element.context)
    let chain = bySource[element.source]
    if (chain === undefined) {
      chain = bySource[element.source] = new Chain()
      this.#lists++
    }
    chain.append(element)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    return this.#contexts.get(key.context)?.bySource[key.source]?.find(key, passed)
  }

  *chains({ context }: MatchingKey): Generator<Chain<E>> {
    for (const chain of this.#contexts.get(context)?.bySource ?? []) if (chain !== undefined) yield chain
  }

  anySource({ context }: MatchingKey): Chain<E> {
    return this.#ofContext(context).fromAny
  }

  counters(): RoutingCounters {
    return { ...noLevels, queues: this.#lists, overheadBytes: this.#places * overheads.pointerBytes }
  }

  #ofContext(context: number): OfContext<E> {
    let found = this.#contexts.get(context)
    if (found === undefined) {
      const ranks = this.#facts.communicatorSizes?.get(context) ?? this.#facts.processes
      found = { bySource: new Array<undefined>(ranks).fill(undefined), fromAny: new Chain() }
      this.#contexts.set(context, found)
      this.#places += ranks
    }
    return found
  }
}
