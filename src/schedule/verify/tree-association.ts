import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { Collective } from '../specification.js'
import { type Association, combined, hashOfAll, leaf } from './term-table.js'

/** The most participants: the ranks of the largest topology. */
const mostRanks = 2 ** 24

export interface TreeOptions {
  /**
   * The first rank of every participant, if participants are runs of consecutive ranks, and the number of ranks: length
   * `ranks + 1`, ascending. The first rank of a participant is its place in the tree. Default: one rank each.
   */
  readonly firstRank?: Int32Array
  /**
   * The collective. A `scan` or `exscan` has a result for every rank; the other reductions have one. Default
   * `allreduce`.
   */
  readonly collective?: Collective
}

const knownOptions: OptionTable<TreeOptions> = uncheckedOptions('firstRank', 'collective')

/**
 * Returns the association of the tree that `order: 'tree'` follows: its node (l, i) combines the nodes (l - 1, 2i) and
 * (l - 1, 2i + 1), which cover the ranks `[i * 2^l, (i + 1) * 2^l)`, or is the only one of them that has a rank.
 * Prefixes come down the tree: the prefix of a right half is that of the node, combined with its left half.
 *
 * A schedule whose `verify(schedule).association` equals it yields the same bits.
 *
 * @param ranks the number of participants of the schedule
 * @throws ERR_ARGUMENT for invalid participants or first ranks
 * @returns null if nothing is combined, as in an exscan of one rank
 */
export function treeAssociation(ranks: number, options: TreeOptions = {}): string | null {
  requireKnownOptions('treeAssociation', options, knownOptions)
  const { firstRank, collective = 'allreduce' } = options
  if (!Number.isInteger(ranks) || ranks < 1 || ranks > mostRanks)
    throw wrongValue('ERR_ARGUMENT', `treeAssociation: expected 1 to ${mostRanks} ranks`, ranks)
  if (firstRank !== undefined && !(firstRank instanceof Int32Array && firstRank.length === ranks + 1)) {
    const expected = `treeAssociation: expected firstRank as an Int32Array of length ${ranks + 1}`
    throw wrongValue('ERR_ARGUMENT', expected, firstRank)
  }
  if (firstRank?.some((first, i) => i > 0 && first <= firstRank[i - 1]))
    throw new RankweaveError('ERR_ARGUMENT', 'treeAssociation: expected firstRank to ascend')
  const tree = new Tree(ranks, firstRank)
  if (collective === 'exscan') return hashOfAll(tree.prefixes().slice(1) as Association[])
  if (collective !== 'scan') return hashOfAll([tree.total()])
  return hashOfAll(
    tree.prefixes().map((before, rank) => (before === null ? leaf(rank) : combined(before, leaf(rank)))),
  )
}

class Tree {
  readonly #ranks: number
  readonly #firstRank: Int32Array | undefined
  /** The number of ranks covered by the root: a power of two. */
  readonly #size: number

  constructor(ranks: number, firstRank: Int32Array | undefined) {
    this.#ranks = ranks
    this.#firstRank = firstRank
    this.#size = 2
    while (this.#size <= this.#positionOf(ranks - 1)) this.#size *= 2
  }

  total(): Association {
    return this.#node(0, this.#ranks, 0, this.#size)
  }

  /** Returns the association before every participant; null for the first. */
  prefixes(): (Association | null)[] {
    const all: (Association | null)[] = []
    const descend = (
      from: number,
      to: number,
      first: number,
      size: number,
      before: Association | null,
    ): void => {
      if (to - from === 1) {
        all[from] = before
        return
      }
      const half = size / 2
      const middle = this.#below(first + half, from, to)
      if (middle > from) descend(from, middle, first, half, before)
      if (middle === to) return
      const left = middle > from ? this.#node(from, middle, first, half) : null
      const beforeRight = left === null || before === null ? (left ?? before) : combined(before, left)
      descend(middle, to, first + half, half, beforeRight)
    }
    descend(0, this.#ranks, 0, this.#size, null)
    return all
  }

  /** Returns the node of a size whose first number is given: it has the participants from `from` to `to - 1`. */
  #node(from: number, to: number, first: number, size: number): Association {
    if (to - from === 1) return leaf(from)
    const half = size / 2
    const middle = this.#below(first + half, from, to)
    if (middle === from) return this.#node(from, to, first + half, half)
    if (middle === to) return this.#node(from, to, first, half)
    return combined(this.#node(from, middle, first, half), this.#node(middle, to, first + half, half))
  }

  /** Returns the first participant among those from `from` to `to - 1` that is not below a number; else `to`. */
  #below(number: number, from: number, to: number): number {
    let [low, high] = [from, to]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#positionOf(middle) < number) low = middle + 1
      else high = middle
    }
    return low
  }

  #positionOf(participant: number): number {
    return this.#firstRank?.[participant] ?? participant
  }
}
