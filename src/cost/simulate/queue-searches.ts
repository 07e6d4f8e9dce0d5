import type { FrameTable } from './frame-table.js'

/** The costs of searches of the matching queues in a simulation, over all processes. */
export interface SimulatedSearches {
  /** The number of searches: one for every receive that is posted, and one for every message that arrives. */
  readonly searches: number
  /** The entries that these have passed, those that matched among them. */
  readonly entriesPassed: number
  /** The time in searches, over all processes. */
  readonly searchUs: number
  /** The time of the process that passes most entries. */
  readonly mostSearchUs: number
}

/**
 * The two matching queues of every process, each a linked list, as in MPICH and MVAPICH. Posted receives are in the
 * order in which they were posted, unexpected messages in the order of arrival. A receive that is posted passes the
 * unexpected messages up to its own, or all of them if its own has not arrived. A message that arrives passes the
 * posted receives in the same way.
 *
 * Every message matches exactly one receive: programs distinguish frames by sender and by number.
 */
export class QueueSearches {
  readonly nsPerEntry: number
  readonly #frames: FrameTable
  readonly #posted: EntryQueues
  readonly #unexpected: EntryQueues
  /** The entries that the two searches of a frame have passed. By frame. */
  readonly #passed: Int32Array
  readonly #hasArrived: Uint8Array
  #searches = 0

  /** @param nsPerEntry time that an entry takes, in nanoseconds */
  constructor(frames: FrameTable, nsPerEntry: number) {
    const { receiveStart, from } = frames
    this.nsPerEntry = nsPerEntry
    this.#frames = frames
    this.#posted = new EntryQueues(receiveStart)
    this.#unexpected = new EntryQueues(receiveStart)
    this.#passed = new Int32Array(from.length)
    this.#hasArrived = new Uint8Array(from.length)
  }

  post(frame: number): void {
    this.#search(frame, this.#unexpected, this.#posted)
  }

  /**
   * Records that a frame, or the announcement of a long one, has arrived. It ignores a second call for the same frame.
   */
  arrive(frame: number): void {
    if (this.#hasArrived[frame] === 1) return
    this.#hasArrived[frame] = 1
    this.#search(frame, this.#posted, this.#unexpected)
  }

  /** Returns the time that the searches for a frame have taken its receiver. */
  searchNs(frame: number): number {
    return this.#passed[frame] * this.nsPerEntry
  }

  /** Returns the costs of all searches so far. */
  report(): SimulatedSearches {
    const { processes, receiveStart, frameAt } = this.#frames
    let entriesPassed = 0
    let most = 0
    for (let p = 0; p < processes; p++) {
      let passed = 0
      for (let at = receiveStart[p]; at < receiveStart[p + 1]; at++) passed += this.#passed[frameAt[at]]
      entriesPassed += passed
      most = Math.max(most, passed)
    }
    const usPerEntry = this.nsPerEntry / 1000
    return {
      searches: this.#searches,
      entriesPassed,
      searchUs: entriesPassed * usPerEntry,
      mostSearchUs: most * usPerEntry,
    }
  }

  #search(frame: number, searched: EntryQueues, other: EntryQueues): void {
    const process = this.#frames.to[frame]
    this.#searches++
    if (searched.has(frame)) {
      this.#passed[frame] += searched.take(process, frame)
    } else {
      this.#passed[frame] += searched.length(process)
      other.add(process, frame)
    }
  }
}

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
