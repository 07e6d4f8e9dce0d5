import type { Schedule } from '../ir.js'
import type { Specification } from '../specification.js'
import { blocksOf, contributorsOf, describeTerm, formatRanks } from './describe-term.js'
import type { Contents } from './follow-terms.js'
import { ReductionCheck, verdicts } from './reduction-check.js'
import {
  type Association,
  combined,
  empty,
  formatHash,
  hashOfAll,
  leaf,
  type TermTable,
} from './term-table.js'
import type { ViolationList } from './violations.js'

interface SlotProof {
  /** Whether every known reduction combines its contributors in the demanded order, each once. */
  readonly isOrdered: boolean
  /** The {@link Verification.association} if no violation is found. */
  readonly association: string | null
}

/**
 * Checks that every slot ends with what the specification demands, and that no temporary place is written without use.
 *
 * @param ranks whose places are checked
 * @param demandsOrder whether a reduction in another order is a violation
 */
export function checkSlots(
  schedule: Schedule,
  { places, terms }: Contents,
  ranks: Iterable<number>,
  demandsOrder: boolean,
  found: ViolationList,
): SlotProof {
  const { specification } = schedule
  const { ownStart, slotStart, slotTerm } = specification
  const check = new ReductionCheck(specification, terms)
  const associations = new AssociationList(terms, check, specification.ranks)
  let isOrdered = true
  for (const rank of ranks) {
    const firstSlot = places.start[rank] + ownStart[rank + 1] - ownStart[rank]
    const slots = slotStart[rank + 1] - slotStart[rank]
    for (let slot = 0; slot < slots; slot++) {
      const demanded = slotTerm[slotStart[rank] + slot]
      const held = places.holds[firstSlot + slot]
      if (held === demanded && demanded >= 0) continue
      if (held === empty) {
        found.add(
          'slot-missing',
          rank,
          null,
          () => `slot ${slot} of rank ${rank} never gets ${describeDemand(demanded)}`,
        )
      } else if (terms.isUnknown(held)) {
        const part = demanded >= 0 ? terms.parts.partOf(demanded) : check.partOf(~demanded)
        if (terms.partOf(held) !== part) wrong(rank, slot, demanded, held)
      } else if (demanded >= 0) wrong(rank, slot, demanded, held)
      else {
        const verdict = check.verdict(held, ~demanded)
        if (verdict === verdicts.wrong) wrong(rank, slot, demanded, held)
        else associations.add(held, ~demanded)
        if (verdict !== verdicts.unordered) continue
        isOrdered = false
        if (demandsOrder) unordered(rank, slot, held)
      }
    }
    for (let index = firstSlot + slots; index < places.start[rank + 1]; index++) {
      if (places.isRead[index] === 1 || places.holds[index] === empty) continue
      found.add('unused-delivery', rank, null, () => {
        const what = describeTerm(terms, places.holds[index])
        return `rank ${rank} gets ${what} in temporary place ${places.placeAt(rank, index)} and never uses it`
      })
    }
  }
  return { isOrdered, association: associations.hash() }

  function describeDemand(demanded: number): string {
    return demanded >= 0 ? `block ${demanded}` : describeReduction(terms, check, ~demanded)
  }

  function wrong(rank: number, slot: number, demanded: number, held: number): void {
    found.add('slot-wrong', rank, null, () =>
      demanded >= 0 || terms.isUnknown(held)
        ? `slot ${slot} of rank ${rank} ends with ${describeTerm(terms, held)}, not with ${describeDemand(demanded)}`
        : `slot ${slot} of rank ${rank} ${describeDifference(specification, terms, check, held, ~demanded)}`,
    )
  }

  function unordered(rank: number, slot: number, held: number): void {
    found.add('slot-unordered', rank, null, () => {
      const order = describeOrder(terms, held)
      return `slot ${slot} of rank ${rank} combines ranks in the order ${order}, not in that of the specification`
    })
  }
}

/** The associations of the reductions in a schedule's slots, by the ranks that they combine. */
class AssociationList {
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

/** The most contributors that are listed where their order is described. */
const mostInOrder = 12

/** Returns for example `the reduction of part 1 over ranks 0-7`. */
function describeReduction(terms: TermTable, check: ReductionCheck, reduction: number): string {
  const ranks = demandedRanks(terms, check, reduction).keys()
  return `the reduction of part ${check.partOf(reduction)} over ${formatRanks(ranks)}`
}

/** Describes the contents of a slot that should hold a reduction, e.g. `combines ranks 0-2, 4 (missing 3)`. */
function describeDifference(
  { reductions }: Specification,
  terms: TermTable,
  check: ReductionCheck,
  term: number,
  reduction: number,
): string {
  const held = contributorsOf(terms, term)
  const part = terms.partOf(term)
  if (part !== check.partOf(reduction))
    return `combines part ${part} of ${formatRanks(held.keys())}, not part ${check.partOf(reduction)}`
  const demanded = demandedRanks(terms, check, reduction)
  const missing = [...demanded.keys()].filter((rank) => !held.has(rank))
  const extra = [...held.keys()].filter((rank) => !demanded.has(rank))
  const repeated = reductions.isIdempotent
    ? []
    : [...held].filter(([rank, times]) => times > (demanded.get(rank) ?? 1)).map(([rank]) => rank)
  const differences = [
    ['missing', missing],
    ['not demanded', extra],
    ['more than once', repeated],
  ] as const
  const listed = differences
    .filter(([, ranks]) => ranks.length > 0)
    .map(([what, ranks]) => `${what}: ${formatRanks(ranks)}`)
  return `combines ${formatRanks(held.keys())} (${listed.join('; ')})`
}

/** Lists the contributors of a term from left to right, e.g. `2, 0, 1`. */
function describeOrder(terms: TermTable, term: number): string {
  const shown: number[] = []
  for (const block of blocksOf(terms, term)) {
    if (shown.length === mostInOrder) return `${shown.join(', ')}, ...`
    shown.push(terms.parts.originOf(block))
  }
  return shown.join(', ')
}

function demandedRanks(terms: TermTable, check: ReductionCheck, reduction: number): Map<number, number> {
  const ranks = new Map<number, number>()
  check.forEachBlock(reduction, (block) => {
    const origin = terms.parts.originOf(block)
    ranks.set(origin, (ranks.get(origin) ?? 0) + 1)
  })
  return ranks
}
