import { GrowingInt32Array } from '../../base/growing-array.js'
import { indexIn, rangeAt } from '../../base/search.js'
import { treePath } from '../../collective/patterns/rank-tree.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { type Participants, withOwn } from './participants.js'

/**
 * Returns the participants of an algorithm in which each exchanges messages only with those on its path of the tree
 * over ranks. They are the pieces of this process and, for the ranks of other processes, the largest nodes of the tree
 * between them. About others it needs to know only where the halves on the paths of its pieces begin. These are O(ranks
 * here * lg ranks) addresses, looked up in one batch, not the whole table. Processes number the participants
 * differently, but in the same order.
 *
 * @param root rank that owns every node that it is in
 */
export function pathParticipants(state: CommContext, root: number): Participants | Promise<Participants> {
  const { size, localRanks, processIndex, processes } = state
  const firstRank = nodesAround(size, localRanks, root)
  const ranks = firstRank.length - 1
  // Participants that are never addressed count as another process's.
  const process = new Int32Array(ranks).fill(processIndex === 0 ? processes.count : 0)
  const shape = { ranks, firstRank }
  const rootIndex = rangeAt(firstRank, root)
  const peers = new Set<number>()
  for (let participant = 0; participant < ranks; participant++) {
    if (indexIn(localRanks, firstRank[participant]) < 0) continue
    process[participant] = processIndex
    for (const { left, right } of treePath(shape, participant, rootIndex)) {
      peers.add(left === participant ? right : left)
    }
  }
  const remote = Int32Array.from(peers).filter((peer) => process[peer] !== processIndex)
  const done = (hosts: ArrayLike<number>): Participants => {
    for (let i = 0; i < remote.length; i++) process[remote[i]] = hosts[i]
    return withOwn(state, 'path', process, firstRank)
  }
  const first = remote.map((peer) => firstRank[peer])
  if (!state.isPlaced) return state.processesOfRanks(first).then(done)
  return done(first.map((rank) => state.processOfRank(rank) as number))
}

/**
 * Returns the first ranks of nodes of the tree, then the number of ranks. The nodes are the largest that are
 * consecutive ranks here, or lie between them and, on one side, the root.
 */
function nodesAround(size: number, localRanks: Int32Array, root: number): Int32Array {
  const firsts = new GrowingInt32Array()
  const between = (first: number, end: number): void => {
    for (let at = first; at < end; ) {
      let ranks = 1
      while (at % (2 * ranks) === 0 && ranks < size && Math.min(at + 2 * ranks, size) <= end) ranks *= 2
      firsts.push(at)
      at += ranks
    }
  }
  const others = (first: number, end: number): void => {
    const cut = first < root && root < end ? root : first
    between(first, cut)
    between(cut, end)
  }
  let before = 0
  for (let i = 0; i < localRanks.length; ) {
    const first = localRanks[i]
    let end = first
    while (i < localRanks.length && localRanks[i] === end) {
      i++
      end++
    }
    others(before, first)
    between(first, end)
    before = end
  }
  others(before, size)
  firsts.push(size)
  return firsts.toArray()
}
