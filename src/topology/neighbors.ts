import { wrongValue } from '../errors.js'
import { cartNeighborSlots, procNull } from './cart-shape.js'
import type { CompressedRows } from './compressed-rows.js'
import { type ProcessTopology, requireTopology } from './process-topology.js'

/** Returns the destinations of a rank in list order. A view: do not write to it. @throws ERR_RANK, ERR_TOPOLOGY */
export function outNeighbors(topology: ProcessTopology, rank: number): Int32Array {
  requireRank(topology, rank)
  const { outStart, outRank } = topology
  return outRank.subarray(outStart[rank], outStart[rank + 1])
}

/** Returns the sources of a rank in list order. A view: do not write to it. @throws ERR_RANK, ERR_TOPOLOGY */
export function inNeighbors(topology: ProcessTopology, rank: number): Int32Array {
  requireRank(topology, rank)
  const { inStart, inRank } = topology
  return inRank.subarray(inStart[rank], inStart[rank + 1])
}

function requireRank(topology: ProcessTopology, rank: number): void {
  requireTopology(topology)
  if (Number.isInteger(rank) && rank >= 0 && rank < topology.ranks) return
  throw wrongValue('ERR_RANK', `expected a rank from 0 to ${topology.ranks - 1}`, rank)
}

/** A set of ranks for every rank: rows ascend, without repetition. */
export type NeighborSets = CompressedRows

/** Returns the destinations of every rank without repetition and without itself, ascending. */
export function distinctOut(topology: ProcessTopology): NeighborSets {
  requireTopology(topology)
  const { ranks, outStart, outRank } = topology
  return distinct(ranks, outStart, outRank)
}

/** Returns the sources of every rank without repetition and without itself, ascending. */
export function distinctIn(topology: ProcessTopology): NeighborSets {
  requireTopology(topology)
  const { ranks, inStart, inRank } = topology
  return distinct(ranks, inStart, inRank)
}

function distinct(ranks: number, listStart: Int32Array, list: Int32Array): NeighborSets {
  const start = new Int32Array(ranks + 1)
  const rank = new Int32Array(list.length)
  let size = 0
  for (let r = 0; r < ranks; r++) {
    const first = listStart[r]
    const end = listStart[r + 1]
    // Most rows of large topologies are empty or ascend already; only the others need a copy and a sort.
    const sorted = ascends(list, first, end) ? list : list.slice(first, end).sort()
    const shift = sorted === list ? 0 : first
    let previous = -1
    for (let e = first - shift; e < end - shift; e++) {
      const neighbor = sorted[e]
      if (neighbor !== previous && neighbor !== r) rank[size++] = neighbor
      previous = neighbor
    }
    start[r + 1] = size
  }
  return { start, rank: rank.slice(0, size) }
}

function ascends(list: Int32Array, first: number, end: number): boolean {
  for (let e = first + 1; e < end; e++) if (list[e] < list[e - 1]) return false
  return true
}

export function largestRow({ start }: NeighborSets): number {
  let largest = 0
  for (let r = 0; r + 1 < start.length; r++) largest = Math.max(largest, start[r + 1] - start[r])
  return largest
}

/** Returns the topology with every edge reversed: destinations become sources. Shares the arrays. */
export function transposeTopology(topology: ProcessTopology): ProcessTopology {
  requireTopology(topology)
  return {
    ...topology,
    outStart: topology.inStart,
    outRank: topology.inRank,
    outWeight: topology.inWeight,
    inStart: topology.outStart,
    inRank: topology.outRank,
    inWeight: topology.outWeight,
  }
}

/**
 * Pairs both ends of each edge: returns for every position in `outRank` the position in `inRank` of the same edge, by
 * the topology's `pairing`. A permutation of 0 to edges-1.
 *
 * @see MPI-4.1 §8.6
 */
export function pairEdges(topology: ProcessTopology): Int32Array {
  requireTopology(topology)
  return topology.pairing === 'cartesian' ? pairBySlot(topology) : pairByOccurrence(topology)
}

function pairByOccurrence({ ranks, outRank, inStart, inRank }: ProcessTopology): Int32Array {
  const arrival = new Int32Array(outRank.length)
  // In-edges of every rank by source, stable: the order in which walking the out-edges by source reaches
  // them.
  const bySource = new Int32Array(inRank.length)
  for (let q = 0; q < ranks; q++) {
    const row = Array.from({ length: inStart[q + 1] - inStart[q] }, (_, i) => inStart[q] + i)
    bySource.set(
      row.sort((a, b) => inRank[a] - inRank[b]),
      inStart[q],
    )
  }
  const next = inStart.slice(0, ranks)
  for (let e = 0; e < outRank.length; e++) arrival[e] = bySource[next[outRank[e]]++]
  return arrival
}

function pairBySlot({ ranks, cart, outStart, inStart }: ProcessTopology): Int32Array {
  const arrival = new Int32Array(outStart[ranks])
  if (cart === null) return arrival
  for (let p = 0; p < ranks; p++) {
    let e = outStart[p]
    for (const [slot, q] of cartNeighborSlots(cart, p).entries()) {
      if (q === procNull) continue
      const before = cartNeighborSlots(cart, q).subarray(0, slot ^ 1)
      arrival[e++] = inStart[q] + before.filter((neighbor) => neighbor !== procNull).length
    }
  }
  return arrival
}
