import { type ErrorDetails, RankweaveError, wrongValue } from '../errors.js'
import { cartNeighborSlots, checkCartShape, procNull, sizeOf } from './cart-shape.js'
import { transposeRows } from './compressed-rows.js'
import { endsDiffer, oneSidedEdge } from './edge-ends.js'
import { checkTopologySize } from './limits.js'
import type { ProcessTopology } from './process-topology.js'

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
