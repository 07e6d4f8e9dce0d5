import {
  Chain,
  type MatchingElement,
  type MatchingKey,
  noLevels,
  overheads,
  type RoutingCounters,
  type SourceCounts,
  type SourceRouting,
  type Traversals,
} from './design.js'

/** The most partners that have lists. Placing their rows in the perfect hash takes time that grows as their square. */
export const mostStaticPartners = 2 ** 15

/**
 * A list for each partner, a source that has added more elements than others in an earlier run, and one list for all
 * other sources. If there are more than 2^15 partners, those with most elements have lists.
 *
 * @see Ghazimirsaeed 2019 algorithm 4.2 (PNP-static: partner/non-partner lists)
 */
export class StaticPartners<E extends MatchingElement> implements SourceRouting<E> {
  readonly #keys: SourceKeys
  readonly #hash: PerfectHash
  readonly #listOfPlace: readonly (Chain<E> | undefined)[]
  readonly #partners: readonly Chain<E>[]
  readonly #others = new Chain<E>()

  constructor(counts: SourceCounts, processes: number, rule: EdgeRule) {
    this.#keys = new SourceKeys(processes, counts.keys())
    const byKey = countsByKey(counts, this.#keys)
    const partners = mostFrequent(partnerKeys(byKey, this.#keys.population, rule), byKey)
    this.#hash = perfectHash(partners)
    this.#partners = partners.map(() => new Chain<E>())
    const lists: (Chain<E> | undefined)[] = Array.from(this.#hash.keys, () => undefined)
    for (const [i, key] of partners.entries()) lists[placeOfKey(this.#hash, key)] = this.#partners[i]
    this.#listOfPlace = lists
  }

  append(element: E): void {
    this.#listOf(element).append(element)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    return this.#listOf(key).find(key, passed)
  }

  chains(): readonly Chain<E>[] {
    return [this.#others, ...this.#partners]
  }

  counters(): RoutingCounters {
    const { length } = this.#partners
    const tableBytes =
      this.#hash.keys.length * overheads.tableEntryBytes + this.#hash.displacements.byteLength
    const overheadBytes = (length + 1) * overheads.listBytes + tableBytes
    return { ...noLevels, queues: length + 1, partners: length, overheadBytes }
  }

  #listOf(key: MatchingKey): Chain<E> {
    const place = placeOfKey(this.#hash, this.#keys.knownKeyOf(key))
    return place < 0 ? this.#others : this.#listOfPlace[place]!
  }
}

/** Returns the partners with the highest counts, ascending by key; of equal counts the lower keys. */
function mostFrequent(partners: number[], counts: ReadonlyMap<number, number>): readonly number[] {
  if (partners.length <= mostStaticPartners) return partners
  const byCount = partners.sort((a, b) => counts.get(b)! - counts.get(a)! || a - b)
  return byCount.slice(0, mostStaticPartners).sort((a, b) => a - b)
}

function countsByKey(counts: SourceCounts, keys: SourceKeys): Map<number, number> {
  const byKey = new Map<number, number>()
  for (const [context, row] of counts)
    for (let source = 0; source < row.length; source++)
      if (row[source] > 0) byKey.set(keys.keyOf({ context, source }), row[source])
  return byKey
}

/**
 * A table in which every key of a set has a place that one look-up finds. Keys stand in a square matrix, row by row.
 * Rows are moved to the right until no column has two keys: the columns are the table.
 *
 * @see Ghazimirsaeed 2019 chapter 4 (perfect hash by row displacement); Tarjan and Yao 1979
 */
interface PerfectHash {
  readonly side: number
  /** The distance by which each row is moved. */
  readonly displacements: Int32Array
  /** The key of each place; -1 if there is none. */
  readonly keys: Float64Array
}

/**
 * Builds the table. The rows with most keys are placed first, of equal ones the upper, each as far left as it fits.
 *
 * @param keys distinct integers of at least 0
 */
export function perfectHash(keys: readonly number[]): PerfectHash {
  let largest = 0
  for (const key of keys) largest = Math.max(largest, key)
  // The square is larger than the largest key: keys begin at 0.
  const side = Math.floor(Math.sqrt(largest)) + 1
  const rows = new Map<number, number[]>()
  for (const key of keys) {
    const row = Math.floor(key / side)
    const columns = rows.get(row)
    if (columns === undefined) rows.set(row, [key % side])
    else columns.push(key % side)
  }
  const displacements = new Int32Array(side)
  const placed: number[] = []
  for (const [row, columns] of [...rows].sort((a, b) => b[1].length - a[1].length || a[0] - b[0])) {
    let moved = 0
    while (columns.some((column) => placed[column + moved] !== undefined)) moved++
    displacements[row] = moved
    for (const column of columns) placed[column + moved] = row * side + column
  }
  return { side, displacements, keys: Float64Array.from(placed, (key) => key ?? -1) }
}

/** Returns the place of a key, or -1 for one that is not in the set. */
export function placeOfKey({ side, displacements, keys }: PerfectHash, key: number): number {
  const row = Math.floor(key / side)
  if (key < 0 || row >= side) return -1
  const place = displacements[row] + (key % side)
  return keys[place] === key ? place : -1
}

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

/**
 * The count of elements above which a source is a partner. It is the mean of all counts, their median, or Tukey's upper
 * fence Q3 + alpha (Q3 - Q1). The thesis prints a minus; with its alpha of 0 both are the third quartile.
 *
 * @see Ghazimirsaeed 2019 equation 4.2
 */
export const partnerEdges = ['average', 'median', 'upper-fence'] as const
type PartnerEdge = (typeof partnerEdges)[number]

/** Whether sources without elements count, too. In sparse rows they make the median 0. */
export const edgePopulations = ['all', 'nonzero'] as const
type EdgePopulation = (typeof edgePopulations)[number]

export interface EdgeRule {
  readonly edge: PartnerEdge
  /** The alpha of `upper-fence`. */
  readonly alpha: number
  readonly population: EdgePopulation
}

/**
 * Returns the edge of counts. Quartiles are linear between two counts.
 *
 * @param counts those above 0, in any order
 * @param zeros how many sources have none
 */
export function edgeOfCounts(counts: readonly number[], zeros: number, rule: EdgeRule): number {
  const absent = rule.population === 'all' ? zeros : 0
  const population = absent + counts.length
  if (population === 0) return 0
  if (rule.edge === 'average') return counts.reduce((sum, count) => sum + count, 0) / population
  const ascending = counts.toSorted((a, b) => a - b)
  const at = (place: number): number => (place < absent ? 0 : ascending[place - absent])
  const quantileAt = (share: number): number => {
    const place = share * (population - 1)
    const below = Math.floor(place)
    const above = Math.min(below + 1, population - 1)
    return at(below) + (place - below) * (at(above) - at(below))
  }
  if (rule.edge === 'median') return quantileAt(0.5)
  const upper = quantileAt(0.75)
  return upper + rule.alpha * (upper - quantileAt(0.25))
}

/**
 * Returns the keys whose count is above the edge, ascending.
 *
 * @param counts by key, above 0
 * @param population keys with a count and without
 * @see Ghazimirsaeed 2019 algorithm 4.1
 */
export function partnerKeys(
  counts: ReadonlyMap<number, number>,
  population: number,
  rule: EdgeRule,
): number[] {
  const edge = edgeOfCounts([...counts.values()], Math.max(0, population - counts.size), rule)
  const keys = [...counts].flatMap(([key, count]) => (count > edge ? [key] : []))
  return keys.sort((a, b) => a - b)
}

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
