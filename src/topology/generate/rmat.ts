import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { mulberry32 } from '../../base/random.js'
import { RankweaveError, shown } from '../../errors.js'
import { distinctEdges } from '../distinct-edges.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { checkNumber, checkSeed } from './check-random.js'

export interface Rmat {
  /** A power of two. */
  readonly ranks: number
  /** The number of edges drawn per rank, above 0; an edge drawn twice counts once. */
  readonly degree: number
  /**
   * The probabilities of the quarters of the adjacency matrix: both ends in the lower half of ranks; destination in the
   * upper; source in the upper; both. They sum to 1. Default those of Graph500: 0.57, 0.19, 0.19, 0.05.
   */
  readonly quarters?: readonly [a: number, b: number, c: number, d: number]
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const knownOptions: OptionTable<Rmat> = uncheckedOptions('ranks', 'degree', 'quarters', 'seed')

/** The probabilities that Graph500 prescribes. */
export const graph500Quarters = [0.57, 0.19, 0.19, 0.05] as const

/**
 * Draws a directed graph with nested communities: for each of `ranks * degree` edges the adjacency matrix is quartered
 * until one entry is left, one draw u of {@link mulberry32} per halving: the first quarter iff u < floor(a * 2^32), and
 * so on. Self loops and repeated edges are dropped; labels are not permuted. Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Chakrabarti, Zhan, Faloutsos 2004, R-MAT: A Recursive Model for Graph Mining
 */
export function rmatTopology(options: Rmat): ProcessTopology {
  requireKnownOptions('rmatTopology', options, knownOptions)
  const { ranks, degree, quarters = graph500Quarters, seed = 1 } = options
  checkTopologySize('R-MAT graph', ranks, 0)
  checkNumber('a degree above 0', degree, (d) => d > 0)
  checkTopologySize('R-MAT graph', ranks, ranks * degree)
  if (!Number.isInteger(Math.log2(ranks)))
    throw new RankweaveError('ERR_TOPOLOGY', `R-MAT graph: expected a power of two of ranks, got ${ranks}`)
  if (!Array.isArray(quarters))
    throw new RankweaveError('ERR_TOPOLOGY', `expected four probabilities, got ${shown(quarters)}`)
  const sum = quarters.reduce((total, quarter) => total + quarter, 0)
  if (quarters.length !== 4 || !quarters.every((quarter) => quarter >= 0) || !(Math.abs(sum - 1) <= 1e-6))
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected four probabilities that sum to 1, got ${quarters.join(', ')}`,
    )
  checkSeed(seed)
  const [first, second, third] = [0, 1, 2].map((i) =>
    Math.floor(quarters.slice(0, i + 1).reduce((total, quarter) => total + quarter, 0) * 2 ** 32),
  )
  const next = mulberry32(seed)
  const edges = distinctEdges(ranks)
  for (let draws = Math.round(ranks * degree); draws > 0; draws--) {
    let from = 0
    let to = 0
    for (let half = ranks / 2; half >= 1; half /= 2) {
      const u = next()
      if (u < first) continue
      if (u >= second) from += half
      if (u < second || u >= third) to += half
    }
    if (from !== to) edges.add(from, to)
  }
  return unweightedTopology(edges.toRows())
}
