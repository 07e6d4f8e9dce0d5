import { type ErrorDetails, RankweaveError, wrongValue } from '../errors.js'
import { type CartShape, cartNeighborSlots, checkCartShape, procNull, sizeOf } from './cart-shape.js'
import { transposeRows } from './compressed-rows.js'
import { checkTopologySize } from './limits.js'

/**
 * A directed multigraph over ranks 0 to `ranks - 1` with each rank's neighbors in MPI order, as compressed rows
 * (MPI-4.1 §8.5). Immutable.
 *
 * Rank r sends to `outRank[outStart[r] .. outStart[r+1]-1]` and receives from `inRank[inStart[r] .. inStart[r+1]-1]`,
 * in list order: block l of r's receive buffer holds the data of its l-th source. Self loops and parallel edges are
 * legal; a pair of ranks has the same multiplicity on both sides.
 */
export interface ProcessTopology {
  readonly ranks: number
  /** Length `ranks + 1`. */
  readonly outStart: Int32Array
  readonly outRank: Int32Array
  /** The weight of each out-edge, or null for an unweighted topology. */
  readonly outWeight: Float64Array | null
  /** Length `ranks + 1`. */
  readonly inStart: Int32Array
  readonly inRank: Int32Array
  /** The weight of each in-edge; null exactly when `outWeight` is. Each side has the weights it was given. */
  readonly inWeight: Float64Array | null
  /**
   * The rule by which parallel edges pair up. `occurrence`: the c-th occurrence of q among p's destinations is the c-th
   * occurrence of p among q's sources (distributed graphs, MPI-4.1 §8.6). `cartesian`: p's send slot s lands in q's
   * receive slot `s ^ 1` (MPI-4.1 §8.6, Cartesian communicators); slots are those of `cartNeighborSlots`, and the lists
   * hold the slots that have a neighbor.
   */
  readonly pairing: 'occurrence' | 'cartesian'
  /** The shape, set exactly for Cartesian topologies. */
  readonly cart: CartShape | null
}

/**
 * Checks that a value has the lists of a topology, of their types, but not their lengths and contents, which
 * `checkTopology` checks. Takes constant time, so that every function that users call with a topology can afford it.
 *
 * @throws ERR_TOPOLOGY
 */
export function requireTopology(value: unknown): asserts value is ProcessTopology {
  const { ranks, outStart, outRank, outWeight, inStart, inRank, inWeight, cart } = Object(
    value,
  ) as Partial<ProcessTopology>
  const isComplete =
    typeof ranks === 'number' &&
    [outStart, outRank, inStart, inRank].every((list) => list instanceof Int32Array) &&
    [outWeight, inWeight].every((list) => list === null || list instanceof Float64Array) &&
    (cart === null || Array.isArray(Object(cart).dims))
  if (isComplete) return
  throw wrongValue('ERR_TOPOLOGY', 'expected a process topology with its lists of neighbors', value)
}

/**
 * Checks every invariant of a topology. Row starts and ranks are in range. Each pair of ranks has the same multiplicity
 * on both sides, and weights are on both sides or on neither. A Cartesian topology has the lists of its shape. Costs
 * O(edges log degree).
 *
 * @throws ERR_TOPOLOGY for the first violation, naming the rank or edge; ERR_DIMS for a malformed shape
 */
export function checkTopology(topology: ProcessTopology): void {
  requireTopology(topology)
  const { ranks, outStart, outRank, outWeight, inStart, inRank, inWeight, pairing, cart } = topology
  checkTopologySize('topology', ranks, outRank.length)
  checkRows('destination', ranks, outStart, outRank)
  checkRows('source', ranks, inStart, inRank)
  if ((outWeight === null) !== (inWeight === null))
    fail('expected weights on both sides or on neither', { weightedSide: outWeight === null ? 'in' : 'out' })
  checkWeights('out', outRank.length, outWeight)
  checkWeights('in', inRank.length, inWeight)
  checkMultiplicities(topology)
  if ((pairing === 'cartesian') !== (cart !== null))
    fail(`expected a Cartesian shape exactly with Cartesian pairing, got pairing '${pairing}'`)
  if (cart !== null) checkCartLists(topology)
}

function checkRows(neighbor: string, ranks: number, start: Int32Array, neighbors: Int32Array): void {
  if (start.length !== ranks + 1)
    fail(`expected ${ranks + 1} ${neighbor} row starts for ${ranks} ranks, got ${start.length}`)
  if (start[0] !== 0) fail(`expected the first ${neighbor} row to start at 0, got ${start[0]}`)
  for (let r = 0; r < ranks; r++)
    if (start[r + 1] < start[r])
      fail(`${neighbor} row of rank ${r}: expected an end of at least ${start[r]}, got ${start[r + 1]}`, {
        rank: r,
      })
  if (start[ranks] !== neighbors.length)
    fail(`expected the ${neighbor} rows to end at ${neighbors.length}, got ${start[ranks]}`)
  for (let r = 0; r < ranks; r++)
    for (let e = start[r]; e < start[r + 1]; e++)
      if (neighbors[e] < 0 || neighbors[e] >= ranks)
        fail(
          `${neighbor} ${e - start[r]} of rank ${r}: expected a rank from 0 to ${ranks - 1}, got ${neighbors[e]}`,
          { rank: r, slot: e - start[r] },
        )
}

function checkWeights(side: string, edges: number, weights: Float64Array | null): void {
  if (weights === null) return
  if (weights.length !== edges) fail(`expected ${edges} ${side}-edge weights, got ${weights.length}`)
  const bad = weights.findIndex(Number.isNaN)
  if (bad >= 0) fail(`weight of ${side}-edge ${bad}: expected a number, got NaN`)
}

/**
 * Compares every rank's sources as the senders list them (ascending by construction) with its own list,
 * sorted.
 */
function checkMultiplicities({ ranks, outStart, outRank, inStart, inRank }: ProcessTopology): void {
  const { start, rank: sources } = transposeRows(ranks, { start: outStart, rank: outRank })
  for (let q = 0; q < ranks; q++) {
    const named = sources.subarray(start[q], start[q + 1])
    const listed = inRank.slice(inStart[q], inStart[q + 1]).sort()
    const edge = oneSidedEdge(named, listed)
    if (edge !== null) throw endsDiffer(edge, q)
  }
}

function checkCartLists({ ranks, cart, outStart, outRank, inStart, inRank }: ProcessTopology): void {
  if (cart === null) return
  checkCartShape(cart)
  if (sizeOf(cart) !== ranks)
    fail(`expected ${sizeOf(cart)} ranks for a grid of ${cart.dims.join('x')}, got ${ranks}`)
  for (let r = 0; r < ranks; r++) {
    const expected = cartNeighborSlots(cart, r).filter((neighbor) => neighbor !== procNull)
    for (const [side, start, neighbors] of [
      ['destinations', outStart, outRank],
      ['sources', inStart, inRank],
    ] as const) {
      const got = neighbors.subarray(start[r], start[r + 1])
      if (got.length !== expected.length || got.some((neighbor, i) => neighbor !== expected[i]))
        fail(`${side} of rank ${r} of the grid: expected [${expected.join(', ')}], got [${got.join(', ')}]`, {
          rank: r,
        })
    }
  }
}

function fail(message: string, details: ErrorDetails = {}): never {
  throw new RankweaveError('ERR_TOPOLOGY', message, { details })
}

/** An edge that its source and its destination list different numbers of times. */
interface OneSidedEdge {
  readonly source: number
  /** The number of times that the source lists the destination. */
  readonly sent: number
  readonly expected: number
}

/**
 * Returns the smallest source of one rank that lists an edge a different number of times than the rank does; null if
 * none does.
 *
 * @param named sources that list the rank as a destination, ascending
 * @param listed sources that the rank lists, ascending
 */
export function oneSidedEdge(named: Int32Array, listed: Int32Array): OneSidedEdge | null {
  let i = 0
  while (i < named.length && named[i] === listed[i]) i++
  if (i === named.length && i === listed.length) return null
  // The lists agree up to here, so the smaller of the two values occurs more often in its list.
  const source = Math.min(named[i] ?? listed[i], listed[i] ?? named[i])
  return { source, sent: timesIn(named, source), expected: timesIn(listed, source) }
}

/** Returns the ERR_TOPOLOGY error that names the edge. */
export function endsDiffer({ source, sent, expected }: OneSidedEdge, destination: number): RankweaveError {
  const bySource = [source, `${destination} as a destination`, sent] as const
  const byDestination = [destination, `${source} as a source`, expected] as const
  const message = sent === 0 ? listsDiffer(byDestination, bySource) : listsDiffer(bySource, byDestination)
  return new RankweaveError('ERR_TOPOLOGY', message, { details: { source, destination } })
}

type ListedTimes = readonly [rank: number, neighbor: string, times: number]

/** @param one a rank that lists the edge */
function listsDiffer([rank, neighbor, n]: ListedTimes, [otherRank, otherNeighbor, m]: ListedTimes): string {
  return m === 0
    ? `rank ${rank} lists ${neighbor}, but rank ${otherRank} does not list ${otherNeighbor}`
    : `rank ${rank} lists ${neighbor} ${times(n)}, but rank ${otherRank} lists ${otherNeighbor} ${times(m)}`
}

function timesIn(list: Int32Array, wanted: number): number {
  return list.reduce((sum, rank) => sum + (rank === wanted ? 1 : 0), 0)
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`
}
