import { rangeAt } from '../../base/search.js'
import { partialResult } from '../../schedule/ir.js'
import type { Shape } from './algorithm.js'
import { ceilLog2, combineReceived, type RankOperations } from './rank-operations.js'

/**
 * The library's one order of combination: a binary tree over ranks 0 to n - 1 whose node (l, i) covers the ranks `[i *
 * 2^l, (i + 1) * 2^l)` below n; its value is `left op right` of its two halves, or that of the left half if the right
 * one is empty. A participant that is a run of ranks contributes their value, so it must be a node itself.
 *
 * Every half belongs to one of its participants, its owner: the root if it is among them, else the first.
 */
interface TreeNode {
  /** The level. Nodes of one level are combined in the same phase; those below come first. */
  readonly level: number
  /** The owner of the left half. */
  readonly left: number
  /** The owner of the right half. */
  readonly right: number
  /** The owner of the node, one of these two. */
  readonly owner: number
  /** Whether no rank precedes those of the node, and whether none follows them. */
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Returns the number of levels of the tree; those of nodes are below it. */
export function treeLevels(shape: Shape): number {
  return ceilLog2(rankCount(shape))
}

/**
 * Lists the nodes of which a participant owns a half, from the lowest on. It owns all of them except perhaps the last.
 */
export function treePath(shape: Shape, participant: number, root = 0): readonly TreeNode[] {
  const path: TreeNode[] = []
  const ranks = rankCount(shape)
  const own = firstOf(shape, participant)
  let first = 0
  for (let level = treeLevels(shape) - 1; level >= 0; level--) {
    const middle = first + 2 ** level
    if (firstOf(shape, participant + 1) >= Math.min(middle + 2 ** level, ranks) && own === first) break
    if (middle >= ranks) continue
    const left = ownerOf(shape, first, middle, root)
    const right = ownerOf(shape, middle, Math.min(middle + 2 ** level, ranks), root)
    const owner = right === root ? root : left
    if (left === participant || right === participant) {
      const isLast = middle + 2 ** level >= ranks
      path.push({ level, left, right, owner, isFirst: first === 0, isLast })
    }
    if (own >= middle) first = middle
  }
  return path.reverse()
}

/**
 * Combines one value of every participant in the order of the tree.
 *
 * @param places the place of every participant's value; at least two
 */
export function combineTree(
  operations: RankOperations,
  shape: Shape,
  rank: number,
  phase: number,
  part: number,
  places: readonly number[],
  to: number,
): void {
  const ranks = rankCount(shape)
  const visit = (first: number, level: number, into: number | undefined): number => {
    const participant = participantOf(shape, first)
    if (firstOf(shape, participant + 1) >= Math.min(first + 2 ** level, ranks)) return places[participant]
    const middle = first + 2 ** (level - 1)
    if (middle >= ranks) return visit(first, level - 1, into)
    const left = visit(first, level - 1, undefined)
    const right = visit(middle, level - 1, undefined)
    const result = into ?? operations.stage(rank)
    operations.combine(rank, phase, part, left, right, result)
    return result
  }
  visit(0, treeLevels(shape), to)
}

/**
 * Returns why the tree cannot be followed, or null. The ranks of a participant have a single value only if they are a
 * node.
 */
export function refusesPieces({ ranks, firstRank }: Shape): string | null {
  if (firstRank === undefined) return null
  for (let participant = 0; participant < ranks; participant++) {
    const [first, end] = [firstRank[participant], firstRank[participant + 1]]
    const size = 2 ** ceilLog2(end - first)
    if (first % size === 0 && (end === first + size || participant === ranks - 1)) continue
    return `ranks ${first} to ${end - 1} of participant ${participant} are not a node of the tree over ranks`
  }
  return null
}

/**
 * Whether combining pairs as `foldedRanks` does, and then aligned groups of 2^k, follows the tree over ranks. It does
 * for 2^a - 2^b participants of the same 2^c ranks, of which the last may have fewer.
 */
export function foldsLikeTree({ ranks, firstRank }: Shape): boolean {
  const end = ranks + (ranks & -ranks)
  if ((end & (end - 1)) !== 0) return false
  if (firstRank === undefined || ranks === 1) return true
  const size = firstRank[1]
  return (
    2 ** ceilLog2(size) === size &&
    firstRank[ranks] <= ranks * size &&
    firstRank.every((first, participant) => participant === ranks || first === participant * size)
  )
}

function ownerOf(shape: Shape, start: number, end: number, root: number): number {
  const first = participantOf(shape, start)
  return first <= root && root <= participantOf(shape, end - 1) ? root : first
}

function rankCount({ ranks, firstRank }: Shape): number {
  return firstRank === undefined ? ranks : firstRank[ranks]
}

function firstOf({ firstRank }: Shape, participant: number): number {
  return firstRank === undefined ? participant : firstRank[participant]
}

function participantOf({ firstRank }: Shape, rank: number): number {
  return firstRank === undefined ? rank : rangeAt(firstRank, rank)
}

/**
 * The binary tree of broadcasts, by distance from the root. The ranks from 2^l - 1 on are on level l; such a rank has
 * the children 2^l and 2^(l + 1) further on. The odd ranks are below the root's first child, the even ones below its
 * second. Both subtrees have equally many ranks, or the first has one more.
 *
 * @see Pjesivac-Grbovic 2007 §4.1.1 (balanced binary tree)
 */
interface BinaryTreePlace {
  /** The level, which is also the phase after which a rank on it has its data. */
  readonly level: number
  /** The parent; -1 for the root. */
  readonly parent: number
  readonly children: readonly number[]
}

export function binaryTreePlace(ranks: number, vrank: number): BinaryTreePlace {
  const level = 31 - Math.clz32(vrank + 1)
  const above = 2 ** (level - 1)
  const firstAbove = above - 1
  const near = vrank - above
  // Two ranks could have it as a child; its parent is the one on the level above.
  const parent = vrank === 0 ? -1 : near >= firstAbove && near < 2 ** level - 1 ? near : vrank - 2 * above
  const children = [vrank + 2 ** level, vrank + 2 ** (level + 1)].filter((child) => child < ranks)
  return { level, parent, children }
}

/**
 * Emits the operations of a rank in the reduction of one part, of at least two ranks, up the tree: the node of level l
 * in phase `phase + l`. The total is stored in the root's slot for the part.
 */
export function reduceUpTree(
  operations: RankOperations,
  shape: Shape,
  rank: number,
  { part, phase, root }: { readonly part: number; readonly phase: number; readonly root: number },
): void {
  let held = part
  for (const { level, left, right, owner, isFirst, isLast } of treePath(shape, rank, root)) {
    if (owner !== rank) {
      operations.send(rank, phase + level, owner).add(partialResult(part), held)
      return
    }
    const other = left === rank ? right : left
    const to = isFirst && isLast ? operations.slot(rank, part) : undefined
    held = combineReceived(operations, rank, phase + level, other, { part, held, to })
  }
}

/**
 * Emits the operations of a rank that yield the combination of all ranks before it, of one part. Up the tree over ranks
 * a node learns the value of its left half. Down the tree its right half gets the combination of all before the node
 * with its left half. 2 ceil(lg P) phases; fewer than 2(P - 1) messages.
 *
 * @param to the place of the result; by default a temporary one
 * @returns the place of the result, -1 for rank 0, which no rank precedes
 */
export function prefixByTree(
  operations: RankOperations,
  shape: Shape,
  rank: number,
  { part, phase, to }: { readonly part: number; readonly phase: number; readonly to?: number },
): number {
  const path = treePath(shape, rank)
  const name = partialResult(part)
  // The values of the left halves of the path's nodes; only the left half of the last node may belong to another rank.
  const lefts: number[] = []
  let held = part
  for (const { level, left, right, isLast } of path) {
    if (left === rank) lefts.push(held)
    // A node that no rank follows needs to pass on no value.
    if (isLast) continue
    if (left !== rank) operations.send(rank, phase + level, left).add(name, held)
    else held = combineReceived(operations, rank, phase + level, right, { part, held })
  }
  const highest = phase + 2 * treeLevels(shape) - 1
  let before = -1
  for (let i = path.length - 1; i >= 0; i--) {
    const { level, left, right } = path[i]
    if (left !== rank) {
      before = to ?? operations.stage(rank)
      operations.receive(rank, highest - level, left).add(name, before)
      continue
    }
    const given = before < 0 ? lefts[i] : operations.stage(rank)
    if (before >= 0) operations.combine(rank, highest - level - 1, part, before, lefts[i], given)
    operations.send(rank, highest - level, right).add(name, given)
  }
  return before
}
