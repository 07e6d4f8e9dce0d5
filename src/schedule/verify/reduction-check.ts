import type { Specification } from '../specification.js'
import { reached } from './describe-term.js'
import type { TermTable } from './term-table.js'

/**
 * The verdicts on whether a term is the reduction that a slot demands; `unordered` means that only the order of its
 * contributors differs.
 */
export const verdicts = { wrong: 0, unordered: 1, ordered: 2 } as const

/**
 * Compares terms with the reductions of a specification by their contributors, how often each occurs, and their order.
 *
 * A comparison takes O(1) if the contributors of both are consecutive ranks, counted cyclically: trees, chains, rings,
 * scans, exchanges at growing distances. Otherwise it takes O(demanded contributors) for every different pair of a term
 * and a reduction, because a term with another number of blocks is always wrong. If contributors may be repeated, it
 * takes O(combinations in the term).
 */
export class ReductionCheck {
  readonly #specification: Specification
  readonly #terms: TermTable
  /** The number of contributors of every reduction. */
  readonly #blocks: Int32Array
  readonly #part: Int32Array
  /** The first rank of the contributors, if they form an interval, counted cyclically. */
  readonly #first: Int32Array
  /** The length of that interval; 0 if they form none. */
  readonly #span: Int32Array
  /** The awaited contributions of every rank; all 0 between two checks. */
  readonly #awaited: Int32Array
  /** The last verdict on a combination that takes time, added to 4 times the number of its reduction. */
  readonly #last = new Map<number, number>()

  constructor(specification: Specification, terms: TermTable) {
    const { runStart } = specification.reductions
    const reductions = runStart.length - 1
    this.#specification = specification
    this.#terms = terms
    this.#blocks = new Int32Array(reductions)
    this.#part = new Int32Array(reductions)
    this.#first = new Int32Array(reductions)
    this.#span = new Int32Array(reductions)
    this.#awaited = new Int32Array(reductions > 0 ? specification.ranks : 0)
    for (let reduction = 0; reduction < reductions; reduction++) this.#describe(reduction)
  }

  partOf(reduction: number): number {
    return this.#part[reduction]
  }

  /** Returns the first of its contributors if these are consecutive ranks, counted cyclically. */
  firstOf(reduction: number): number {
    return this.#first[reduction]
  }

  /** Returns the number of contributors if these are consecutive ranks, counted cyclically; else 0. */
  spanOf(reduction: number): number {
    return this.#span[reduction]
  }

  /** @param term not unknown */
  verdict(term: number, reduction: number): number {
    const terms = this.#terms
    if (terms.partOf(term) !== this.#part[reduction]) return verdicts.wrong
    const [span, demanded] = [terms.spanOf(term), this.#span[reduction]]
    if (span === 0 || demanded === 0) return this.#byBlocks(term, reduction)
    const isFirst = terms.firstOf(term) === this.#first[reduction]
    if (span !== demanded || !(isFirst || span === this.#specification.ranks)) return verdicts.wrong
    return isFirst && terms.isAscending(term) ? verdicts.ordered : verdicts.unordered
  }

  /** Visits the blocks that a reduction combines, in their order. */
  forEachBlock(reduction: number, visit: (block: number) => void): void {
    const { runStart, first, count, stride } = this.#specification.reductions
    for (let run = runStart[reduction]; run < runStart[reduction + 1]; run++) {
      for (let n = 0; n < count[run]; n++) visit(first[run] + n * stride[run])
    }
  }

  #describe(reduction: number): void {
    const { parts } = this.#terms
    const { ranks, reductions } = this.#specification
    const { runStart, first, count, stride } = reductions
    const firstRun = runStart[reduction]
    this.#part[reduction] = parts.partOf(first[firstRun])
    this.#first[reduction] = parts.originOf(first[firstRun])
    let blocks = 0
    let isInterval = parts.perRank > 0
    for (let run = firstRun; run < runStart[reduction + 1]; run++) {
      const isConsecutive = count[run] === 1 || stride[run] === parts.perRank
      if (!isConsecutive || parts.originOf(first[run]) !== (this.#first[reduction] + blocks) % ranks)
        isInterval = false
      blocks += count[run]
    }
    this.#blocks[reduction] = blocks
    // Some ranks are repeated if there are more blocks than ranks.
    if (isInterval && blocks <= ranks) this.#span[reduction] = blocks
  }

  #byBlocks(term: number, reduction: number): number {
    const known = this.#last.get(term)
    if (known !== undefined && Math.floor(known / 4) === reduction) return known % 4
    let verdict: number = verdicts.wrong
    if (this.#terms.blocksIn(term) === this.#blocks[reduction]) verdict = this.#inSequence(term, reduction)
    else if (this.#specification.reductions.isIdempotent) verdict = this.#asSet(term, reduction)
    this.#last.set(term, reduction * 4 + verdict)
    return verdict
  }

  /** Compares a term that has the demanded number of blocks. */
  #inSequence(term: number, reduction: number): number {
    const terms = this.#terms
    const awaited = this.#awaited
    const demanded: number[] = []
    this.forEachBlock(reduction, (block) => {
      demanded.push(block)
      awaited[terms.parts.originOf(block)]++
    })
    let verdict: number = verdicts.ordered
    let at = 0
    const pending = [term]
    while (pending.length > 0) {
      const next = pending.pop()!
      if (next < 0) pending.push(terms.rightOf(next), terms.leftOf(next))
      else {
        if (next !== demanded[at++] && verdict === verdicts.ordered) verdict = verdicts.unordered
        if (--awaited[terms.parts.originOf(next)] < 0) verdict = verdicts.wrong
      }
    }
    awaited.fill(0)
    return verdict
  }

  /** Compares sets of contributors, each of which counts once. */
  #asSet(term: number, reduction: number): number {
    const terms = this.#terms
    const awaited = this.#awaited
    let missing = 0
    this.forEachBlock(reduction, (block) => {
      awaited[terms.parts.originOf(block)] = 1
      missing++
    })
    let isExtra = false
    for (const combination of reached(terms, term)) {
      for (const operand of [terms.leftOf(combination), terms.rightOf(combination)]) {
        if (operand < 0) continue
        const origin = terms.parts.originOf(operand)
        if (awaited[origin] === 1) missing--
        if (awaited[origin] === 0) isExtra = true
        else awaited[origin] = 2
      }
    }
    awaited.fill(0)
    return missing === 0 && !isExtra ? verdicts.unordered : verdicts.wrong
  }
}
