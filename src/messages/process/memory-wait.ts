/** A collective's wait for data that other processes write in memory. See `Exchange.watch`. */
export class MemoryWait {
  readonly #look: () => boolean
  readonly #awaited: () => readonly number[]
  readonly #done: () => void
  readonly #failed: (error: unknown) => void
  #unwatch: (() => void) | undefined
  #isOver = false

  /** @param watch that of the fabric */
  constructor(
    watch: (look: () => boolean) => () => void,
    look: () => boolean,
    awaited: () => readonly number[],
    done: () => void,
    failed: (error: unknown) => void,
  ) {
    this.#look = look
    this.#awaited = awaited
    this.#done = done
    this.#failed = failed
    if (!this.#attempt()) this.#unwatch = watch(() => this.#attempt())
  }

  /** The process indices; none when it is over. */
  get awaited(): readonly number[] {
    return this.#isOver ? [] : this.#awaited()
  }

  end(): void {
    this.#isOver = true
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  #attempt(): boolean {
    if (this.#isOver) return false
    try {
      if (!this.#look()) return false
      this.end()
      this.#done()
    } catch (error) {
      this.end()
      this.#failed(error)
    }
    return true
  }
}
