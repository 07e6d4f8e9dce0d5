import type { Clock } from '../../base/clock.js'

/** The report of a process on its connection to another one. */
export interface BrokenReport {
  readonly reporter: number
  readonly peer: number
  /** The code of the peer's fault, if it is to blame. */
  readonly fault: string | null
  /** Whether the link only went silent, which others may notice later. */
  readonly isSilent: boolean
  readonly reason: string
}

/** The services that the reports need from their world. */
interface BrokenLinksHost {
  /** Returns the number of processes that are neither lost nor have left. */
  living(): number
  isOverdue(process: number): boolean
  /** @param reason names the code of the fault, if there is one */
  lose(process: number, reason: string): void
}

/**
 * The time to read what has arrived, in milliseconds: an event loop that was held up runs its timers before it reads.
 */
const readMs = 10

/**
 * Collects reports of broken links between processes that live. The first one begins a window; at its end the process
 * to blame is lost. Reports that arrive in the window also count when this thread was held up and reads them later.
 * Reports about or from a process that is lost or has left meanwhile have no effect.
 *
 * A report cannot be proven, and one end of a broken link has to go. The word of one process costs another its life
 * only once if at most half of the others agree. From then on it weighs against its reporter, and a process that
 * reports one after another is lost itself. Memory: one report per pair of processes and window, and a number per
 * process.
 */
export class BrokenLinks {
  readonly #clock: Clock
  readonly #verdictMs: number
  readonly #silentMs: number
  readonly #host: BrokenLinksHost
  /** The reports in the order in which they arrived. */
  readonly #reports = new Map<string, BrokenReport>()
  /** The number of processes, for each reporter, that were lost on its word although few others agreed. */
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
    // Every process notices silence at its own ticks.
    this.#silentMs = verdictMs + 2 * heartbeatMs
    this.#host = host
  }

  /**
   * Adds a report on a link between two living processes. Of several reports of one link by one process the first
   * counts.
   */
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

  /** Drops the links of a process that is lost or has left. */
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
      // Overdue heartbeats confirm the report, so it does not weigh against the reporter.
      if (!isOverdue(process)) this.#count(about, living)
      this.#host.lose(process, reason)
    }
  }

  /** Counts a process that is lost by these reports of it. */
  #count(about: readonly BrokenReport[], living: number): void {
    if (about.length * 2 > living - 1) return
    for (const { reporter } of about) this.#earlier.set(reporter, (this.#earlier.get(reporter) ?? 0) + 1)
  }

  /** Returns the reason for the loss of a process that no other one reports. */
  #reasonOfReporter(process: number, reports: readonly BrokenReport[]): string {
    const own = reports.filter(({ reporter }) => reporter === process)
    const earlier = this.#earlier.get(process) ?? 0
    const [{ peer, reason }] = own
    if (earlier === 0 || own.length > 1) return `its connection to process ${peer} broke: ${reason}`
    const others = `${earlier} other process${earlier === 1 ? '' : 'es'}`
    return `it alone reports process ${peer}, and has reported ${others} that few others did`
  }
}

/** Returns the reason for the loss of a reported process, with the code of a fault if a reporter has seen one. */
function reasonOf(about: readonly BrokenReport[]): string {
  const { reporter, fault, reason } = about.find((report) => report.fault !== null) ?? about[0]
  const said = fault === null ? reason : `${fault}: ${reason}`
  return `its connection to process ${reporter} broke: ${said}`
}

/** The broken connection of two processes, as `reporter` states. */
interface BrokenLink {
  readonly reporter: number
  readonly peer: number
  /** Whether the peer broke a rule: it violated the protocol, or does not read. */
  readonly isFault?: boolean
}

/**
 * Returns the processes to declare lost so that no broken link connects two survivors. It picks again and again:
 *
 * 1. the process with most broken links, by any reporter. So a process that is cut off from many is lost, and not
 *    they, even if it is the only one that notices; and one that blames many others loses only itself. Processes
 *    that it has reported before, against the silence of most others, count like broken links, unless the
 *    heartbeats of all that it reports now are overdue;
 * 2. of several, the one with most reporters of a fault: a process that saw a fault knows more than one that sees a
 *    closed connection;
 * 3. of these, one whose heartbeats are overdue;
 * 4. of these, the one that most report;
 * 5. of these, the one that was reported first: a cause is known before its consequence. A process that drops a
 *    connection has a reason, and the other side only sees that it is gone. If neither has, as when the network in
 *    between reset it, both are innocent and one of them has to go.
 *
 * @param links in the order in which they were reported
 * @param earlier how many processes were lost before by the word of this one and few others
 * @returns in order
 */
export function lostBy(
  links: readonly BrokenLink[],
  isOverdue: (process: number) => boolean = () => false,
  earlier: (process: number) => number = () => 0,
): number[] {
  const blamed = new Map<number, Blamed>()
  const of = (process: number): Blamed => {
    const each = blamed.get(process) ?? { peers: new Set(), faults: new Set(), reports: new Map() }
    blamed.set(process, each)
    return each
  }
  links.forEach(({ reporter, peer, isFault }, at) => {
    of(reporter).peers.add(peer)
    const each = of(peer)
    each.peers.add(reporter)
    if (!each.reports.has(reporter)) each.reports.set(reporter, at)
    if (isFault === true) each.faults.add(reporter)
  })
  const lost: number[] = []
  for (;;) {
    let worst: number | undefined
    let most = noMarks
    for (const [process, each] of blamed) {
      if (each.peers.size === 0) continue
      const isTrusted = [...each.peers].every((peer) => isOverdue(peer))
      const marks = marksOf(each, isOverdue(process), isTrusted ? 0 : earlier(process))
      if (worst !== undefined && !isWorse(marks, most)) continue
      worst = process
      most = marks
    }
    if (worst === undefined) return lost
    lost.push(worst)
    for (const peer of of(worst).peers) {
      const other = of(peer)
      other.peers.delete(worst)
      other.faults.delete(worst)
      other.reports.delete(worst)
    }
    blamed.delete(worst)
  }
}

/** The evidence against one process. */
interface Blamed {
  /** The other ends of its broken links. */
  readonly peers: Set<number>
  /** The processes that report a fault of it. */
  readonly faults: Set<number>
  /** The processes that report it, each with the number of its first report; the earliest comes first. */
  readonly reports: Map<number, number>
}

const noMarks: readonly number[] = []

/** Returns the marks of a process by rule; more is worse. */
function marksOf({ peers, faults, reports }: Blamed, isOverdue: boolean, earlier: number): readonly number[] {
  const [first = Number.POSITIVE_INFINITY] = reports.values()
  return [peers.size + earlier, faults.size, isOverdue ? 1 : 0, reports.size, -first]
}

function isWorse(marks: readonly number[], than: readonly number[]): boolean {
  const at = marks.findIndex((mark, n) => mark !== than[n])
  return at >= 0 && marks[at] > than[at]
}
