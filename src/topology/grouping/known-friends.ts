import { ones } from '../../base/ascending-set.js'
import type { GroupSearch } from '../friends/group-search.js'

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
