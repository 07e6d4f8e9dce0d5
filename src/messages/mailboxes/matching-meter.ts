import type { Entry, MatchingList } from '../matching-queues/entry-list.js'
import type { MailboxDesign } from '../process/matching-options.js'
import type { Arrived } from './arrived.js'
import { ANY_SOURCE, ANY_TAG } from './envelope.js'
import type { Receive } from './pending-operation.js'

/** The message matching of one rank on one communicator, point-to-point only. */
export interface MatchingStatistics {
  /** The rank in the communicator. */
  readonly rank: number
  /** The design of both queues. */
  readonly design: MailboxDesign
  /** The posted receives, searched by messages that arrive (PRQ). */
  readonly posted: QueueStatistics
  /** The messages without a receive, searched by receives and probes (UMQ). */
  readonly unexpected: QueueStatistics
  /** The number of receives and probes that were started. */
  readonly receives: number
  /** The number of these that took any source. */
  readonly anySource: number
  /** The number of these that took any tag. */
  readonly anyTag: number
}

/** Counts the matching of one mailbox. */
export class MatchingMeter {
  readonly posted: MeteredList<Receive<unknown>>
  readonly unexpected: MeteredList<Arrived>
  readonly #design: MailboxDesign
  #receives = 0
  #anySource = 0
  #anyTag = 0

  constructor(
    design: MailboxDesign,
    posted: MatchingList<Receive<unknown>>,
    unexpected: MatchingList<Arrived>,
  ) {
    this.#design = design
    this.posted = new MeteredList(posted)
    this.unexpected = new MeteredList(unexpected)
  }

  /** Counts a receive or probe that starts. */
  receives(source: number, tag: number): void {
    this.#receives++
    if (source === ANY_SOURCE) this.#anySource++
    if (tag === ANY_TAG) this.#anyTag++
  }

  statistics(rank: number): MatchingStatistics {
    return {
      rank,
      design: this.#design,
      posted: this.posted.statistics,
      unexpected: this.unexpected.statistics,
      receives: this.#receives,
      anySource: this.#anySource,
      anyTag: this.#anyTag,
    }
  }
}

export class MeteredList<E extends Entry> implements MatchingList<E> {
  readonly #list: MatchingList<E>
  readonly #meter = new QueueMeter()

  constructor(list: MatchingList<E>) {
    this.#list = list
  }

  get size(): number {
    return this.#list.size
  }

  get passed(): number {
    return this.#list.passed
  }

  add(entry: E): void {
    this.#list.add(entry)
    this.#meter.grew(this.size)
  }

  find(source: number, tag: number): E | undefined {
    const before = this.passed
    const begin = performance.now()
    const found = this.#list.find(source, tag)
    const ms = performance.now() - begin
    this.#meter.searched(this.size, this.passed - before, found !== undefined, ms)
    return found
  }

  remove(entry: E): void {
    this.#list.remove(entry)
  }

  [Symbol.iterator](): Iterator<E> {
    return this.#list[Symbol.iterator]()
  }

  get statistics(): QueueStatistics {
    return this.#meter.statistics(this.size)
  }
}

/** The statistics of the searches of one matching queue. */
export interface QueueStatistics {
  /** The number of entries in it now. */
  readonly length: number
  readonly searches: number
  /** The number of searches that found a match. */
  readonly matches: number
  /** The number of entries that searches compared, or put into an index. */
  readonly passed: number
  /** The mean number of entries in the queue when a search began. */
  readonly meanLength: number
  readonly longest: number
  /** The searches by length of the queue: 0, 1, 2 to 3, 4 to 7, ...; up to the last that occurred. */
  readonly byLength: readonly number[]
  /** The milliseconds in searches; each takes one more reading of the clock than it contains. */
  readonly searchMs: number
}

/** The number of classes, since lengths are below 2^32. */
const lengthClasses = 33

/** Counts the searches of one queue with 33 counters, whatever the queue holds. */
class QueueMeter {
  readonly #byLength = new Float64Array(lengthClasses)
  #searches = 0
  #matches = 0
  #passed = 0
  #lengths = 0
  #longest = 0
  #searchMs = 0

  searched(length: number, passed: number, isMatch: boolean, ms: number): void {
    this.#searches++
    this.#byLength[32 - Math.clz32(length)]++
    this.#lengths += length
    this.#passed += passed
    this.#searchMs += ms
    if (isMatch) this.#matches++
  }

  /**
   * Notes that an entry was added.
   *
   * @param length with it
   */
  grew(length: number): void {
    if (length > this.#longest) this.#longest = length
  }

  statistics(length: number): QueueStatistics {
    const counts = this.#byLength
    return {
      length,
      searches: this.#searches,
      matches: this.#matches,
      passed: this.#passed,
      meanLength: this.#searches === 0 ? 0 : this.#lengths / this.#searches,
      longest: this.#longest,
      byLength: [...counts.subarray(0, counts.findLastIndex((count) => count > 0) + 1)],
      searchMs: this.#searchMs,
    }
  }
}
