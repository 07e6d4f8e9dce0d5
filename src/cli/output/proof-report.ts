import type { Schedule } from '../../schedule/ir.js'
import { treeAssociation } from '../../schedule/verify/tree-association.js'
import type { Verification } from '../../schedule/verify/violations.js'
import type { Reporter } from './reporter.js'

/** Returns rows on what verification proves about a schedule's reductions; none without reductions. */
export function reductionRows(
  { specification }: Schedule,
  { association, isOrdered, ok }: Verification,
): readonly (readonly [label: string, value: string | null])[] {
  const { ranks, collective, reductions } = specification
  if (!ok || reductions.first.length === 0) return []
  if (reductions.isIdempotent) return [['contributors', 'all, each at least once']]
  const tree = association === treeAssociation(ranks, { collective }) ? ", that of order: 'tree'" : ''
  return [
    ['contributors', 'all, each once'],
    ['order', isOrdered ? 'by rank' : 'not by rank: for commutative operations only'],
    ['association', association === null ? 'differs between slots' : `${association}${tree}`],
  ]
}

/** The most violations listed; further ones are only counted. */
const shown = 10

/** Lists the violations of a schedule on standard error. */
export function noteViolations(report: Reporter, { count, violations }: Verification): void {
  for (const { code, rank, message } of violations.slice(0, shown))
    report.note(`${code}, rank ${rank}: ${message}`)
  if (count > shown) report.note(`... and ${count - shown} more violations`)
}
