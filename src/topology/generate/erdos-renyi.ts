import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { mulberry32 } from '../../base/random.js'
import { RankweaveError } from '../../errors.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { checkProbability, checkSeed } from './check-random.js'

/** Every ordered pair takes one draw: 2^16 ranks take about half a minute. */
const maxRanks = 2 ** 16

export interface ErdosRenyi {
  readonly ranks: number
  /** Probability of each directed edge, 0 to 1. */
  readonly density: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const knownOptions: OptionTable<ErdosRenyi> = uncheckedOptions('ranks', 'density', 'seed')

/**
 * A random directed graph: each ordered pair of different ranks is an edge with probability `density`. For i,
 * for j != i, ascending, one draw u of {@link mulberry32}; an edge from i to j iff u < floor(density * 2^32).
 * Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.2
 */
export function erdosRenyiTopology(options: ErdosRenyi): ProcessTopology {
  requireKnownOptions('erdosRenyiTopology', options, knownOptions)
  const { ranks, density, seed = 1 } = options
  checkProbability('a density', density)
  checkSeed(seed)
  checkTopologySize('random graph', ranks, 0)
  checkTopologySize('random graph', ranks, Math.floor(ranks * (ranks - 1) * density))
  if (ranks > maxRanks)
    throw new RankweaveError('ERR_TOPOLOGY', `random graph: expected at most ${maxRanks} ranks, got ${ranks}`)
  const next = mulberry32(seed)
  const threshold = Math.floor(density * 2 ** 32)
  const start = new Int32Array(ranks + 1)
  const destinations = new GrowingInt32Array()
  for (let i = 0; i < ranks; i++) {
    for (let j = 0; j < ranks; j++) if (j !== i && next() < threshold) destinations.push(j)
    start[i + 1] = destinations.length
    checkTopologySize('random graph', ranks, destinations.length)
  }
  return unweightedTopology({ start, rank: destinations.toArray() })
}
