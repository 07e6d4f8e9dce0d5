import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { requireFixed, type TypedArray } from '../../messages/datatype/elements.js'
import { PROC_NULL } from '../../messages/mailboxes/envelope.js'
import { type LocalRankTable, rankTable, stridedTable, worldRanksOf } from './rank-table.js'

/** Tells whether two tables hold the same world ranks, in the same order or at all. O(1) when both are strided. */
export function compareTables(a: LocalRankTable, b: LocalRankTable): 'ident' | 'similar' | 'unequal' {
  if (a === b) return 'ident'
  if (a.size !== b.size) return 'unequal'
  // Equal world ranks always give the same kind of table.
  if (a.kind === 'strided' && b.kind === 'strided') {
    if (a.size === 0 || (a.start === b.start && a.stride === b.stride)) return 'ident'
    return a.start === b.lookup(b.size - 1) && a.stride === -b.stride ? 'similar' : 'unequal'
  }
  let ident = true
  for (let rank = 0; rank < a.size && ident; rank++) ident = a.lookup(rank) === b.lookup(rank)
  if (ident) return 'ident'
  for (let rank = 0; rank < a.size; rank++) {
    if (b.find(a.lookup(rank)) < 0) return 'unequal'
  }
  return 'similar'
}

export type Comparison = 'ident' | 'congruent' | 'similar' | 'unequal'

/** The ranks `first`, `first + stride`, ... up to `last`, included if it is met; strides may be negative. */
export type RankRange = readonly [first: number, last: number, stride: number]

/**
 * An ordered set of world ranks, immutable (MPI-4.1 §7.3). Groups come from `communicator.group()`; set operations make
 * new ones, locally. Look-ups are async because a later version may store only part of a group (decision 9).
 */
export class Group {
  /** The group without ranks. MPI_GROUP_EMPTY. */
  static readonly EMPTY: Group = new Group(stridedTable(0))

  readonly #table: LocalRankTable

  private constructor(table: LocalRankTable) {
    this.#table = table
  }

  /** @internal Returns the group of a rank table's ranks. */
  static ofTable(table: LocalRankTable): Group {
    return table.size === 0 ? Group.EMPTY : new Group(table)
  }

  get size(): number {
    return this.#table.size
  }

  /** @internal */
  get table(): LocalRankTable {
    return this.#table
  }

  /** Returns the world rank of every rank of the group, in order: a fresh array. */
  async worldRanks(): Promise<Int32Array> {
    return worldRanksOf(this.#table).slice()
  }

  /**
   * Returns the rank in this group of a world rank, or null when it is not a member.
   *
   * @throws ERR_RANK unless it is an integer
   * @see MPI-4.1 §7.3.1 (MPI_Group_rank)
   */
  async rankOf(worldRank: number): Promise<number | null> {
    if (!Number.isInteger(worldRank)) throw wrongValue('ERR_RANK', 'rankOf: expected a world rank', worldRank)
    const rank = this.#table.find(worldRank)
    return rank < 0 ? null : rank
  }

  /**
   * Returns ranks of this group as ranks of `other`: null for those that are not members of it; PROC_NULL stays
   * PROC_NULL.
   *
   * @throws ERR_RANK for a rank that is not in this group
   * @see MPI-4.1 §7.3.1 (MPI_Group_translate_ranks)
   */
  async translate(ranks: ArrayLike<number>, other: Group): Promise<(number | null)[]> {
    requireGroup(other, 'translate')
    return Array.from(requireList(ranks, 'translate'), (rank) => {
      if (rank === PROC_NULL) return PROC_NULL
      const found = other.#table.find(this.#table.lookup(checkRank(rank, this.size, 'translate')))
      return found < 0 ? null : found
    })
  }

  /**
   * Compares two groups. `ident`: the same ranks in the same order; `similar`: in another order; otherwise `unequal`.
   *
   * @see MPI-4.1 §7.3.1
   */
  async compare(other: Group): Promise<Exclude<Comparison, 'congruent'>> {
    return compareTables(this.#table, requireGroup(other, 'compare').#table)
  }

  /**
   * Returns the ranks of this group, then those of `other` that are not in it.
   *
   * @see MPI-4.1 §7.3.2
   */
  union(other: Group): Group {
    const added = worldRanksOf(requireGroup(other, 'union').#table).filter(
      (worldRank) => this.#table.find(worldRank) < 0,
    )
    if (added.length === 0) return this
    const worldRanks = new Int32Array(this.size + added.length)
    worldRanks.set(worldRanksOf(this.#table))
    worldRanks.set(added, this.size)
    return Group.#of(worldRanks)
  }

  /**
   * Returns the ranks of this group that are also in `other`, in the order of this one.
   *
   * @see MPI-4.1 §7.3.2
   */
  intersection(other: Group): Group {
    requireGroup(other, 'intersection')
    return this.#filter((worldRank) => other.#table.find(worldRank) >= 0)
  }

  /**
   * Returns the ranks of this group that are not in `other`, in the order of this one.
   *
   * @see MPI-4.1 §7.3.2
   */
  difference(other: Group): Group {
    requireGroup(other, 'difference')
    return this.#filter((worldRank) => other.#table.find(worldRank) < 0)
  }

  /**
   * Returns the given ranks of this group, in the given order.
   *
   * @throws ERR_RANK for a rank out of range or given twice
   * @see MPI-4.1 §7.3.2
   */
  incl(ranks: ArrayLike<number>): Group {
    return Group.#of(Int32Array.from(checkDistinct(ranks, this.size, 'incl'), (r) => this.#table.lookup(r)))
  }

  /**
   * Returns this group without the given ranks, in its own order.
   *
   * @throws ERR_RANK for a rank out of range or given twice
   * @see MPI-4.1 §7.3.2
   */
  excl(ranks: ArrayLike<number>): Group {
    const dropped = new Uint8Array(this.size)
    for (const rank of checkDistinct(ranks, this.size, 'excl')) dropped[rank] = 1
    return this.#filter((_, rank) => dropped[rank] === 0)
  }

  /**
   * Returns `incl` of the ranks that the ranges name, in their order.
   *
   * @throws ERR_ARGUMENT for a stride of 0
   * @throws ERR_RANK for a rank out of range or named twice
   * @see MPI-4.1 §7.3.2
   */
  rangeIncl(ranges: readonly RankRange[]): Group {
    return this.incl(expandRanges(ranges, this.size))
  }

  /**
   * Returns `excl` of the ranks that the ranges name; errors as for `rangeIncl`.
   *
   * @see MPI-4.1 §7.3.2
   */
  rangeExcl(ranges: readonly RankRange[]): Group {
    return this.excl(expandRanges(ranges, this.size))
  }

  #filter(keep: (worldRank: number, rank: number) => boolean): Group {
    const kept = worldRanksOf(this.#table).filter(keep)
    return kept.length === this.size ? this : Group.#of(kept)
  }

  static #of(worldRanks: Int32Array): Group {
    return Group.ofTable(rankTable(worldRanks))
  }
}

function checkRank(rank: number, size: number, where: string): number {
  if (!Number.isInteger(rank) || rank < 0 || rank >= size) {
    const expected = `${where}: expected ranks 0 to ${size - 1} of the group`
    throw wrongValue('ERR_RANK', expected, rank, { rank, size })
  }
  return rank
}

function requireGroup(other: Group, where: string): Group {
  if (other instanceof Group) return other
  throw wrongValue('ERR_GROUP', `${where}: expected a group`, other)
}

/** Tells whether an array can be as long. */
const isLength = (length: unknown) => Number.isInteger(length) && (length as number) >>> 0 === length

/** @throws ERR_ARGUMENT */
export function requireList<T>(list: ArrayLike<T>, where: string): ArrayLike<T> {
  if (ArrayBuffer.isView(list)) requireFixed(list as unknown as TypedArray)
  if (typeof list === 'object' && list !== null && isLength(list.length)) return list
  throw wrongValue('ERR_ARGUMENT', `${where}: expected an array of ranks`, list)
}

function checkDistinct(ranks: ArrayLike<number>, size: number, where: string): number[] {
  requireList(ranks, where)
  const seen = new Set<number>()
  for (let i = 0; i < ranks.length; i++) {
    const rank = checkRank(ranks[i], size, where)
    if (seen.has(rank)) {
      const message = `${where}: expected distinct ranks, got ${rank} twice`
      throw new RankweaveError('ERR_RANK', message, { details: { rank, size } })
    }
    seen.add(rank)
  }
  return [...seen]
}

function expandRanges(ranges: readonly RankRange[], size: number): number[] {
  const ranks: number[] = []
  requireList(ranges, 'range')
  for (let i = 0; i < ranges.length; i++) {
    const range = ranges[i]
    if (!Array.isArray(range))
      throw wrongValue('ERR_ARGUMENT', 'range: expected [first, last, stride]', range)
    const [first, last, stride] = range as RankRange
    if (!Number.isInteger(stride) || stride === 0) {
      const message = `range [${[first, last, stride].map(shown).join(', ')}]: expected a stride other than 0`
      throw new RankweaveError('ERR_ARGUMENT', message)
    }
    // The ends are checked before the loop, so that an absurd range is not expanded first.
    checkRank(first, size, 'range')
    checkRank(last, size, 'range')
    for (let rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) ranks.push(rank)
  }
  return ranks
}
