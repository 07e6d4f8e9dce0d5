import { ascendingSources, type SourceClusters } from './source-clusters.js'

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
