/** The ranks `first`, `first + stride`, ... of a parent, `size` of them. */
export interface RankInterval {
  readonly first: number
  readonly size: number
  readonly stride: number
}

/** The record of one range in a process, for the parent's lifetime, because names must not repeat. */
interface Made<S> {
  /** The number of times that each local rank of the parent has made it. */
  readonly times: Map<number, number>
  /** The communicators that some local members have yet to make, by how many were made before. */
  readonly open: Map<number, { readonly context: S; missing: number }>
}

/** The communicators of ranges of one parent: ranks of a process that make the same one share its context. */
export class RangeContexts<S extends { readonly localRanks: Int32Array }> {
  readonly #made = new Map<string, Made<S>>()

  /**
   * Returns the context of the next communicator that this rank makes of the range.
   *
   * @param create called for the first rank, with how many communicators of the range were made before
   */
  next({ first, size, stride }: RankInterval, localIndex: number, create: (nth: number) => S): S {
    const key = `${first}:${size}:${stride}`
    let made = this.#made.get(key)
    if (made === undefined) {
      made = { times: new Map(), open: new Map() }
      this.#made.set(key, made)
    }
    const nth = made.times.get(localIndex) ?? 0
    made.times.set(localIndex, nth + 1)
    let open = made.open.get(nth)
    if (open === undefined) {
      const context = create(nth)
      open = { context, missing: context.localRanks.length }
      made.open.set(nth, open)
    }
    if (--open.missing === 0) made.open.delete(nth)
    return open.context
  }
}
