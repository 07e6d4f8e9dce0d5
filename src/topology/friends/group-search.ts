import { CandidateRows } from './friend-rows.js'
import { ProgressMeter } from './grouping-options.js'

/**
 * Finds the best group around one rank: of all sets of `picks` candidates the one with the most columns in
 * common; of equal ones the lexicographically smallest. Exact branch and bound.
 */
export class GroupSearch {
  /** The caller fills level 0, by ascending rank. */
  readonly rows: CandidateRows
  /** The ranks of the last answer, ascending. Length `picks`. */
  readonly found: Int32Array
  readonly #order: Float64Array[]
  readonly #meter: ProgressMeter
  #best = 0
  #atMost = 0

  constructor(picks: number, meter = new ProgressMeter()) {
    this.#meter = meter
    this.rows = new CandidateRows(picks)
    this.found = new Int32Array(picks)
    this.#order = this.rows.levels.map(() => new Float64Array(0))
  }

  /**
   * Returns the weight of the best group if it is more than `floor`, else 0.
   *
   * @param atMost a weight that no group exceeds
   */
  search(floor: number, atMost: number): number {
    const picks = this.found.length
    this.#meter.searches++
    this.#best = floor
    this.#atMost = atMost
    if (this.rows.levels[0].count < picks) return 0
    this.#heaviest(0, picks)
    if (this.#best === floor) return 0
    this.#first(0, picks, this.#best)
    return this.#best
  }

  /** Raises `best` to the largest weight of a group with `picks` more members from this level. */
  #heaviest(depth: number, picks: number): void {
    const { rows } = this
    const { count, size, words } = rows.levels[depth]
    if (picks === 1) {
      for (let i = 0; i < count; i++) if (size[i] > this.#best) this.#best = size[i]
      return
    }
    const order = this.#bySizeDescending(depth)
    for (let i = 0; i + picks <= count; i++) {
      // A group that starts here has a member no larger than the (i + picks - 1)-th.
      if (size[order[i + picks - 1]] <= this.#best || this.#best >= this.#atMost) return
      const a = order[i]
      this.#meter.work((count - i) * words)
      if (picks > 2) rows.choose(depth, a)
      for (let j = i + 1; j < count; j++) {
        const b = order[j]
        if (size[b] <= this.#best) break
        if (picks > 2) {
          rows.addBelow(depth, a, b, this.#best)
        } else {
          const weight = rows.common(depth, a, b)
          if (weight > this.#best) this.#best = weight
        }
      }
      if (picks > 2 && rows.levels[depth + 1].count >= picks - 1) this.#heaviest(depth + 1, picks - 1)
    }
  }

  /** Finds the lexicographically first group of weight `target`, which no group exceeds. */
  #first(depth: number, picks: number, target: number): boolean {
    const { rows } = this
    const { count, rank, size, words } = rows.levels[depth]
    const place = this.found.length - picks
    for (let i = 0; i + picks <= count; i++) {
      if (size[i] < target) continue
      this.found[place] = rank[i]
      if (picks === 1) return true
      this.#meter.work((count - i) * words)
      if (picks > 2) rows.choose(depth, i)
      for (let j = i + 1; j < count; j++) {
        if (size[j] < target) continue
        if (picks > 2) {
          rows.addBelow(depth, i, j, target - 1)
        } else if (rows.common(depth, i, j) === target) {
          this.found[place + 1] = rank[j]
          return true
        }
      }
      if (picks > 2 && rows.levels[depth + 1].count >= picks - 1) {
        if (this.#first(depth + 1, picks - 1, target)) return true
      }
    }
    return false
  }

  /** Indices of a level's candidates, largest first. Valid until the level is filled again. */
  #bySizeDescending(depth: number): Float64Array {
    const { count, size } = this.rows.levels[depth]
    if (this.#order[depth].length < count) this.#order[depth] = new Float64Array(count * 2)
    const order = this.#order[depth]
    if (count <= fewCandidates) {
      for (let i = 0; i < count; i++) {
        let at = i
        for (; at > 0 && size[order[at - 1]] < size[i]; at--) order[at] = order[at - 1]
        order[at] = i
      }
      return order
    }
    // Size and index in one number: exact below 2^53, and sorted without a comparator.
    for (let i = 0; i < count; i++) order[i] = -size[i] * count + i
    order.subarray(0, count).sort()
    for (let i = 0; i < count; i++) order[i] -= Math.floor(order[i] / count) * count
    return order
  }
}

/** Insertion sort is faster than the library's sort for at most so many candidates. */
const fewCandidates = 40
