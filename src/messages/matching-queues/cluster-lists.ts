import {
  Chain,
  type MatchingElement,
  type MatchingKey,
  noLevels,
  overheads,
  type RoutingCounters,
  type SourceRouting,
  type Traversals,
} from './design.js'

/**
 * A list for each cluster of sources, by how many elements each source added in an earlier run. All elements of a
 * source are in one list, so a search passes that list only.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (CLUST; the clusters are its matrix B)
 */
export class ClusterLists<E extends MatchingElement> implements SourceRouting<E> {
  readonly #clusterOf: Int32Array
  readonly #lists: readonly Chain<E>[]

  constructor({ clusterOf, clusters }: SourceClusters) {
    this.#clusterOf = clusterOf
    this.#lists = Array.from({ length: clusters }, () => new Chain<E>())
  }

  append(element: E): void {
    this.#lists[this.#clusterOf[element.source]].append(element)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    return this.#lists[this.#clusterOf[key.source]].find(key, passed)
  }

  chains(): readonly Chain<E>[] {
    return this.#lists
  }

  counters(): RoutingCounters {
    const { length } = this.#lists
    const overheadBytes = length * overheads.listBytes + this.#clusterOf.byteLength
    return { ...noLevels, queues: length, overheadBytes }
  }
}

/** The cluster of each source, from 0, and the number of `clusters`. */
interface SourceClusters {
  readonly clusterOf: Int32Array
  readonly clusters: number
}

/**
 * The rules by which the heuristic closes a cluster. `after`: when a source has brought its load above the limit, as
 * the thesis's algorithm is printed. `before`: when one would, as its prose says.
 */
export const closingChecks = ['after', 'before'] as const
export type ClosingCheck = (typeof closingChecks)[number]

/**
 * Fills clusters with sources in ascending order of their counts. A cluster is closed when its load is above the mean
 * plus the standard deviation of all counts. The standard deviation is that of a population.
 *
 * @see Ghazimirsaeed 2019 algorithm 3.1
 */
export function heuristicClusters(counts: ArrayLike<number>, check: ClosingCheck = 'after'): SourceClusters {
  const limit = loadLimit(counts)
  const clusterOf = new Int32Array(counts.length)
  let cluster = 0
  let load = 0
  let closed = false
  for (const source of ascendingSources(counts)) {
    const count = counts[source]
    if (closed || (check === 'before' && load > 0 && load + count > limit)) {
      cluster++
      load = 0
    }
    clusterOf[source] = cluster
    load += count
    closed = check === 'after' && load > limit
  }
  return { clusterOf, clusters: cluster + 1 }
}

/** Returns sources by ascending count, those with equal counts by rank. */
function ascendingSources(counts: ArrayLike<number>): Int32Array {
  const order = Int32Array.from({ length: counts.length }, (_, source) => source)
  return order.sort((a, b) => counts[a] - counts[b] || a - b)
}

function loadLimit(counts: ArrayLike<number>): number {
  const { length } = counts
  if (length === 0) return 0
  let sum = 0
  for (let i = 0; i < length; i++) sum += counts[i]
  const mean = sum / length
  let squares = 0
  for (let i = 0; i < length; i++) squares += (counts[i] - mean) ** 2
  return mean + Math.sqrt(squares / length)
}

/**
 * Returns the clusters of sources by their counts whose sum of squared distances from the means is least. Numbers on a
 * line have optimal clusters that are intervals, so dynamic programming finds them exactly. That takes O(k d lg d)
 * steps and O(k d) memory for k clusters of d distinct counts. Of equal sums the one with the earliest borders is
 * taken, so the result is the same everywhere. No cluster is empty: there are at most as many as distinct counts.
 *
 * @param k at least 1
 * @see Ghazimirsaeed 2019 appendix 1 (K-means); Wang and Song 2011 (Ckmeans.1d.dp)
 */
export function kMeansClusters(counts: ArrayLike<number>, k: number): SourceClusters {
  const order = ascendingSources(counts)
  const clusterOf = new Int32Array(counts.length)
  if (order.length === 0) return { clusterOf, clusters: 1 }
  const groups = equalGroups(counts, order)
  const clusters = Math.min(k, groups.length)
  const begins = bestIntervals(groups, clusters)
  for (let i = 0, group = 0, cluster = 0; i < order.length; i++) {
    if (i === groups.begins[group + 1]) group++
    if (cluster + 1 < clusters && group === begins[cluster + 1]) cluster++
    clusterOf[order[i]] = cluster
  }
  return { clusterOf, clusters }
}

/** The distinct counts, ascending, and the place of the order at which each begins. */
interface EqualGroups {
  readonly length: number
  readonly begins: Int32Array
  readonly values: Float64Array
}

function equalGroups(counts: ArrayLike<number>, order: Int32Array): EqualGroups {
  const begins: number[] = []
  for (let i = 0; i < order.length; i++)
    if (i === 0 || counts[order[i]] !== counts[order[i - 1]]) begins.push(i)
  const values = Float64Array.from(begins, (i) => counts[order[i]])
  begins.push(order.length)
  return { length: values.length, begins: Int32Array.from(begins), values }
}

/** Returns the first group of each of k intervals of groups. */
function bestIntervals(groups: EqualGroups, k: number): Int32Array {
  const cost = intervalCosts(groups)
  const n = groups.length
  let least = Float64Array.from({ length: n }, (_, last) => cost(0, last))
  const beginOf: Int32Array[] = [new Int32Array(n)]
  for (let clusters = 2; clusters <= k; clusters++) {
    const before = least
    const begin = new Int32Array(n)
    least = new Float64Array(n).fill(Number.POSITIVE_INFINITY)
    // The best begin of the last interval never falls as its end rises, so halves bound each other.
    const ends: [low: number, high: number, from: number, to: number][] = [
      [clusters - 1, n - 1, clusters - 1, n - 1],
    ]
    for (let range = ends.pop(); range !== undefined; range = ends.pop()) {
      const [low, high, from, to] = range
      if (low > high) continue
      const last = (low + high) >>> 1
      for (let first = from; first <= Math.min(to, last); first++) {
        const sum = before[first - 1] + cost(first, last)
        if (sum >= least[last]) continue
        least[last] = sum
        begin[last] = first
      }
      ends.push([low, last - 1, from, begin[last]], [last + 1, high, begin[last], to])
    }
    beginOf.push(begin)
  }
  const begins = new Int32Array(k)
  for (let cluster = k - 1, last = n - 1; cluster >= 0; cluster--) {
    begins[cluster] = beginOf[cluster][last]
    last = begins[cluster] - 1
  }
  return begins
}

/** Returns the sum of squared distances from their mean, of the sources in groups first to last. */
function intervalCosts({ length, begins, values }: EqualGroups): (first: number, last: number) => number {
  const sums = new Float64Array(length + 1)
  const squares = new Float64Array(length + 1)
  // Values are taken relative to the middle one, so that large counts cancel less.
  const middle = values[length >>> 1]
  for (let group = 0; group < length; group++) {
    const size = begins[group + 1] - begins[group]
    const value = values[group] - middle
    sums[group + 1] = sums[group] + size * value
    squares[group + 1] = squares[group] + size * value ** 2
  }
  return (first, last) => {
    const size = begins[last + 1] - begins[first]
    const sum = sums[last + 1] - sums[first]
    return Math.max(0, squares[last + 1] - squares[first] - sum ** 2 / size)
  }
}
