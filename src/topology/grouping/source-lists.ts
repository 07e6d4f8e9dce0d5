import { addToList } from '../../base/maps.js'
import { indexIn } from '../../base/search.js'
import { type RankNeighbors, violation } from './grouping-messages.js'

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

export function areAscending(ranks: Int32Array): boolean {
  for (let i = 1; i < ranks.length; i++) if (ranks[i] <= ranks[i - 1]) return false
  return true
}
