import { Chain } from './chain.js'
import { overheads, type Traversals } from './design.js'
import type { MatchingElement, MatchingKey } from './element.js'
import { type EdgeRule, partnerKeys } from './partner-edge.js'
import { noLevels, type RoutingCounters, type SourceRouting } from './routed-design.js'
import { SourceKeys } from './source-keys.js'

export interface DynamicPartnersRule extends EdgeRule {
  /** The number of elements of a list of non-partners above which partners are sought among them: theta. */
  readonly threshold: number
  /** The number of slots per bucket of the table of partners: c. Infinity: without a bound. */
  readonly slots: number
  /** The time of the next attempt after one that found no partner. */
  readonly retry: PartnerRetry
}

/**
 * The times of the next attempt. `always`: at every element that is added, as in algorithm 4.3, each time over the
 * whole list. `later`: after as many elements as the list has, so that attempts take constant time per element.
 */
export const partnerRetries = ['later', 'always'] as const
export type PartnerRetry = (typeof partnerRetries)[number]

/**
 * Partners are found while the program runs. All elements go to the initial list until it is longer than a threshold.
 * Then sources with more elements than others become partners, each with a list. Later elements of all other sources go
 * to the list of a new level, which may overflow in turn. No element moves: a search for a source passes the initial
 * list, the levels from before it became a partner, and its list.
 *
 * If no source becomes a partner, there is no new level.
 *
 * @see Ghazimirsaeed 2019 algorithm 4.3 (PNP-dynamic)
 */
export class DynamicPartners<E extends MatchingElement> implements SourceRouting<E> {
  readonly initial = new Chain<E>()
  /** The lists of non-partners, one per level. */
  readonly levels: Chain<E>[] = []
  readonly partners: Chain<E>[] = []
  readonly table: PartnerTable
  readonly #rule: DynamicPartnersRule
  readonly #keys: SourceKeys
  /** The number of elements to add before the next attempt. */
  #patience = 0

  constructor(processes: number, rule: DynamicPartnersRule) {
    this.#rule = rule
    this.table = new PartnerTable(processes, rule.slots)
    this.#keys = new SourceKeys(processes)
  }

  append(element: E): void {
    const partner = this.table.get(this.#keys.keyOf(element))
    if (partner !== undefined) {
      this.partners[partner.list].append(element)
      return
    }
    const last = this.levels.at(-1) ?? this.initial
    last.append(element)
    if (this.#patience > 0) this.#patience--
    else if (last.length > this.#rule.threshold && !this.table.isFull) this.#extract(last)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    // Elements that were inserted before a level was made are older than those in the level.
    let found = this.initial.find(key, passed)
    if (found !== undefined || this.levels.length === 0) return found
    const partner = this.table.get(this.#keys.knownKeyOf(key))
    const levels = partner?.level ?? this.levels.length
    for (let level = 0; level < levels && found === undefined; level++)
      found = this.levels[level].find(key, passed)
    return found ?? (partner && this.partners[partner.list].find(key, passed))
  }

  chains(): readonly Chain<E>[] {
    return [this.initial, ...this.levels, ...this.partners]
  }

  counters(): RoutingCounters {
    const queues = 1 + this.levels.length + this.partners.length
    const tableBytes = this.table.slots * overheads.tableEntryBytes
    return {
      ...noLevels,
      queues,
      levels: this.levels.length,
      partners: this.partners.length,
      overheadBytes: queues * overheads.listBytes + tableBytes,
    }
  }

  /** Makes partners of the sources with most elements in a list, and a level for the others. */
  #extract(list: Chain<E>): void {
    const counts = new Map<number, number>()
    for (const element of list) {
      const key = this.#keys.keyOf(element)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const level = this.levels.length
    const before = this.table.size
    for (const key of partnerKeys(counts, this.#keys.population, this.#rule))
      if (this.table.add(key, level)) this.partners.push(new Chain())
    if (this.table.size > before) this.levels.push(new Chain())
    else if (this.#rule.retry === 'later') this.#patience = list.length
  }
}

/** The list of a partner, and how many levels there were before it became one. */
interface Partner {
  readonly list: number
  readonly level: number
}

/**
 * The partners by the key of their source. A bounded table has `floor(sqrt(processes))` buckets of a few slots; a
 * source whose bucket is full does not become a partner.
 *
 * @see Ghazimirsaeed 2019 chapter 4 (bounded memory)
 */
export class PartnerTable {
  readonly buckets: number
  readonly #slots: number
  readonly #used: Int32Array
  readonly #partners = new Map<number, Partner>()

  /** @param slots of a bucket; Infinity: without a bound */
  constructor(processes: number, slots: number) {
    this.buckets = Math.max(1, Math.floor(Math.sqrt(processes)))
    this.#slots = slots
    this.#used = new Int32Array(this.buckets)
  }

  get size(): number {
    return this.#partners.size
  }

  get isFull(): boolean {
    return this.size >= this.buckets * this.#slots
  }

  get used(): readonly number[] {
    return [...this.#used]
  }

  /** The slots of the table: as many as there are partners, if nothing bounds it. */
  get slots(): number {
    return Number.isFinite(this.#slots) ? this.buckets * this.#slots : this.size
  }

  get(key: number): Partner | undefined {
    return this.#partners.get(key)
  }

  /** Adds a key that is not in the table; returns false if its bucket is full. */
  add(key: number, level: number): boolean {
    const bucket = key % this.buckets
    if (this.#used[bucket] >= this.#slots) return false
    this.#used[bucket]++
    this.#partners.set(key, { list: this.size, level })
    return true
  }
}
