import type { Specification } from '../specification.js'
import { blocksOf, contributorsOf, formatRanks } from './describe-term.js'
import type { ReductionCheck } from './reduction-check.js'
import type { TermTable } from './term-table.js'

/** The most contributors that are listed where their order is described. */
const mostInOrder = 12

/** Returns for example `the reduction of part 1 over ranks 0-7`. */
export function describeReduction(terms: TermTable, check: ReductionCheck, reduction: number): string {
  const ranks = demandedRanks(terms, check, reduction).keys()
  return `the reduction of part ${check.partOf(reduction)} over ${formatRanks(ranks)}`
}

/** Describes the contents of a slot that should hold a reduction, e.g. `combines ranks 0-2, 4 (missing 3)`. */
export function describeDifference(
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
export function describeOrder(terms: TermTable, term: number): string {
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
