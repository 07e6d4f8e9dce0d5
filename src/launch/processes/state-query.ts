import type { Clock } from '../../base/clock.js'
import type { ProcessState } from '../../world/diagnosis.js'

/** The milliseconds to wait for a process that does not answer. */
const timeoutMs = 1000

/** Queries the processes of a world for their state. One that runs without awaiting anything cannot answer. */
export class StateQuery {
  readonly #clock: Clock
  readonly #post: (process: number, query: number) => void
  readonly #open = new Map<number, Query>()
  #last = 0

  constructor(clock: Clock, post: (process: number, query: number) => void) {
    this.#clock = clock
    this.#post = post
  }

  /** @returns the states by process; none for those that did not answer in time */
  ask(processes: readonly number[]): Promise<ReadonlyMap<number, ProcessState | undefined>> {
    const query = ++this.#last
    return new Promise((resolve) => {
      const states = new Map<number, ProcessState | undefined>()
      const cancel = this.#clock.later(timeoutMs, () => this.#close(query))
      this.#open.set(query, { waiting: new Set(processes), states, cancel, resolve })
      for (const process of processes) this.#post(process, query)
      if (processes.length === 0) this.#close(query)
    })
  }

  answered(process: number, query: number, state: ProcessState | undefined): void {
    this.#open.get(query)?.states.set(process, state)
    this.#settle(process, query)
  }

  /** Notes that a process has ended, and no longer answers. */
  gone(process: number): void {
    for (const query of [...this.#open.keys()]) this.#settle(process, query)
  }

  stop(): void {
    for (const query of [...this.#open.keys()]) this.#close(query)
  }

  #settle(process: number, query: number): void {
    const waiting = this.#open.get(query)?.waiting
    if (waiting?.delete(process) === true && waiting.size === 0) this.#close(query)
  }

  #close(query: number): void {
    const { states, cancel, resolve } = this.#open.get(query)!
    this.#open.delete(query)
    cancel()
    resolve(states)
  }
}

interface Query {
  readonly waiting: Set<number>
  readonly states: Map<number, ProcessState | undefined>
  readonly cancel: () => void
  resolve(states: ReadonlyMap<number, ProcessState | undefined>): void
}
