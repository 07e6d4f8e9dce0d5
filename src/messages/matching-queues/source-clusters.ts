/** The cluster of each source, from 0, and the number of `clusters`. */
export interface SourceClusters {
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
export function ascendingSources(counts: ArrayLike<number>): Int32Array {
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
