/** The broken connection of two processes, as `reporter` states. */
export interface BrokenLink {
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
