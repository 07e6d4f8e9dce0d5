/**
 * A queue of entries for each process, in the order in which they were added. The place of an entry among
 * those that are left takes O(log n) steps, however long the queue: a Fenwick tree counts what was removed.
 *
 * @see Fenwick, "A new data structure for cumulative frequency tables", 1994
 */
export class EntryQueues {
  /** Where the places of each process begin. Length: processes + 1. */
  readonly #start: Int32Array
  /** Entries that were ever added, by process; entries that are left. */
  readonly #added: Int32Array
  readonly #length: Int32Array
  /** By entry: its place among all that were added to its queue, from 1; 0 while it is not queued. */
  readonly #place: Int32Array
  /** The trees, one behind the other: removed entries by place. */
  readonly #removed: Int32Array

  /**
   * @param start process p adds at most `start[p + 1] - start[p]` entries, each once; entries are below the
   *   last of these numbers
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
