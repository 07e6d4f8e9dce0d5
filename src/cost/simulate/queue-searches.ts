import { EntryQueues } from './entry-queues.js'
import type { FrameTable } from './frame-table.js'

/** What searches of the matching queues cost in a simulation, over all processes. */
export interface SimulatedSearches {
  /** One for every receive that is posted, and one for every message that arrives. */
  readonly searches: number
  /** Entries that these have passed, those that matched among them. */
  readonly entriesPassed: number
  /** In searches, over all processes. */
  readonly searchUs: number
  /** Of the process that passes most entries. */
  readonly mostSearchUs: number
}

/**
 * The two matching queues of every process, each a linked list, as in MPICH and MVAPICH: posted receives in the
 * order in which they were posted, unexpected messages in the order of arrival. A receive that is posted passes
 * the unexpected messages up to its own, all of them where its own has not arrived. A message that arrives passes
 * the posted receives in the same way.
 *
 * Every message matches exactly one receive: programs tell frames apart by sender and by number.
 */
export class QueueSearches {
  readonly nsPerEntry: number
  readonly #frames: FrameTable
  readonly #posted: EntryQueues
  readonly #unexpected: EntryQueues
  /** By frame: entries that its two searches have passed. */
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

  /** The receive of a frame is posted. */
  post(frame: number): void {
    this.#search(frame, this.#unexpected, this.#posted)
  }

  /** A frame, or the announcement of a long one, has arrived. Nothing happens when it has arrived before. */
  arrive(frame: number): void {
    if (this.#hasArrived[frame] === 1) return
    this.#hasArrived[frame] = 1
    this.#search(frame, this.#posted, this.#unexpected)
  }

  /** How long the searches for a frame have taken its receiver. */
  searchNs(frame: number): number {
    return this.#passed[frame] * this.nsPerEntry
  }

  /** What all searches have cost so far. */
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
