import type { Schedule } from '../ir.js'
import { AssociationList } from './association-list.js'
import { describeDifference, describeOrder, describeReduction } from './describe-reduction.js'
import { describeTerm } from './describe-term.js'
import type { Contents } from './follow-terms.js'
import { ReductionCheck, verdicts } from './reduction-check.js'
import { empty } from './term-table.js'
import type { ViolationList } from './violations.js'

export interface SlotProof {
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
