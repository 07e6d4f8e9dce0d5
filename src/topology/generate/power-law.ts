import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { mulberry32 } from '../../base/random.js'
import { distinctEdges } from '../distinct-edges.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { checkNumber, checkSeed } from './check-random.js'

export interface PowerLaw {
  readonly ranks: number
  /** The target mean degree; edges drawn twice reduce it. Above 0, less than `ranks`. */
  readonly degree: number
  /** The share of ranks of degree x decreases like x^-gamma; above 2, at most 100. Default 2.5. */
  readonly gamma?: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const knownOptions: OptionTable<PowerLaw> = uncheckedOptions('ranks', 'degree', 'gamma', 'seed')

/**
 * Draws a graph whose degrees follow a power law: few ranks have many neighbors, rank 0 the most; symmetric. Rank i has
 * weight (i+1)^(-1/(gamma-1)); `ranks * degree / 2` edges are drawn, both ends with a probability proportional to the
 * weight, two draws of {@link mulberry32} each; self loops and repeated edges are dropped. Destinations and sources
 * ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Chung, Lu 2002, Connected components in random graphs with given expected degree sequences; drawn edge by edge
 *   as in Seshadhri, Kolda, Pinar 2012, Community structure and scale-free collections of Erdos-Renyi graphs
 */
export function powerLawTopology(options: PowerLaw): ProcessTopology {
  requireKnownOptions('powerLawTopology', options, knownOptions)
  const { ranks, degree, gamma = 2.5, seed = 1 } = options
  checkTopologySize('power-law graph', ranks, 0)
  checkNumber(`a degree above 0, below ${ranks}, the ranks`, degree, (d) => d > 0 && d < ranks)
  const draws = Math.round((ranks * degree) / 2)
  checkTopologySize('power-law graph', ranks, 2 * draws)
  checkNumber('gamma above 2, at most 100', gamma, (g) => g > 2 && g <= 100)
  checkSeed(seed)
  const weightUpTo = cumulativeWeights(ranks, gamma)
  const next = mulberry32(seed)
  const draw = (): number => {
    const share = (next() * 2 ** 20 + (next() >>> 12)) / 2 ** 52
    return firstAbove(weightUpTo, share * weightUpTo[ranks - 1])
  }
  const edges = distinctEdges(ranks)
  for (let e = 0; e < draws; e++) {
    const p = draw()
    const q = draw()
    if (p === q) continue
    edges.add(p, q)
    edges.add(q, p)
  }
  const rows = edges.toRows()
  return unweightedTopology(rows, rows)
}

/** Returns weights rounded to integers, so that a power whose last bit differs between engines gives the same graph. */
function cumulativeWeights(ranks: number, gamma: number): Float64Array {
  const weights = new Float64Array(ranks)
  let sum = 0
  for (let i = 0; i < ranks; i++) {
    sum += Math.round(2 ** 20 * (ranks / (i + 1)) ** (1 / (gamma - 1)))
    weights[i] = sum
  }
  return weights
}

/** Returns the first index whose value is larger; values ascend, and the last one is larger. */
function firstAbove(values: Float64Array, value: number): number {
  let from = 0
  let to = values.length - 1
  while (from < to) {
    const middle = (from + to) >>> 1
    if (values[middle] > value) to = middle
    else from = middle + 1
  }
  return from
}
