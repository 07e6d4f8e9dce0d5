/** The `capacity` objects added last, each for as long as something else retains it. */
export class RecentObjects<T extends object> {
  readonly #capacity: number
  #refs: WeakRef<T>[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  find(matches: (object: T) => boolean): T | undefined {
    for (const ref of this.#refs) {
      const object = ref.deref()
      if (object !== undefined && matches(object)) return object
    }
    return undefined
  }

  /** Adds an object; the oldest one leaves when there are too many. */
  add(object: T): T {
    this.#refs = [...this.#refs.slice(1 - this.#capacity), new WeakRef(object)]
    return object
  }
}
