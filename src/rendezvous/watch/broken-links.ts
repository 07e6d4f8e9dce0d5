import type { Clock } from '../../base/clock.js'

/** The connection of two processes broke, as `reporter` says. */
export interface BrokenLink {
  readonly reporter: number
  readonly peer: number
}

/**
 * Who is to be declared lost so that no broken link connects two survivors: again and again the process with most broken
 * links, whoever reported them; of several the one that most report, of these the highest. So a process that is cut off from
 * many is lost, and not they, even where it is the only one that notices; and one that blames many others loses only itself.
 *
 * @returns in order
 */
export function lostBy(links: readonly BrokenLink[]): number[] {
  const lost: number[] = []
  const blamed = new Map<number, Blamed>()
  const add = (process: number, peer: number, isReported: boolean) => {
    const each = blamed.get(process) ?? { peers: new Map<number, boolean>(), reports: 0 }
    blamed.set(process, each)
    const was = each.peers.get(peer) === true
    if (isReported && !was) each.reports++
    each.peers.set(peer, isReported || was)
  }
  for (const { reporter, peer } of links) {
    add(peer, reporter, true)
    add(reporter, peer, false)
  }
  for (;;) {
    let worst = -1
    let most = { links: 1, reports: 0 }
    for (const [process, { peers, reports }] of blamed) {
      const order = peers.size - most.links || reports - most.reports || process - worst
      if (order < 0) continue
      worst = process
      most = { links: peers.size, reports }
    }
    if (worst < 0) return lost
    lost.push(worst)
    for (const peer of blamed.get(worst)!.peers.keys()) {
      const other = blamed.get(peer)!
      if (other.peers.get(worst) === true) other.reports--
      other.peers.delete(worst)
    }
    blamed.delete(worst)
  }
}

/** Broken links of one process: the peers, each with whether it has reported the process, and how many have. */
interface Blamed {
  readonly peers: Map<number, boolean>
  reports: number
}

/**
 * Collects reports of broken links between processes that live. The first one begins a window; at its end whoever is to
 * blame is lost. Reports about or from a process that is lost or has left meanwhile have no effect.
 *
 * Memory: one number per pair of processes and window.
 */
export class BrokenLinks {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #lose: (process: number, reason: string) => void
  /** By reporter: the peers, and what it says. */
  readonly #reports = new Map<number, Map<number, string>>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, windowMs: number, lose: (process: number, reason: string) => void) {
    this.#clock = clock
    this.#windowMs = windowMs
    this.#lose = lose
  }

  /** Both processes live. Of several reports of one link by one process the first counts. */
  report(reporter: number, peer: number, reason: string): void {
    const peers = this.#reports.get(reporter) ?? new Map<number, string>()
    this.#reports.set(reporter, peers)
    if (!peers.has(peer)) peers.set(peer, reason)
    this.#cancel ??= this.#clock.later(this.#windowMs, this.#decide)
  }

  /** A process is lost or has left: its links are nobody's concern. */
  forget(process: number): void {
    this.#reports.delete(process)
    for (const peers of this.#reports.values()) peers.delete(process)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#reports.clear()
  }

  readonly #decide = () => {
    this.#cancel = undefined
    const links = [...this.#reports].flatMap(([reporter, peers]) =>
      Array.from(peers, ([peer, reason]) => ({ reporter, peer, reason })),
    )
    this.#reports.clear()
    for (const process of lostBy(links)) {
      // Somebody reported it, or it has reported others.
      const link = links.find(({ peer }) => peer === process) ?? links.find((l) => l.reporter === process)!
      const other = link.peer === process ? link.reporter : link.peer
      this.#lose(process, `its connection to process ${other} broke: ${link.reason}`)
    }
  }
}
