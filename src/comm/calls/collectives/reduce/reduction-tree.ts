import { indexIn } from '../../../../base/search.js'

/**
 * The one order of combination: a binary tree over ranks 0 to n - 1 whose node (l, i) covers the ranks
 * `[i * 2^l, (i + 1) * 2^l)` below n. Its value is `left op right` of its two halves, or that of the left half where
 * the right one is empty. The tree depends on n alone, so results have the same bits on every layout.
 *
 * A node whose ranks are consecutive on one process is combined there in memory; the largest of these are the
 * **pieces**. The nodes above span several processes; the process of a node's first rank owns it and computes it, and
 * values of right halves are sent to it. This is one process's part of the tree, as arrays. A **slot** numbers the
 * values that a process computes: first its pieces, then its nodes, each ascending by (level, position).
 */
export interface TreePlan {
  readonly pieces: number
  /** Local index of the first rank of a piece, and its number of ranks. */
  readonly pieceLocal: Int32Array
  readonly pieceRanks: Int32Array
  readonly nodes: number
  /** Slot of the left half of every node, which is always mine. */
  readonly left: Int32Array
  /** Slot of the right half, `nothing` where empty, `~process index` of its owner if it is not mine. */
  readonly right: Int32Array
  /** 1 if a right half of another process is a piece there, 0 if it is a node. */
  readonly rightIsPiece: Uint8Array
  /** For every slot: process index of the owner of the node it is the right half of, or -1 if that is me. */
  readonly owner: Int32Array
  /** For every slot: 1 if it starts at rank 0, so no rank precedes it. */
  readonly isFirst: Uint8Array
}

/**
 * A {@link TreePlan} before its process has looked up any other: what follows from the number of ranks and the ranks
 * hosted here.
 */
export interface TreeShape extends Omit<TreePlan, 'rightIsPiece'> {
  /** `~first rank` of a right half that is not mine. */
  readonly right: Int32Array
  /** First rank of the node that a slot is the right half of, where that node is not mine; else -1. */
  readonly owner: Int32Array
  /** Rank after the last of a right half that is not mine. */
  readonly rightEnd: Int32Array
  /** Slots whose value is sent to another process, ascending by (level, position). */
  readonly sent: Int32Array
}

/** `right` of a node whose right half is empty. */
export const nothing = 0x7fffffff

/** Where ranks are. */
export interface RankLocations {
  /** Index of the process that hosts a rank. */
  processOf(rank: number): number
  /** Rank after the run of consecutive ranks on one process that a rank is in. */
  endOfRun(rank: number): number
}

/** The plan of a process that knows the location of every rank. */
export function treePlan(shape: TreeShape, { processOf, endOfRun }: RankLocations): TreePlan {
  const rightIsPiece = Uint8Array.from(shape.right, (right, node) =>
    right < 0 && shape.rightEnd[node]! <= endOfRun(~right) ? 1 : 0,
  )
  return placedTree(shape, processOf, rightIsPiece)
}

/** @param processOf index of the process that hosts a rank of another process that the shape names */
export function placedTree(
  { rightEnd: _, sent: __, ...shape }: TreeShape,
  processOf: (rank: number) => number,
  rightIsPiece: Uint8Array,
): TreePlan {
  return {
    ...shape,
    right: shape.right.map((right) => (right < 0 ? ~processOf(~right) : right)),
    owner: shape.owner.map((rank) => (rank < 0 ? -1 : processOf(rank))),
    rightIsPiece,
  }
}

/** O(runs here * lg ranks) time; memory O(own slots). */
export function treeShape(ranks: number, localRanks: Int32Array): TreeShape {
  return new Planner(ranks, localRanks).shape()
}

class Planner {
  readonly #ranks: number
  readonly #localRanks: Int32Array
  readonly #pieceLocal: number[] = []
  readonly #pieceRanks: number[] = []
  readonly #pieceOwner: number[] = []
  readonly #pieceIsFirst: number[] = []
  readonly #left: number[] = []
  readonly #right: number[] = []
  readonly #rightEnd: number[] = []
  readonly #nodeOwner: number[] = []
  readonly #nodeIsFirst: number[] = []
  /** Slots as they were found: ascending by (level, position). */
  readonly #sent: number[] = []

  constructor(ranks: number, localRanks: Int32Array) {
    this.#ranks = ranks
    this.#localRanks = localRanks
  }

  shape(): TreeShape {
    // Nodes of several runs that concern me begin, or have their right half begin, in a run of mine: they contain its
    // start or its end.
    const boundaries = this.#boundaries()
    if (boundaries.length === 0) this.#piece(0, this.#ranks, -1)
    // Slots of my nodes of the level below, by position. Nodes are numbered from `firstNode` until all pieces are known.
    let below = new Map<number, number>()
    for (let size = 2; boundaries.length > 0 && size < 2 * this.#ranks; size *= 2) {
      const here = new Map<number, number>()
      let last = -1
      for (const boundary of boundaries) {
        const position = Math.floor(boundary / size)
        if (boundary % size === 0 || position === last) continue
        last = position
        this.#node(position, size, below, here)
      }
      below = here
    }
    const pieces = this.#pieceLocal.length
    const slotOf = (reference: number) =>
      reference >= firstNode && reference !== nothing ? reference - firstNode + pieces : reference
    return {
      pieces,
      pieceLocal: Int32Array.from(this.#pieceLocal),
      pieceRanks: Int32Array.from(this.#pieceRanks),
      nodes: this.#left.length,
      left: Int32Array.from(this.#left, slotOf),
      right: Int32Array.from(this.#right, slotOf),
      rightEnd: Int32Array.from(this.#rightEnd),
      owner: Int32Array.from([...this.#pieceOwner, ...this.#nodeOwner]),
      isFirst: Uint8Array.from([...this.#pieceIsFirst, ...this.#nodeIsFirst]),
      sent: Int32Array.from(this.#sent, slotOf),
    }
  }

  /** Where runs of consecutive ranks hosted here begin and end, ascending; not 0 and not the number of ranks. */
  #boundaries(): number[] {
    const ranks = this.#localRanks
    const boundaries: number[] = []
    let before = 0
    for (const rank of ranks) {
      if (rank !== before) {
        if (before > 0) boundaries.push(before)
        boundaries.push(rank)
      }
      before = rank + 1
    }
    if (before < this.#ranks) boundaries.push(before)
    return boundaries
  }

  /** A node of several runs: records which of it and its halves is mine. */
  #node(position: number, size: number, below: Map<number, number>, here: Map<number, number>): void {
    const first = position * size
    const middle = first + size / 2
    const end = Math.min(first + size, this.#ranks)
    const isMine = this.#isMine(first)
    const left = isMine ? this.#half(first, Math.min(middle, end), position * 2, -1, below) : nothing
    let right = nothing
    let rightEnd = 0
    if (middle < end) {
      if (this.#isMine(middle)) {
        right = this.#half(middle, end, position * 2 + 1, isMine ? -1 : first, below)
        if (!isMine) this.#sent.push(right)
      } else if (isMine) {
        right = ~middle
        rightEnd = end
      }
    }
    if (!isMine) return
    here.set(position, firstNode + this.#left.length)
    this.#left.push(left)
    this.#right.push(right)
    this.#rightEnd.push(rightEnd)
    this.#nodeOwner.push(-1)
    this.#nodeIsFirst.push(first === 0 ? 1 : 0)
  }

  /** My slot for a half: a node of the level below, or a new piece. */
  #half(first: number, end: number, position: number, owner: number, below: Map<number, number>): number {
    const node = below.get(position)
    if (node === undefined) return this.#piece(first, end, owner)
    this.#nodeOwner[node - firstNode] = owner
    return node
  }

  #piece(first: number, end: number, owner: number): number {
    this.#pieceLocal.push(indexIn(this.#localRanks, first))
    this.#pieceRanks.push(end - first)
    this.#pieceOwner.push(owner)
    this.#pieceIsFirst.push(first === 0 ? 1 : 0)
    return this.#pieceLocal.length - 1
  }

  #isMine(rank: number): boolean {
    return indexIn(this.#localRanks, rank) >= 0
  }
}

/** While planning, nodes are numbered from here and pieces from 0. */
const firstNode = 2 ** 30
