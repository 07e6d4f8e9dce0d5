import { Chain } from './chain.js'
import { overheads, type Traversals } from './design.js'
import type { MatchingElement, MatchingKey } from './element.js'
import { type EdgeRule, partnerKeys } from './partner-edge.js'
import { noLevels, type RoutingCounters, type SourceRouting } from './routed-design.js'
import type { SourceCounts } from './source-counts.js'
import { SourceKeys } from './source-keys.js'

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
