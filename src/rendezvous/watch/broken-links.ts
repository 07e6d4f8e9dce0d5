import type { Clock } from '../../base/clock.js'

/** The connection of two processes broke, as `reporter` says. */
export interface BrokenLink {
  readonly reporter: number
  readonly peer: number
}

/**
 * Who is to be declared lost so that no broken link connects two survivors: again and again the process that most others
 * report, of several the highest. A process that is cut off from many is found by many reports; a link that broke at
 * both ends gives one each.
 *
 * @returns in order
 */
export function lostBy(links: readonly BrokenLink[]): number[] {
  const lost: number[] = []
  const reports = new Map<number, number>()
  const reportedBy = new Map<number, number[]>()
  for (const { reporter, peer } of links) {
    reports.set(peer, (reports.get(peer) ?? 0) + 1)
    const peers = reportedBy.get(reporter) ?? []
    reportedBy.set(reporter, peers)
    peers.push(peer)
  }
  for (;;) {
    let worst = -1
    let most = 0
    for (const [peer, count] of reports) {
      if (count < most || count === 0 || (count === most && peer < worst)) continue
      worst = peer
      most = count
    }
    if (most === 0) return lost
    lost.push(worst)
    reports.delete(worst)
    for (const peer of reportedBy.get(worst) ?? []) {
      const count = reports.get(peer)
      if (count !== undefined) reports.set(peer, count - 1)
    }
  }
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
      const { reporter, reason } = links.find(({ peer }) => peer === process)!
      this.#lose(process, `its connection to process ${reporter} broke: ${reason}`)
    }
  }
}
