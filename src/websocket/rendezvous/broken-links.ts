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
 * Memory: one report per pair of processes and window.
 */
export class BrokenLinks {
  readonly #clock: Clock
  readonly #verdictMs: number
  readonly #silentMs: number
  readonly #host: BrokenLinksHost
  /** In the order in which they arrived. */
  readonly #reports = new Map<string, BrokenReport>()
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
    for (const process of lostBy(links, (each) => this.#host.isOverdue(each))) {
      const about = reports.filter(({ peer }) => peer === process)
      // A process reported it, or it has reported others.
      const link =
        about.find(({ fault }) => fault !== null) ??
        about[0] ??
        reports.find(({ reporter }) => reporter === process)!
      const other = link.peer === process ? link.reporter : link.peer
      const fault = link.peer === process ? link.fault : null
      const said = fault === null ? link.reason : `${fault}: ${link.reason}`
      this.#host.lose(process, `its connection to process ${other} broke: ${said}`)
    }
  }
}
