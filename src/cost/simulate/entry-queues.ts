/**
 * A queue of entries for each process, in the order in which they were added. The place of an entry among those that
 * are left takes O(log n) steps, however long the queue: a Fenwick tree counts the removed entries.
 *
 * @see Fenwick, "A new data structure for cumulative frequency tables", 1994
 */
export class EntryQueues {
  /** The first place of each process. Length: processes + 1. */
  readonly #start: Int32Array
  /** The number of entries ever added, by process; `#length` counts those that are left. */
  readonly #added: Int32Array
  readonly #length: Int32Array
  /** The place of an entry among all that were added to its queue, from 1; 0 while it is not queued. By entry. */
  readonly #place: Int32Array
  /** The trees of removed entries by place, one behind the other. */
  readonly #removed: Int32Array

  /**
   * @param start process p adds at most `start[p + 1] - start[p]` entries, each once; entries are below the last of
   *   these numbers
   */
  constructor(start: Int32Array) {
    const processes = start.length - 1
    this.#start = start
    this.#added = new Int32Array(processes)
    this.#length = new Int32Array(processes)
    this.#place = new Int32Array(start[processes])
    this.#removed = new Int32Array(start[processes])
  }

  length(process: number): number {
    return this.#length[process]
  }

  has(entry: number): boolean {
    return this.#place[entry] > 0
  }

  add(process: number, entry: number): void {
    this.#place[entry] = ++this.#added[process]
    this.#length[process]++
  }

  /** Removes an entry that is queued. @returns its place among those that are left, from 1 */
  take(process: number, entry: number): number {
    const place = this.#place[entry]
    const removed = this.#removed
    const before = this.#start[process] - 1
    const most = this.#start[process + 1] - this.#start[process]
    let left = place
    for (let i = place; i > 0; i -= i & -i) left -= removed[before + i]
    for (let i = place; i <= most; i += i & -i) removed[before + i]++
    this.#place[entry] = 0
    this.#length[process]--
    return left
  }
}
