import type { Entry } from '../matching-queues/entry.js'
import type { MatchingList } from '../matching-queues/matching-list.js'
import { QueueMeter, type QueueStatistics } from './queue-meter.js'

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
