import type { Clock } from '../../base/clock.js'
import { lostBy } from './lost-by.js'

/** What a process says of its connection to another one. */
export interface BrokenReport {
  readonly reporter: number
  readonly peer: number
  /** What the peer did, as a code, if it is its fault. */
  readonly fault: string | null
  /** Nothing more came, which others may notice later. */
  readonly isSilent: boolean
  readonly reason: string
}

/** What the reports lead to. */
export interface BrokenLinksHost {
  /** Processes that are neither lost nor have left. */
  living(): number
  /** Whether heartbeats of the process are overdue. */
  isOverdue(process: number): boolean
  /** @param reason says which code the fault has, if it is one */
  lose(process: number, reason: string): void
}

/**
 * An event loop that was held up runs its timers first, and reads what has arrived meanwhile before the next
 * ones, in milliseconds.
 */
const readMs = 10

/**
 * Collects reports of broken links between processes that live. The first one begins a window; at its end
 * the process to blame is lost. Reports that arrive in the window count also when this thread was held up and
 * reads them later. Reports about or from a process that is lost or has left meanwhile have no effect.
 *
 * A report cannot be proven, and one end of a broken link has to go. So the word of a process, where at most
 * half of the others say the same, costs another one once: from then on it weighs against its reporter, and
 * who reports one process after another is lost itself.
 *
 * Memory: one report per pair of processes and window, and a number per process.
 */
export class BrokenLinks {
  readonly #clock: Clock
  readonly #verdictMs: number
  readonly #silentMs: number
  readonly #host: BrokenLinksHost
  /** In the order in which they arrived. */
  readonly #reports = new Map<string, BrokenReport>()
  /** How many processes each one has reported that few others did, and that were lost. */
  readonly #earlier = new Map<number, number>()
  #cancel: (() => void) | undefined
  #isShort = false

  constructor(
    clock: Clock,
    { verdictMs, heartbeatMs }: { readonly verdictMs: number; readonly heartbeatMs: number },
    host: BrokenLinksHost,
  ) {
    this.#clock = clock
    this.#verdictMs = verdictMs
    // Silence is noticed at ticks of every process's own.
    this.#silentMs = verdictMs + 2 * heartbeatMs
    this.#host = host
  }

  /** Both processes live. Of several reports of one link by one process the first counts. */
  report(report: BrokenReport): void {
    const key = `${report.reporter} ${report.peer}`
    if (!this.#reports.has(key)) this.#reports.set(key, report)
    const isShort = !report.isSilent
    if (this.#cancel !== undefined && (this.#isShort || !isShort)) return
    this.#cancel?.()
    this.#isShort = isShort
    this.#cancel = this.#clock.later(isShort ? this.#verdictMs : this.#silentMs, () => {
      this.#cancel = this.#clock.later(readMs, this.#decide)
    })
  }

  /** A process is lost or has left: its links no longer matter. */
  forget(process: number): void {
    this.#earlier.delete(process)
    for (const [key, { reporter, peer }] of this.#reports) {
      if (reporter === process || peer === process) this.#reports.delete(key)
    }
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#reports.clear()
  }

  readonly #decide = () => {
    this.#cancel = undefined
    const reports = [...this.#reports.values()]
    this.#reports.clear()
    const links = reports.map((report) => ({ ...report, isFault: report.fault !== null }))
    const living = this.#host.living()
    const isOverdue = (process: number) => this.#host.isOverdue(process)
    const lost = lostBy(links, isOverdue, (process) => this.#earlier.get(process) ?? 0)
    for (const process of lost) {
      const about = reports.filter(({ peer }) => peer === process)
      const reason = about.length === 0 ? this.#reasonOfReporter(process, reports) : reasonOf(about)
      // Of a process whose heartbeats are overdue the rendezvous knows more than its word.
      if (!isOverdue(process)) this.#count(about, living)
      this.#host.lose(process, reason)
    }
  }

  /** A process is lost by these reports of it. */
  #count(about: readonly BrokenReport[], living: number): void {
    if (about.length * 2 > living - 1) return
    for (const { reporter } of about) this.#earlier.set(reporter, (this.#earlier.get(reporter) ?? 0) + 1)
  }

  /** Why a process is lost that no other one reports. */
  #reasonOfReporter(process: number, reports: readonly BrokenReport[]): string {
    const own = reports.filter(({ reporter }) => reporter === process)
    const earlier = this.#earlier.get(process) ?? 0
    const [{ peer, reason }] = own
    if (earlier === 0 || own.length > 1) return `its connection to process ${peer} broke: ${reason}`
    const others = `${earlier} other process${earlier === 1 ? '' : 'es'}`
    return `it alone reports process ${peer}, and has reported ${others} that few others did`
  }
}

/** Why a process is lost that others report; with the code of a fault that one has seen. */
function reasonOf(about: readonly BrokenReport[]): string {
  const { reporter, fault, reason } = about.find((report) => report.fault !== null) ?? about[0]
  const said = fault === null ? reason : `${fault}: ${reason}`
  return `its connection to process ${reporter} broke: ${said}`
}
