import { requireKnownOptions } from '../../base/known-options.js'
import { addToList } from '../../base/maps.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { wrongValue } from '../../errors.js'
import { transposeRows } from '../compressed-rows.js'
import { distinctOut, largestRow, type NeighborSets } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { countCommon, type DenseSets, denseSets } from './friend-rows.js'

/** Options of a count over all ranks. */
export interface CountingOptions {
  /** Node of every rank: only ranks of one node count together. Absent or null: all ranks. */
  readonly nodeOf?: Int32Array | null
  /** The number of steps, a nanosecond or a few each, before giving up. Each count states its default. */
  readonly workLimit?: number
  /** Reports each rank that has been counted, so that a long count can be followed. */
  readonly onRank?: (counted: number, ranks: number) => void
}

export const countingOptions: OptionTable<CountingOptions> = uncheckedOptions('nodeOf', 'workLimit', 'onRank')

/** The reason why nothing was counted: an exact count would take more steps than allowed. */
export interface BeyondLimit {
  readonly kind: 'beyond-limit'
  readonly reason: string
}

/** Default limit: 4 x 10^9 steps. */
export type CommonNeighborOptions = CountingOptions

/** The number of out-neighbors that pairs of ranks have in common: exact, or not counted. */
export type CommonNeighbors = CountedPairs | BeyondLimit

interface CountedPairs {
  readonly kind: 'counted'
  /** The number of unordered pairs of different ranks, on one node if nodes were given. */
  readonly pairs: number
  /**
   * Entry c is the number of pairs that have exactly c out-neighbors in common. The last entry is that of the largest
   * c.
   */
  readonly histogram: Float64Array
  readonly mean: number
  readonly max: number
}

/**
 * Counts the common out-neighbors of all pairs of ranks. The distribution shows what combining can gain: a pair of
 * ranks with c out-neighbors in common saves c-2 messages as friends. Self loops and parallel edges do not count.
 *
 * @throws ERR_ARGUMENT nodes for another number of ranks
 * @see Ghazimirsaeed 2019 §7.2.1
 */
export function commonNeighbors(
  topology: ProcessTopology,
  options: CommonNeighborOptions = {},
): CommonNeighbors {
  requireTopology(topology)
  requireKnownOptions('commonNeighbors', options, countingOptions)
  const { nodeOf = null, workLimit = 4e9, onRank } = options
  const { ranks } = topology
  if (nodeOf !== null && nodeOf.length !== ranks)
    throw wrongValue('ERR_ARGUMENT', `expected a node for each of ${ranks} ranks`, nodeOf.length)
  const out = distinctOut(topology)
  const methods = nodeOf === null ? methodsForAll(out) : [withinNodes(out, nodeOf)]
  const method = methods.reduce((best, other) => (other.steps < best.steps ? other : best))
  if (method.steps > workLimit)
    return { kind: 'beyond-limit', reason: `${method.steps} steps would be needed, more than ${workLimit}` }
  const largest = largestRow(out)
  const histogram = new Float64Array(largest + 1)
  for (let p = 0; p < ranks; p++) {
    method.count(p, histogram)
    onRank?.(p + 1, ranks)
  }
  // Pairs that share no neighbor were not counted.
  let met = 0
  for (let c = 1; c <= largest; c++) met += histogram[c]
  histogram[0] = method.pairs - met
  let max = largest
  while (max > 0 && histogram[max] === 0) max--
  let sum = 0
  for (let c = 1; c <= max; c++) sum += c * histogram[c]
  return {
    kind: 'counted',
    pairs: method.pairs,
    histogram: histogram.slice(0, max + 1),
    mean: method.pairs === 0 ? 0 : sum / method.pairs,
    max,
  }
}

interface Method {
  readonly steps: number
  readonly pairs: number
  /** Adds the pairs of p and larger ranks that have a common neighbor. Entry 0 is not read. */
  readonly count: (p: number, histogram: Float64Array) => void
}

function methodsForAll(out: NeighborSets): Method[] {
  const dense = denseSets(out)
  const through = throughNeighbors(out)
  return dense === null ? [through] : [through, byBitsets(out, dense)]
}

function byBitsets(out: NeighborSets, { bits, words }: DenseSets): Method {
  const ranks = out.start.length - 1
  const pairs = (ranks * (ranks - 1)) / 2
  return {
    steps: pairs * words,
    pairs,
    count: (p, histogram) => {
      for (let f = p + 1; f < ranks; f++) histogram[countCommon(bits, p * words, f * words, words)]++
    },
  }
}

function throughNeighbors(out: NeighborSets): Method {
  const ranks = out.start.length - 1
  const senders = transposeRows(ranks, out)
  let steps = out.rank.length
  for (let q = 0; q < ranks; q++) steps += (senders.start[q + 1] - senders.start[q]) ** 2 / 2
  const common = new Int32Array(ranks)
  const touched = new Int32Array(ranks)
  return {
    steps,
    pairs: (ranks * (ranks - 1)) / 2,
    count: (p, histogram) => {
      let count = 0
      for (let e = out.start[p]; e < out.start[p + 1]; e++) {
        const q = out.rank[e]
        // Senders ascend, so those above p are the tail of q's row.
        for (let i = senders.start[q + 1] - 1; i >= senders.start[q] && senders.rank[i] > p; i--) {
          const f = senders.rank[i]
          if (common[f]++ === 0) touched[count++] = f
        }
      }
      for (let i = 0; i < count; i++) {
        histogram[common[touched[i]]]++
        common[touched[i]] = 0
      }
    },
  }
}

function withinNodes(out: NeighborSets, nodeOf: Int32Array): Method {
  const ranks = out.start.length - 1
  const members = new Map<number, number[]>()
  for (let p = 0; p < ranks; p++) {
    addToList(members, nodeOf[p], p)
  }
  let steps = out.rank.length
  let pairs = 0
  for (const list of members.values()) {
    pairs += (list.length * (list.length - 1)) / 2
    for (const [i, f] of list.entries()) steps += i * (out.start[f + 1] - out.start[f])
  }
  const namedBy = new Int32Array(ranks).fill(-1)
  return {
    steps,
    pairs,
    count: (p, histogram) => {
      for (let e = out.start[p]; e < out.start[p + 1]; e++) namedBy[out.rank[e]] = p
      for (const f of members.get(nodeOf[p])!) {
        if (f <= p) continue
        let common = 0
        for (let e = out.start[f]; e < out.start[f + 1]; e++) if (namedBy[out.rank[e]] === p) common++
        histogram[common]++
      }
    },
  }
}
