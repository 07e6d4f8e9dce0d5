import { roundUp } from '../../base/bytes.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { ProcessCounters } from '../../messages/process/counters.js'
import { decodeLocation, encodeLocation } from '../../messages/process/staging.js'
import type { Exchange } from '../exchange/exchange.js'

/** The bytes of a cache line. Each counter has its own. */
const line = 64

/** The memory in which a process publishes: a counter, and two places in turn. */
interface Publication {
  /** The number of calls that the process has published, modulo 2^32. */
  readonly counter: Int32Array
  readonly places: readonly [Uint8Array, Uint8Array]
}

function publicationBytes(placeBytes: number): number {
  return line + 2 * roundUp(placeBytes, line)
}

/** @param bytes as many as {@link publicationBytes} says, at a multiple of 64 */
function publicationIn(bytes: Uint8Array, placeBytes: number): Publication {
  const place = (at: number) => bytes.subarray(at, at + placeBytes)
  return {
    counter: new Int32Array(bytes.buffer, bytes.byteOffset, 1),
    places: [place(line), place(line + roundUp(placeBytes, line))],
  }
}

/** A process whose publication this one reads, itself included. */
export interface PublishingPeer {
  /** The process index. */
  readonly peer: number
  readonly publication: Publication
}

/**
 * Tells whether the processes of a communicator read each other's memory and notice changes of it. The answer is the
 * same on all of them.
 */
export function canPublish({ runtime, processes, processIndex }: CommContext): boolean {
  const { staging, fabric } = runtime
  if (staging === undefined || fabric.watch === undefined || processes.count === 1) return false
  for (let i = 0; i < processes.count; i++)
    if (i !== processIndex && !staging.isSharedWith(processes.processes.at(i))) return false
  return true
}

/** Reserves memory for a publication until the communicator is freed; undefined if none is left. */
export function reservePublication(state: CommContext, placeBytes: number): Uint8Array | undefined {
  const bytes = state.runtime.staging!.reserve(publicationBytes(placeBytes), state)
  // The memory may have been used before.
  if (bytes !== undefined) publicationIn(bytes, placeBytes).counter[0] = 0
  return bytes
}

/**
 * Exchanges the places where processes publish. Each names all that it reads and all that read it.
 *
 * @param peers process indices, without this process
 * @param placeBytesOf length of the places of a process, this one included
 * @returns by process index, that of this process included
 */
export async function exchangePublications(
  { runtime, processes, processIndex }: CommContext,
  exchange: Exchange,
  own: Uint8Array,
  peers: readonly number[],
  placeBytesOf: (peer: number) => number,
  step: number,
): Promise<ReadonlyMap<number, PublishingPeer>> {
  const staging = runtime.staging!
  for (const peer of peers)
    exchange.send(peer, step, encodeLocation(staging.locate(processes.processes.at(peer), own)))
  const publication = publicationIn(own, placeBytesOf(processIndex))
  const found = new Map([[processIndex, { peer: processIndex, publication }]])
  for (const peer of peers) {
    const location = decodeLocation(await exchange.receive(peer, step))
    const placeBytes = placeBytesOf(peer)
    const bytes = staging.reach(processes.processes.at(peer), location, publicationBytes(placeBytes))
    found.set(peer, { peer, publication: publicationIn(bytes, placeBytes) })
  }
  return found
}

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
