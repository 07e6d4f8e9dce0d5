import type { Entry } from '../matching-queues/entry.js'
import type { MailboxDesign } from '../matching-queues/mailbox-designs.js'
import type { MatchingList } from '../matching-queues/matching-list.js'
import type { Arrived } from './arrived.js'
import { ANY_SOURCE, ANY_TAG } from './envelope.js'
import { QueueMeter, type QueueStatistics } from './queue-meter.js'
import type { Receive } from './receive.js'

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
