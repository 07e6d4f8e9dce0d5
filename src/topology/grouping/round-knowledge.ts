import { ones } from '../../base/ascending-set.js'
import { addToList } from '../../base/maps.js'
import { indexIn } from '../../base/search.js'
import type { GroupSearch } from '../friends/group-search.js'
import { type GroupingMessage, type RankNeighbors, violation } from './grouping-messages.js'

/**
 * The friends of one rank as the rank knows them: for each the destinations that both share and that the
 * groups of neither serve yet, as a row of bits over the rank's own destinations.
 */
export class KnownFriends {
  /** The ranks that are friends now, in the order of their labels. */
  rank: Int32Array
  count: number
  readonly #theta: number
  readonly #destinations: Int32Array
  readonly #words: number
  #bits: Int32Array
  #size: Int32Array
  /** The friends that are no longer available in this round. */
  readonly unavailable: Uint8Array
  readonly #indexOf = new Map<number, number>()

  /**
   * @param sharing for every possible friend, in the order of labels, the destinations it shares, as places
   * in `destinations`
   */
  constructor(
    destinations: Int32Array,
    sharing: readonly (readonly [rank: number, places: number[]])[],
    theta: number,
  ) {
    this.#theta = theta
    this.#destinations = destinations
    this.#words = (destinations.length + 31) >> 5
    this.count = sharing.length
    this.rank = Int32Array.from(sharing, ([rank]) => rank)
    this.#bits = new Int32Array(sharing.length * this.#words)
    this.#size = Int32Array.from(sharing, ([, places]) => places.length)
    this.unavailable = new Uint8Array(sharing.length)
    for (const [i, [rank, places]] of sharing.entries()) {
      this.#indexOf.set(rank, i)
      for (const place of places) this.#bits[i * this.#words + (place >> 5)] |= 1 << (place & 31)
    }
  }

  /** Returns the index of a friend, -1 for a rank that is not a friend, or no longer. */
  indexOf(rank: number): number {
    return this.#indexOf.get(rank) ?? -1
  }

  /** Finds the heaviest group of the rank with available friends: their indices, ascending; null if there is none. */
  best(search: GroupSearch): Int32Array | null {
    const words = this.#words
    const level = search.rows.open(this.count, words)
    for (let i = 0; i < this.count; i++) {
      if (this.unavailable[i] !== 0) continue
      for (let w = 0; w < words; w++) level.bits[level.count * words + w] = this.#bits[i * words + w]
      level.rank[level.count] = i
      level.size[level.count++] = this.#size[i]
    }
    return search.search(this.#theta, this.#destinations.length) === 0 ? null : search.found.slice()
  }

  /** Returns the destinations that the rank shares with all of these friends, ascending. */
  common(friends: Int32Array): Int32Array {
    const words = this.#words
    const found: number[] = []
    for (let w = 0; w < words; w++) {
      let mask = -1
      for (const i of friends) mask &= this.#bits[i * words + w]
      for (; mask !== 0; mask &= mask - 1) found.push(this.#destinations[w * 32 + lowestBit(mask)])
    }
    return Int32Array.from(found)
  }

  /** Whether a friend sends to a place of the rank's own destinations, as far as no group serves it. */
  shares(friend: number, place: number): boolean {
    return (this.#bits[friend * this.#words + (place >> 5)] & (1 << (place & 31))) !== 0
  }

  /** A friend no longer sends to these, given as places of the rank's own destinations. */
  removeFrom(friend: number, places: Iterable<number>): void {
    const row = friend * this.#words
    for (const place of places) this.#bits[row + (place >> 5)] &= ~(1 << (place & 31))
  }

  /** Begins a round: removes friends that left or share too little now; all others are available. */
  settle(hasLeft: (friend: number) => boolean): void {
    const words = this.#words
    let kept = 0
    this.#indexOf.clear()
    for (let i = 0; i < this.count; i++) {
      if (hasLeft(i)) continue
      let size = 0
      for (let w = 0; w < words; w++) size += ones(this.#bits[i * words + w])
      if (size <= this.#theta) continue
      this.#bits.copyWithin(kept * words, i * words, (i + 1) * words)
      this.rank[kept] = this.rank[i]
      this.#size[kept] = size
      this.#indexOf.set(this.rank[i], kept++)
    }
    this.count = kept
    this.unavailable.fill(0)
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}

/**
 * The sources of a rank's destinations, as the destinations list them. They show who shares which destinations with the
 * rank.
 */
export class SourceLists {
  readonly #view: RankNeighbors
  readonly #placeOf: ReadonlyMap<number, number>
  readonly #ranks: number
  /** By place among the destinations, the sources, and in aware mode behind them the node of each. */
  #lists: (Int32Array | undefined)[]
  #missing: number

  /** @param ranks of the topology */
  constructor(view: RankNeighbors, placeOf: ReadonlyMap<number, number>, ranks: number) {
    this.#view = view
    this.#placeOf = placeOf
    this.#ranks = ranks
    this.#lists = new Array(view.destinations.length)
    this.#missing = view.destinations.length
  }

  get areComplete(): boolean {
    return this.#missing === 0
  }

  has(place: number): boolean {
    return this.#lists[place] !== undefined
  }

  /** @throws ERR_PLAN_MISMATCH for a list that no destination of the rank can have, and a second one */
  add(from: number, list: Int32Array): void {
    const { rank, nodes } = this.#view
    const place = this.#placeOf.get(from)
    if (place === undefined) throw violation(rank, from, 'sources, expected of a destination,')
    if (this.#missing === 0 || this.#lists[place] !== undefined) throw violation(rank, from, 'a second list')
    const count = nodes === null ? list.length : list.length / 2
    const sources = list.subarray(0, count)
    const own = indexIn(sources, rank)
    const isSound =
      own >= 0 &&
      areAscending(sources) &&
      sources[0] >= 0 &&
      sources[count - 1] < this.#ranks &&
      indexIn(sources, from) < 0 &&
      (nodes === null || (list.length === 2 * count && list[count + own] === nodes.own))
    if (!isSound) throw violation(rank, from, 'sources that do not fit the rank')
    this.#lists[place] = list
    this.#missing--
  }

  /**
   * Returns for every rank (aware: of this node) that shares more than theta destinations their places. Forgets the
   * lists.
   */
  takeShared(theta: number): Map<number, number[]> {
    const { rank, nodes } = this.#view
    const shared = new Map<number, number[]>()
    for (const [place, list] of this.#lists.entries()) {
      const count = nodes === null ? list!.length : list!.length / 2
      for (let i = 0; i < count; i++) {
        const f = list![i]
        if (f === rank || (nodes !== null && list![count + i] !== nodes.own)) continue
        addToList(shared, f, place)
      }
    }
    this.#lists = []
    for (const [f, places] of shared) if (places.length <= theta) shared.delete(f)
    return shared
  }
}

function areAscending(ranks: Int32Array): boolean {
  for (let i = 1; i < ranks.length; i++) if (ranks[i] <= ranks[i - 1]) return false
  return true
}

/** The knowledge against which a rank checks a round's messages. */
interface RoundKnowledge {
  readonly rank: number
  readonly ranks: number
  readonly k: number
  readonly theta: number
  readonly friends: KnownFriends
}

/** Reports whether a message has exactly the fields that its kind has. */
export function isWellFormed({ kind, round, wave, ranks }: GroupingMessage): boolean {
  if (kind === 'sources' || kind === 'direct')
    return round === -1 && wave === 0 && (kind === 'sources' || ranks.length === 0)
  if (round < 0) return false
  if (kind === 'served') return wave === 0 && ranks.length === 1
  if (kind === 'bye') return wave === 0 && ranks.length === 0
  return wave >= 1
}

/**
 * Returns what is wrong with a friend's proposal, or null. A correct one names a group of the friend, this rank and
 * common friends with enough common destinations. It is no heavier than the one that the friend proposed before.
 *
 * @param before the members it proposed last in this round
 */
export function proposalFault(
  { rank, k, theta, friends }: RoundKnowledge,
  friend: number,
  members: Int32Array,
  before: Int32Array | undefined,
): string | null {
  const othersOf = (group: Int32Array): Int32Array =>
    group.filter((member) => member !== rank).map((member) => friends.indexOf(member))
  const others = othersOf(members)
  const isGroup = members.length === k && others.length === k - 1 && areAscending(members)
  if (!isGroup || !others.includes(friend) || others.includes(-1))
    return `a proposal of ranks ${members.join(', ')}`
  const weight = friends.common(others).length
  if (weight <= theta) return `a proposal of a group with ${weight} common destinations`
  if (before === undefined) return null
  const isRepeated = before.every((member, i) => member === members[i])
  return isRepeated || friends.common(othersOf(before)).length < weight ? 'proposals out of order' : null
}

/**
 * Returns what is wrong with the destinations that a friend's group serves from this round on, or null. The friend must
 * have sent to all of them until now.
 *
 * @param removed their ranks; empty without a group
 * @param places those of them that are destinations of this rank, and that no group of this rank serves
 */
export function removalFault(
  { ranks, theta, friends }: RoundKnowledge,
  friend: number,
  removed: Int32Array,
  places: Iterable<number>,
): string | null {
  if (removed.length === 0) return null
  const isSet = areAscending(removed) && removed[0] >= 0 && removed.at(-1)! < ranks
  if (removed.length <= theta || !isSet) return `the end of ${removed.length} destinations`
  for (const place of places) {
    if (!friends.shares(friend, place)) return 'the end of a destination that it does not serve'
  }
  return null
}
