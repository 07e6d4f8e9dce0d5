import type { MatchingKey } from './element.js'

/**
 * Numbers for pairs of context and source, without gaps: `source + processes * n`, where n counts contexts in the order
 * in which they are first named.
 *
 * @see Ghazimirsaeed 2019 equation 4.1
 */
export class SourceKeys {
  readonly #processes: number
  readonly #contexts = new Map<number, number>()

  /** @param contexts those that are known from the start */
  constructor(processes: number, contexts: Iterable<number> = []) {
    this.#processes = processes
    for (const context of contexts) this.#contexts.set(context, this.#contexts.size)
  }

  get population(): number {
    return this.#processes * this.#contexts.size
  }

  /** Returns the number of a source, also of a context that is new. */
  keyOf({ context, source }: Pick<MatchingKey, 'context' | 'source'>): number {
    const place = this.#contexts.get(context) ?? this.#contexts.size
    if (place === this.#contexts.size) this.#contexts.set(context, place)
    return source + this.#processes * place
  }

  /** Returns the number of a source of a known context; -1 for another one. */
  knownKeyOf({ context, source }: Pick<MatchingKey, 'context' | 'source'>): number {
    const place = this.#contexts.get(context)
    return place === undefined ? -1 : source + this.#processes * place
  }
}
