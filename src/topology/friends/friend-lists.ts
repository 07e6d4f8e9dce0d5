import { GrowingInt32Array } from '../../base/growing-array.js'
import { addToList } from '../../base/maps.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { transposeRows } from '../compressed-rows.js'
import { largestRow, type NeighborSets } from '../neighbors.js'
import { countCommon, type DenseSets, denseSets } from './friend-rows.js'
import { largestGroup, ProgressMeter } from './grouping-options.js'

/** The friends of larger rank of every rank, ascending, and the number of out-neighbors that the two have in common. */
export interface FriendLists extends NeighborSets {
  /** The common out-neighbors, more than theta. Parallel to `rank`. */
  readonly weight: Int32Array
}

const noRanks = new Int32Array(0)

interface FriendListOptions {
  readonly maxPairs?: number
  readonly meter?: ProgressMeter
}

/**
 * Pairs of friends are in memory, 8 bytes each; the search for larger groups needs memory that grows with k.
 */
const friendLimits = { pairs: 2 ** 27, k: largestGroup } as const

/**
 * Finds friends: pairs of ranks with strictly more than `theta` common out-neighbors, each listed at its smaller rank.
 *
 * @param nodeOf node of every rank: only ranks of one node become friends. Null: any two ranks may.
 * @throws ERR_STRATEGY when there are more than `maxPairs` of them; the errors of `onProgress`
 * @see Ghazimirsaeed 2019 §7.3.1
 */
export function friendLists(
  out: NeighborSets,
  theta: number,
  nodeOf: Int32Array | null,
  { maxPairs = friendLimits.pairs, meter = new ProgressMeter() }: FriendListOptions = {},
): FriendLists {
  const ranks = out.start.length - 1
  if (largestRow(out) <= theta) return { start: new Int32Array(ranks + 1), rank: noRanks, weight: noRanks }
  const nodes = nodeOf === null ? null : ranksByNode(nodeOf, ranks)
  const dense = denseSets(out)
  const senders = transposeRows(ranks, out)
  const start = new Int32Array(ranks + 1)
  const rank = new GrowingInt32Array(Math.min(ranks, out.rank.length))
  const weight = new GrowingInt32Array(Math.min(ranks, out.rank.length))
  const common = new Int32Array(ranks)
  const isNeighbor = new Uint8Array(ranks)
  const touched = new Int32Array(ranks)

  for (let p = 0; p < ranks; p++) {
    if (out.start[p + 1] - out.start[p] > theta) {
      if (dense !== null) countByBitsets(p, dense)
      else if (nodes !== null && scanningNodeIsCheaper(p, nodes)) countByScanningNode(p, nodes)
      else countThroughNeighbors(p)
    }
    meter.work(dense === null ? 1 + out.start[p + 1] - out.start[p] : (ranks - p) * dense.words)
    start[p + 1] = rank.length
  }
  return { start, rank: rank.toArray(), weight: weight.toArray() }

  function countByBitsets(p: number, { bits, words }: DenseSets): void {
    for (let f = p + 1; f < ranks; f++) {
      if (nodeOf !== null && nodeOf[f] !== nodeOf[p]) continue
      addFriend(f, countCommon(bits, p * words, f * words, words))
    }
  }

  function addFriend(f: number, count: number): void {
    if (count <= theta) return
    if (rank.length === maxPairs) {
      const message = `expected at most ${maxPairs} pairs of friends, got more: raise theta, or restrict friends to one node (aware)`
      throw new RankweaveError('ERR_STRATEGY', message, { details: { theta, pairs: maxPairs } })
    }
    rank.push(f)
    weight.push(count)
  }

  function scanningNodeIsCheaper(p: number, byNode: RanksByNode): boolean {
    let throughNeighbors = 0
    for (let e = out.start[p]; e < out.start[p + 1]; e++) {
      const q = out.rank[e]
      throughNeighbors += senders.start[q + 1] - senders.start[q]
    }
    let throughNode = 0
    for (let i = byNode.position[p] + 1; i < byNode.end[p]; i++) {
      const f = byNode.order[i]
      throughNode += out.start[f + 1] - out.start[f]
    }
    return throughNode < throughNeighbors
  }

  function countByScanningNode(p: number, byNode: RanksByNode): void {
    for (let e = out.start[p]; e < out.start[p + 1]; e++) isNeighbor[out.rank[e]] = 1
    for (let i = byNode.position[p] + 1; i < byNode.end[p]; i++) {
      const f = byNode.order[i]
      let count = 0
      for (let e = out.start[f]; e < out.start[f + 1]; e++) count += isNeighbor[out.rank[e]]
      addFriend(f, count)
    }
    for (let e = out.start[p]; e < out.start[p + 1]; e++) isNeighbor[out.rank[e]] = 0
  }

  function countThroughNeighbors(p: number): void {
    let touchedCount = 0
    for (let e = out.start[p]; e < out.start[p + 1]; e++) {
      const q = out.rank[e]
      // Senders ascend, so those above p are the tail of q's row.
      for (let i = senders.start[q + 1] - 1; i >= senders.start[q]; i--) {
        const f = senders.rank[i]
        if (f <= p) break
        if (common[f]++ === 0) touched[touchedCount++] = f
      }
    }
    const found = touched.subarray(0, touchedCount).sort()
    for (const f of found) {
      if (nodeOf === null || nodeOf[f] === nodeOf[p]) addFriend(f, common[f])
      common[f] = 0
    }
  }
}

/**
 * Returns the ranks that can own a group of k, as its smallest member: those with at least k-1 friends of larger rank.
 *
 * @throws ERR_STRATEGY when there are any and k is too large to be searched
 */
export function ownersOf({ start }: FriendLists, k: number): Int32Array {
  const owners = new GrowingInt32Array()
  for (let p = 0; p + 1 < start.length; p++) if (start[p + 1] - start[p] >= k - 1) owners.push(p)
  if (owners.length > 0 && k > friendLimits.k)
    throw wrongValue('ERR_STRATEGY', `expected k of at most ${friendLimits.k}`, k)
  return owners.toArray()
}

interface RanksByNode {
  /** The ranks sorted by (node, rank). */
  readonly order: Int32Array
  /** The index of a rank in `order`, and where its node ends. */
  readonly position: Int32Array
  readonly end: Int32Array
}

function ranksByNode(nodeOf: Int32Array, ranks: number): RanksByNode {
  const members = new Map<number, number[]>()
  for (let p = 0; p < ranks; p++) {
    addToList(members, nodeOf[p], p)
  }
  const order = new Int32Array(ranks)
  const position = new Int32Array(ranks)
  const end = new Int32Array(ranks)
  let next = 0
  for (const list of members.values()) {
    const nodeEnd = next + list.length
    for (const p of list) {
      position[p] = next
      end[p] = nodeEnd
      order[next++] = p
    }
  }
  return { order, position, end }
}
