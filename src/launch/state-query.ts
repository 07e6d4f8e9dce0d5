import type { Clock } from '../base/clock.js'
import type { ProcessState } from '../comm/world/diagnosis.js'

/** How long a process that answers nothing is waited for. */
const spinMs = 1000

/** Asks the processes of a world what they wait for. One that runs without awaiting anything cannot answer. */
export class StateQuery {
  readonly #clock: Clock
  readonly #post: (process: number, question: number) => void
  readonly #open = new Map<number, Question>()
  #last = 0

  constructor(clock: Clock, post: (process: number, question: number) => void) {
    this.#clock = clock
    this.#post = post
  }

  /** @returns by process; none for those that did not answer in time */
  ask(processes: readonly number[]): Promise<ReadonlyMap<number, ProcessState | undefined>> {
    const question = ++this.#last
    return new Promise((resolve) => {
      const states = new Map<number, ProcessState | undefined>()
      const cancel = this.#clock.later(spinMs, () => this.#close(question))
      this.#open.set(question, { waiting: new Set(processes), states, cancel, resolve })
      for (const process of processes) this.#post(process, question)
      if (processes.length === 0) this.#close(question)
    })
  }

  answered(process: number, question: number, state: ProcessState | undefined): void {
    this.#open.get(question)?.states.set(process, state)
    this.#heard(process, question)
  }

  /** A process that has ended answers no more. */
  gone(process: number): void {
    for (const question of [...this.#open.keys()]) this.#heard(process, question)
  }

  stop(): void {
    for (const question of [...this.#open.keys()]) this.#close(question)
  }

  #heard(process: number, question: number): void {
    const waiting = this.#open.get(question)?.waiting
    if (waiting?.delete(process) === true && waiting.size === 0) this.#close(question)
  }

  #close(question: number): void {
    const { states, cancel, resolve } = this.#open.get(question)!
    this.#open.delete(question)
    cancel()
    resolve(states)
  }
}

interface Question {
  readonly waiting: Set<number>
  readonly states: Map<number, ProcessState | undefined>
  readonly cancel: () => void
  resolve(states: ReadonlyMap<number, ProcessState | undefined>): void
}
