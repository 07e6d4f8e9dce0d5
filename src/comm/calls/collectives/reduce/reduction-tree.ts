import { rangeAt } from '../../../../base/search.js'
import type { ProcessTable } from '../../../table/rank-table.js'

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

/** `right` of a node whose right half is empty. */
export const nothing = 0x7fffffff

/** The part of process `me`. O(runs * lg ranks) time; memory O(own slots). */
export function treePlan(table: ProcessTable, me: number): TreePlan {
  return new Planner(table, me).plan()
}

class Planner {
  readonly #table: ProcessTable
  readonly #me: number
  readonly #ranks: number
  /** Local index of the first rank of each run. */
  readonly #localStart: Int32Array
  readonly #pieceLocal: number[] = []
  readonly #pieceRanks: number[] = []
  readonly #pieceOwner: number[] = []
  readonly #pieceIsFirst: number[] = []
  readonly #left: number[] = []
  readonly #right: number[] = []
  readonly #rightIsPiece: number[] = []
  readonly #nodeOwner: number[] = []
  readonly #nodeIsFirst: number[] = []

  constructor(table: ProcessTable, me: number) {
    this.#table = table
    this.#me = me
    this.#ranks = table.runStart[table.runProcess.length]!
    this.#localStart = new Int32Array(table.runProcess.length)
    const taken = new Int32Array(table.count)
    for (let run = 0; run < table.runProcess.length; run++) {
      const process = table.runProcess[run]!
      this.#localStart[run] = taken[process]!
      taken[process]! += table.runStart[run + 1]! - table.runStart[run]!
    }
  }

  plan(): TreePlan {
    const { runStart, runProcess } = this.#table
    const boundaries = runStart.subarray(1, runProcess.length)
    if (boundaries.length === 0) this.#piece(0, this.#ranks, -1)
    // Slots of my nodes of the level below, by position. Nodes are numbered from 0 until all pieces are known.
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
      reference >= 0 && reference !== nothing && reference >= firstNode
        ? reference - firstNode + pieces
        : reference
    return {
      pieces,
      pieceLocal: Int32Array.from(this.#pieceLocal),
      pieceRanks: Int32Array.from(this.#pieceRanks),
      nodes: this.#left.length,
      left: Int32Array.from(this.#left, slotOf),
      right: Int32Array.from(this.#right, slotOf),
      rightIsPiece: Uint8Array.from(this.#rightIsPiece),
      owner: Int32Array.from([...this.#pieceOwner, ...this.#nodeOwner]),
      isFirst: Uint8Array.from([...this.#pieceIsFirst, ...this.#nodeIsFirst]),
    }
  }

  /** A node of several runs: records which of it and its halves is mine. */
  #node(position: number, size: number, below: Map<number, number>, here: Map<number, number>): void {
    const first = position * size
    const middle = first + size / 2
    const end = Math.min(first + size, this.#ranks)
    const owner = this.#processAt(first)
    const isMine = owner === this.#me
    const left = isMine ? this.#half(first, Math.min(middle, end), position * 2, -1, below) : nothing
    let right = nothing
    let rightIsPiece = 0
    if (middle < end) {
      const rightOwner = this.#processAt(middle)
      if (rightOwner === this.#me) {
        right = this.#half(middle, end, position * 2 + 1, isMine ? -1 : owner, below)
      } else if (isMine) {
        right = ~rightOwner
        rightIsPiece = this.#isWhole(middle, end) ? 1 : 0
      }
    }
    if (!isMine) return
    here.set(position, firstNode + this.#left.length)
    this.#left.push(left)
    this.#right.push(right)
    this.#rightIsPiece.push(rightIsPiece)
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
    const run = this.#runAt(first)
    this.#pieceLocal.push(this.#localStart[run]! + first - this.#table.runStart[run]!)
    this.#pieceRanks.push(end - first)
    this.#pieceOwner.push(owner)
    this.#pieceIsFirst.push(first === 0 ? 1 : 0)
    return this.#pieceLocal.length - 1
  }

  #isWhole(first: number, end: number): boolean {
    return end <= this.#table.runStart[this.#runAt(first) + 1]!
  }

  #processAt(rank: number): number {
    return this.#table.runProcess[this.#runAt(rank)]!
  }

  #runAt(rank: number): number {
    return rangeAt(this.#table.runStart, rank)
  }
}

/** While planning, nodes are numbered from here and pieces from 0. */
const firstNode = 2 ** 30
