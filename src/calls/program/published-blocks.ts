import type { ProcessCounters } from '../../messages/process/counters.js'
import type { Exchange } from '../exchange.js'
import type { PublishingPeer } from './publication.js'

export interface PublishedData {
  /**
   * Writes the data that this process publishes.
   *
   * @param place 0 or 1
   */
  write(place: number): void
  /**
   * Reads the data that a source has published.
   *
   * @param source which of the sources
   */
  read(source: number, place: number): void
}

/**
 * Calls in which processes that share memory publish, and read what others have published, without a message. Each
 * process adds one to its counter when its data of a call are there, and waits for the counters of its sources.
 *
 * **Two places in turn suffice.** A process that has published call n has read everything of call n - 1. So place n mod
 * 2 may be written again in call n + 2 when all readers have published call n + 1. A call waits for its sources anyway;
 * it checks the counters of other readers before it writes.
 *
 * A process makes its calls one after the other, and all make the same number. A failed call is the last.
 */
export class PublishedBlocks {
  readonly #counter: Int32Array
  readonly #sources: readonly PublishingPeer[]
  readonly #readers: readonly PublishingPeer[]
  readonly #data: PublishedData
  readonly #counters: ProcessCounters
  #call = 0
  #isWritten = false
  /** The sources to be read, or readers that may be reading: the first `#left` numbers of the list. */
  readonly #open: Int32Array
  #left = 0

  /** @param readers processes that read this one's publication, without itself */
  constructor(
    { publication: { counter } }: PublishingPeer,
    sources: readonly PublishingPeer[],
    readers: readonly PublishingPeer[],
    data: PublishedData,
    counters: ProcessCounters,
  ) {
    this.#counter = counter
    this.#sources = sources
    this.#readers = readers
    this.#data = data
    this.#counters = counters
    this.#open = new Int32Array(Math.max(sources.length, readers.length))
  }

  /** Begins the next call. `done` is called when everything is read: at once, or while the fabric polls. */
  start(exchange: Exchange, done: () => void): void {
    this.#call = (this.#call + 1) | 0
    this.#isWritten = false
    this.#openAll(this.#readers.length)
    exchange.watch(this.#look, this.#awaited, done)
  }

  #openAll(count: number): void {
    this.#left = count
    for (let i = 0; i < count; i++) this.#open[i] = i
  }

  readonly #look = (): boolean => {
    const call = this.#call
    if (!this.#isWritten) {
      if (!this.#close(this.#readers, (call - 1) | 0, nothingToRead)) return false
      this.#data.write(call & 1)
      // The store is sequentially consistent: a process that sees the number sees what was written before.
      Atomics.store(this.#counter, 0, call)
      this.#counters.publications++
      this.#isWritten = true
      this.#openAll(this.#sources.length)
    }
    return this.#close(this.#sources, call, this.#read)
  }

  readonly #read = (source: number): void => this.#data.read(source, this.#call & 1)

  /** Closes the peers that have published this call; returns true when none is open. */
  #close(peers: readonly PublishingPeer[], call: number, closed: (i: number) => void): boolean {
    const open = this.#open
    for (let at = this.#left - 1; at >= 0; at--) {
      const i = open[at]
      const published = Atomics.load(peers[i].publication.counter, 0)
      if (((published - call) | 0) < 0) continue
      open[at] = open[--this.#left]
      closed(i)
    }
    return this.#left === 0
  }

  readonly #awaited = (): readonly number[] => {
    const peers = this.#isWritten ? this.#sources : this.#readers
    return Array.from(this.#open.subarray(0, this.#left), (i) => peers[i].peer)
  }
}

const nothingToRead = (): void => {}
