import { RankweaveError } from '../../errors.js'
import { Decisions } from '../authority.js'
import type { Authority, Decision } from '../fabric.js'

interface Waiting {
  resolve(decision: Decision): void
  reject(error: RankweaveError): void
}

/** The authority of a local world: the session itself. Decisions are delivered by the session's task. */
export class LocalAuthority {
  readonly #decisions: Decisions
  readonly #schedule: () => void
  /** The waiting calls by process, then by key. */
  readonly #waiting: readonly Map<string, Waiting>[]
  /** The lost processes that wait for an answer. */
  readonly #refused = new Set<number>()
  #made: { readonly process: number; readonly key: string; readonly decision: Decision }[] = []

  /** @param schedule runs {@link deliver} in a task */
  constructor(processes: number, schedule: () => void) {
    this.#schedule = schedule
    this.#waiting = Array.from({ length: processes }, () => new Map<string, Waiting>())
    this.#decisions = new Decisions(processes, (process, key, decision) => {
      this.#made.push({ process, key, decision })
      schedule()
    })
  }

  /** Whether no decision is in flight. */
  get isQuiet(): boolean {
    return this.#made.length === 0 && this.#refused.size === 0
  }

  of(process: number): Authority {
    return {
      isHere: true,
      decide: (key, members, contribution) =>
        new Promise((resolve, reject) => {
          this.#waiting[process].set(key, { resolve, reject })
          if (this.#decisions.lost.includes(process)) {
            this.#refuse(process)
            return
          }
          try {
            this.#decisions.contribute(process, key, members, contribution.slice())
          } catch (error) {
            this.#waiting[process].delete(key)
            throw error
          }
        }),
    }
  }

  lose(process: number): void {
    this.#decisions.lose(process)
    this.#refuse(process)
  }

  /** Makes the calls of a process fail in the task, once it has been told that it is lost itself. */
  #refuse(process: number): void {
    this.#refused.add(process)
    this.#schedule()
  }

  /** Delivers decisions; the session's task calls it after it has reported losses. */
  deliver(): void {
    for (const process of this.#refused) this.#end(process, lostItself(process))
    this.#refused.clear()
    const made = this.#made
    this.#made = []
    for (const { process, key, decision } of made) {
      this.#waiting[process].get(key)?.resolve(decision)
      this.#waiting[process].delete(key)
    }
  }

  close(): void {
    this.#made = []
    const error = new RankweaveError('ERR_FABRIC', 'the session was closed before the decision')
    this.#waiting.forEach((_, process) => {
      this.#end(process, error)
    })
  }

  #end(process: number, error: RankweaveError): void {
    const waiting = [...this.#waiting[process].values()]
    this.#waiting[process].clear()
    for (const { reject } of waiting) reject(error)
  }
}

function lostItself(process: number): RankweaveError {
  const message = `process ${process} is lost to the world`
  return new RankweaveError('ERR_PEER_LOST', message, { details: { process } })
}
