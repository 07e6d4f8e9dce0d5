/** The connection of two processes broke, as `reporter` says. */
export interface BrokenLink {
  readonly reporter: number
  readonly peer: number
  /** The peer broke a rule: sent what is not of the protocol, or does not read. */
  readonly isFault?: boolean
}

/**
 * Who is to be declared lost so that no broken link connects two survivors: again and again
 *
 * 1. the process with most broken links, by any reporter: so one that is cut off from many is lost, and
 *    not they, even where it is the only one that notices; and one that blames many others loses only itself.
 *    Processes that it has reported before, against the silence of most others, count like broken links,
 *    unless the heartbeats of all that it reports now are overdue;
 * 2. of several the one to whom most report a fault: who saw it knows more than who sees a closed connection;
 * 3. of these one whose heartbeats are overdue;
 * 4. of these the one that most report;
 * 5. of these the one that was reported first: a cause is known before its consequence. A process that drops
 *    a connection has a reason, and the other side only sees that it is gone. Where neither has, as when the
 *    network in between reset it, both are innocent and one of them has to go.
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

/** What is held against one process. */
interface Blamed {
  /** Other ends of its broken links. */
  readonly peers: Set<number>
  /** Who reports a fault of it. */
  readonly faults: Set<number>
  /** Who reports it, and as which report of all; the first comes first. */
  readonly reports: Map<number, number>
}

const noMarks: readonly number[] = []

/** By rule; more is worse. */
function marksOf({ peers, faults, reports }: Blamed, isOverdue: boolean, earlier: number): readonly number[] {
  const [first = Number.POSITIVE_INFINITY] = reports.values()
  return [peers.size + earlier, faults.size, isOverdue ? 1 : 0, reports.size, -first]
}

function isWorse(marks: readonly number[], than: readonly number[]): boolean {
  const at = marks.findIndex((mark, n) => mark !== than[n])
  return at >= 0 && marks[at] > than[at]
}
