import { type Association, combined, formatHash, hashOfAll, leaf } from './association.js'
import type { ReductionCheck } from './reduction-check.js'
import type { TermTable } from './term-table.js'

/** The associations of the reductions in a schedule's slots, by the ranks that they combine. */
export class AssociationList {
  readonly #terms: TermTable
  readonly #check: ReductionCheck
  readonly #ranks: number
  readonly #known = new Map<number | string, Association>()
  readonly #demands = new Map<number, string>()
  #isOne = true

  constructor(terms: TermTable, check: ReductionCheck, ranks: number) {
    this.#terms = terms
    this.#check = check
    this.#ranks = ranks
  }

  /** Adds a slot that holds the demanded reduction. */
  add(term: number, reduction: number): void {
    const [low, high] = [this.#terms.hashOf(term, 0), this.#terms.hashOf(term, 1)]
    const demand = this.#demandOf(reduction)
    const known = this.#known.get(demand)
    if (known === undefined) this.#known.set(demand, { low, high })
    else if (known.low !== low || known.high !== high) this.#isOne = false
  }

  /**
   * Returns the hash of the association if all reductions are over the same ranks, or a hash of all if they are over
   * several sets. Returns null if there are none, or if two over the same ranks differ.
   */
  hash(): string | null {
    return this.#isOne ? hashOfAll(this.#known.values()) : null
  }

  /** Returns a key that is equal for reductions of any part over the same ranks in the same order. */
  #demandOf(reduction: number): number | string {
    const span = this.#check.spanOf(reduction)
    if (span > 0) return this.#check.firstOf(reduction) * (this.#ranks + 1) + span
    let demand = this.#demands.get(reduction)
    if (demand === undefined) {
      let sequence: Association = { low: 0, high: 0 }
      this.#check.forEachBlock(reduction, (block) => {
        sequence = combined(sequence, leaf(this.#terms.parts.originOf(block)))
      })
      demand = formatHash(sequence)
      this.#demands.set(reduction, demand)
    }
    return demand
  }
}
