import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { mulberry32 } from '../../base/random.js'
import { RankweaveError } from '../../errors.js'
import type { CompressedRows } from '../compressed-rows.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { checkProbability, checkSeed } from './check-random.js'

/** Positions of pairs stay exact up to this number of ranks, and a gap needs few digits. */
const maxRanks = 2 ** 16
/** So many pairs, or fewer, take one draw each. So do more where at least one pair in 16 is an edge. */
const mostDrawn = 2 ** 26
const densestSkipped = 2 ** 28

export interface ErdosRenyi {
  readonly ranks: number
  /** The probability of each directed edge, 0 to 1. */
  readonly density: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const knownOptions: OptionTable<ErdosRenyi> = uncheckedOptions('ranks', 'density', 'seed')

/**
 * Draws a directed graph: each ordered pair of different ranks is an edge with probability `density`. For i, for j !=
 * i, ascending, one draw u of {@link mulberry32}; an edge from i to j iff u < floor(density * 2^32). Of more than 2^26
 * pairs, at a density below 1/16, the gaps between edges are drawn instead, in time linear in edges: binary digits of a
 * geometric variable are independent, digit k is 1 with the probability q^(2^k) / (1 + q^(2^k)), where q is the
 * probability of no edge; each takes one draw, the lowest first. Destinations and sources ascend.
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
  const isSkipped = ranks * (ranks - 1) > mostDrawn && threshold < densestSkipped
  return unweightedTopology(
    isSkipped ? skippedRows(ranks, threshold, next) : drawnRows(ranks, threshold, next),
  )
}

function drawnRows(ranks: number, threshold: number, next: () => number): CompressedRows {
  const start = new Int32Array(ranks + 1)
  const destinations = new GrowingInt32Array()
  for (let i = 0; i < ranks; i++) {
    for (let j = 0; j < ranks; j++) if (j !== i && next() < threshold) destinations.push(j)
    start[i + 1] = destinations.length
    checkTopologySize('random graph', ranks, destinations.length)
  }
  return { start, rank: destinations.toArray() }
}

function skippedRows(ranks: number, threshold: number, next: () => number): CompressedRows {
  const start = new Int32Array(ranks + 1)
  const destinations = new GrowingInt32Array()
  const digits = gapDigits(threshold)
  const gap = () => {
    let sum = 0
    for (let k = 0, one = 1; k < digits.length; k++, one *= 2) if (next() < digits[k]) sum += one
    return sum
  }
  // Positions among all pairs, row by row; without edges there is no first one.
  let position = threshold === 0 ? Number.POSITIVE_INFINITY : gap()
  for (let i = 0; i < ranks; i++) {
    for (const end = (i + 1) * (ranks - 1); position < end; position += 1 + gap()) {
      const j = position - i * (ranks - 1)
      destinations.push(j < i ? j : j + 1)
    }
    start[i + 1] = destinations.length
    checkTopologySize('random graph', ranks, destinations.length)
  }
  return { start, rank: destinations.toArray() }
}

/**
 * Returns a threshold for each digit of a gap, the lowest first: the digit is 1 iff a draw is below. Digits that are
 * never 1 are left out.
 */
function gapDigits(threshold: number): readonly number[] {
  const digits: number[] = []
  if (threshold === 0) return digits
  for (let none = 1 - threshold / 2 ** 32; ; none *= none) {
    const digit = Math.floor((none / (1 + none)) * 2 ** 32)
    if (digit === 0) return digits
    digits.push(digit)
  }
}
