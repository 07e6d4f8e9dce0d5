import type { Verification } from '../../schedule/verify/violations.js'
import type { Reporter } from './reporter.js'

/** Violations listed; further ones are only counted. */
const shown = 10

/** Lists the violations of a schedule on standard error. */
export function noteViolations(report: Reporter, { count, violations }: Verification): void {
  for (const { code, rank, message } of violations.slice(0, shown))
    report.note(`${code}, rank ${rank}: ${message}`)
  if (count > shown) report.note(`... and ${count - shown} more violations`)
}
