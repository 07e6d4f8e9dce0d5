import { type Entry, EntryList } from '../matching-designs/entry-list.js'
import { QueueMeter, type QueueStatistics } from './queue-meter.js'

/** An entry list whose searches are counted and timed. */
export class MeteredList<E extends Entry> extends EntryList<E> {
  readonly #meter = new QueueMeter()

  override add(entry: E): void {
    super.add(entry)
    this.#meter.grew(this.size)
  }

  override find(source: number, tag: number): E | undefined {
    const before = this.passed
    const begin = performance.now()
    const found = super.find(source, tag)
    this.#meter.searched(this.size, this.passed - before, found !== undefined, performance.now() - begin)
    return found
  }

  get statistics(): QueueStatistics {
    return this.#meter.statistics(this.size)
  }
}
