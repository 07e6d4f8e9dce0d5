import type { Verification } from '../../schedule/verify/violations.js'
import type { Reporter } from './reporter.js'

/** Violations said one by one; more than these are only counted. */
const shown = 10

/** Says on standard error what is wrong with a schedule. */
export function noteViolations(report: Reporter, { count, violations }: Verification): void {
  for (const { code, rank, message } of violations.slice(0, shown))
    report.note(`${code}, rank ${rank}: ${message}`)
  if (count > shown) report.note(`... and ${count - shown} more violations`)
}
