import { inversePermutation } from '../../base/order.js'
import { below } from '../../base/random.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import type { NeighborSets } from '../../topology/neighbors.js'

export interface MappedTime {
  /** The time until the last rank is done. */
  readonly timeUs: number
  /** The time at which the rank on each slot is done. */
  readonly endUs: Float64Array
  /** The work of the simulation, in moved blocks. */
  readonly work: number
}

export interface TimedSlots extends MappedTime {
  /** The slot of every vertex. */
  readonly slotOf: Int32Array
}

/** The input of a search, and its limits. */
export interface TimedSearch {
  /** The vertices with which each vertex exchanges blocks. */
  readonly neighbors: readonly NeighborSets[]
  /** The node of every slot, ascending. */
  readonly nodeOfSlot: Int32Array
  /** The most simulations. */
  readonly swaps: number
  /** The work of all simulations; the last one may exceed it. */
  readonly work: number
  readonly next: () => number
}

/** A swap in so many exchanges any two vertices. */
const anySwaps = 8
/** The weight of the mean end of ranks, besides the last end: many mappings share the last end. */
const meanWeight = 0.1
/** The unsuccessful swaps per rank after which the search restarts near the best mapping. */
const patience = 4
/** The number of swaps with which it restarts. */
const kick = 3

/**
 * Exchanges the slots of two vertices if that does not take more simulated time. Vertices that are done late, and their
 * neighbors, are tried most: they go to nodes of neighbors. After too many unsuccessful swaps it restarts near the best
 * mapping (iterated local search, Lourenco, Martin and Stuetzle 2003). Never slower than the start. Deterministic: it
 * ends by a count of simulations, or of their work.
 *
 * @param time returns the time of a permutation
 */
export function improveByTimedSwaps<Start extends TimedSlots>(
  start: Start,
  time: (slotOf: Int32Array) => MappedTime,
  { neighbors, nodeOfSlot, swaps, work, next }: TimedSearch,
): { readonly best: Start | TimedSlots; readonly swaps: number } {
  const ranks = nodeOfSlot.length
  const proposed = swapProposals(neighbors, nodeOfSlot, next)
  let best: Start | TimedSlots = start
  let [current, proposal] = [best, proposed(start)]
  let [tried, spent, failed] = [0, 0, 0]
  while (ranks > 1 && tried < swaps && spent < work && best.timeUs > 0) {
    const isKicked = failed >= patience * ranks
    const slotOf = isKicked ? best.slotOf.slice() : swapped(current.slotOf, proposal())
    for (let i = 0; isKicked && i < kick; i++) exchange(slotOf, anyTwo(ranks, next))
    const found: TimedSlots = { slotOf, ...time(slotOf) }
    tried++
    spent += found.work
    const isSlower = energyOf(found) > energyOf(current)
    failed = isKicked || energyOf(found) < energyOf(current) ? 0 : failed + 1
    if (isSlower && !isKicked) continue
    current = found
    proposal = proposed(current)
    if (current.timeUs < best.timeUs) best = current
  }
  return { best, swaps: tried }
}

function energyOf({ timeUs, endUs }: MappedTime): number {
  return timeUs + (meanWeight * endUs.reduce((sum, us) => sum + us, 0)) / endUs.length
}

type Pair = readonly [v: number, w: number]

function exchange(slotOf: Int32Array, [v, w]: Pair): void {
  const slot = slotOf[v]
  slotOf[v] = slotOf[w]
  slotOf[w] = slot
}

function swapped(slotOf: Int32Array, pair: Pair): Int32Array {
  const other = slotOf.slice()
  exchange(other, pair)
  return other
}

function anyTwo(ranks: number, next: () => number): Pair {
  const v = below(next, ranks)
  return [v, (v + 1 + below(next, ranks - 1)) % ranks]
}

/** Draws two vertices of a mapping to be exchanged. */
function swapProposals(
  neighbors: readonly NeighborSets[],
  nodeOfSlot: Int32Array,
  next: () => number,
): (mapping: TimedSlots) => () => Pair {
  const ranks = nodeOfSlot.length
  const firstSlot = rowStarts((nodeOfSlot.at(-1) ?? -1) + 1, nodeOfSlot)
  /** Returns a random neighbor; the vertex itself if it has none. */
  const neighborOf = (v: number): number => {
    let at = below(next, Math.max(1, degreeOf(neighbors, v)))
    for (const { start, rank } of neighbors) {
      const own = start[v + 1] - start[v]
      if (at < own) return rank[start[v] + at]
      at -= own
    }
    return v
  }
  return ({ slotOf, endUs }) => {
    const vertexOf = inversePermutation(slotOf)
    const lateFirst = Int32Array.from(nodeOfSlot, (_, slot) => slot).sort(
      (a, b) => endUs[b] - endUs[a] || a - b,
    )
    return () => {
      if (below(next, anySwaps) === 0) return anyTwo(ranks, next)
      const share = next() / 2 ** 32
      const late = vertexOf[lateFirst[Math.floor(ranks * share * share * share)]]
      const v = below(next, 2) === 0 ? late : neighborOf(late)
      const node = nodeOfSlot[slotOf[neighborOf(v)]]
      const slot = firstSlot[node] + below(next, firstSlot[node + 1] - firstSlot[node])
      return nodeOfSlot[slotOf[v]] === node ? anyTwo(ranks, next) : [v, vertexOf[slot]]
    }
  }
}

function degreeOf(neighbors: readonly NeighborSets[], v: number): number {
  return neighbors.reduce((sum, { start }) => sum + start[v + 1] - start[v], 0)
}
