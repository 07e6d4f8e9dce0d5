/**
 * Sessions open one after the other, in the order in which places were taken, which is the same on all processes: Open
 * MPI hangs when processes duplicate a communicator several times at once (4.1.4).
 */
export class OpeningOrder {
  #last: Promise<unknown> = Promise.resolve()

  /** Takes the next place now; opens when all places before are done and `ready` has resolved. */
  enter<T>(ready: Promise<unknown>, open: () => Promise<T>): Promise<T> {
    const before = this.#last
    const opened = (async () => {
      await before
      await ready
      return open()
    })()
    this.#last = opened.catch(() => {})
    return opened
  }
}
