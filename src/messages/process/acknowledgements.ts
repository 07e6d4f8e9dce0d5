/**
 * Records which ranks of this process have acknowledged which losses, on any communicator. That decides whether the
 * world can end well without the processes that were lost.
 */
export class Acknowledgements {
  /** The hosted indices, by lost process. */
  readonly #by = new Map<number, Set<number>>()
  readonly #ignored = new Set<number>()

  /**
   * Notes that a rank continues without `process`.
   *
   * @param index hosted index of the rank
   */
  acknowledge(process: number, index: number): void {
    const ranks = this.#by.get(process)
    if (ranks === undefined) this.#by.set(process, new Set([index]))
    else ranks.add(index)
  }

  /**
   * Notes that the main of a rank has returned.
   *
   * @param lost processes that are known as lost by now
   */
  returned(index: number, lost: Iterable<number>): void {
    for (const process of lost) if (this.#by.get(process)?.has(index) !== true) this.#ignored.add(process)
  }

  /** Tells whether a rank here has acknowledged the loss of `process`. */
  has(process: number): boolean {
    return this.#by.has(process)
  }

  /** Tells whether there are losses, and a rank here has acknowledged each of them. */
  cover(lost: Iterable<number>): boolean {
    const processes = [...lost]
    return processes.length > 0 && processes.every((process) => this.#by.has(process))
  }

  /** Tells whether a rank here has returned although it could know of the loss, without acknowledging it. */
  ignored(process: number): boolean {
    return this.#ignored.has(process)
  }
}

/**
 * Tells whether living processes continue without a lost one: a rank has acknowledged the loss, and none has ignored
 * it.
 */
export function isSurvived(process: number, living: readonly Acknowledgements[]): boolean {
  return living.some((each) => each.has(process)) && !living.some((each) => each.ignored(process))
}
