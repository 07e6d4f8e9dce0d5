/**
 * Work on the same thing is done in the order in which it was asked for; work on different things is not held
 * up.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const result = before === undefined ? work() : before.then(work)
    const settled = result.then(
      () => {},
      () => {},
    )
    this.#last.set(key, settled)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }

  /** Resolves when all work that has been asked for is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
