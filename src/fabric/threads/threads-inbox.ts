import type { FabricCounters, FrameSink } from '../fabric.js'
import { Queue } from '../queue.js'
import { ringOf, type ThreadsConnection } from './threads-connect.js'
import { type Queued, queued } from './threads-outbox.js'
import { RingReader, recordKind } from './threads-ring.js'

/** The number of records taken from one ring in one batch, so that timers, I/O and the other rings get their turn. */
const batchRecords = 1024

/** The services that receiving needs from its process. */
interface InboxHost {
  readonly counters: FabricCounters
  /** Handles a record of another kind than `frame`. */
  control(src: number, kind: number, header: Int32Array, payload: Uint8Array): void
  /** Wakes `peer`, which asked for it: its ring has space again. */
  wake(peer: number): void
}

/** Receives the records in the rings from peers, and those that a process sends to itself. */
export class ThreadsInbox {
  /**
   * The number of frames delivered, and of bulk transfers settled, which the owner counts: a rank may have waited for
   * them.
   */
  events = 0
  /** Whether a record was taken since the owner last reset this. */
  active = false
  /** The number of records taken from rings. */
  taken = 0
  /** Whether the sink is being called. */
  delivering = false
  sink: FrameSink | undefined
  readonly #host: InboxHost
  readonly #counters: FabricCounters
  readonly #process: number
  readonly #processes: number
  /** The readers by peer; none for this process itself. */
  readonly #readers: readonly (RingReader | undefined)[]
  readonly #toSelf = new Queue<Queued>()
  #closed = false

  constructor(connection: ThreadsConnection, host: InboxHost) {
    const { process, nodes } = connection
    this.#host = host
    this.#counters = host.counters
    this.#process = process
    this.#processes = nodes.length
    this.#readers = nodes.map((_, peer) =>
      peer === process ? undefined : new RingReader(ringOf(connection, peer, process)),
    )
  }

  /** The number of waiting records from this process to itself. */
  get waitingFromSelf(): number {
    return this.#toSelf.size
  }

  /** Whether no record waits in any ring. */
  get ringsEmpty(): boolean {
    return this.#readers.every((reader) => reader === undefined || reader.empty)
  }

  pushFromSelf(kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    this.#toSelf.push(queued(kind, header, payload))
  }

  /** Takes what has arrived, up to a batch per ring. */
  receive(): void {
    this.delivering = true
    try {
      if (this.#toSelf.size > 0) this.#takeFromSelf()
      for (let peer = 0; peer < this.#processes; peer++) {
        const reader = this.#readers[peer]
        if (reader === undefined) continue
        try {
          for (let n = 0; n < batchRecords && !this.#closed && reader.next(); n++) {
            // A writer that waits fills the ring while the rest of the batch is read.
            if (reader.hasReleased) this.#released(peer, reader)
            this.#take(peer, reader)
          }
        } finally {
          if (reader.release()) this.#host.wake(peer)
        }
      }
    } finally {
      this.delivering = false
    }
  }

  /**
   * Polls the rings at most `maxPolls` times and takes the first record; true if a rank may have waited for it. The
   * space of the record is not released here: a turn of the event loop follows, which does that once for many.
   */
  receiveOne(maxPolls: number): boolean {
    const processes = this.#processes
    const readers = this.#readers
    for (let polls = 0; polls < maxPolls; polls++) {
      for (let peer = 0; peer < processes; peer++) {
        const reader = readers[peer]
        if (reader?.next() === true) return this.#takeOne(peer, reader)
      }
    }
    return false
  }

  /** Takes everything that `peer` has sent. */
  receiveRest(peer: number): void {
    const reader = this.#readers[peer]
    while (reader !== undefined && !this.#closed && reader.next()) this.#take(peer, reader)
  }

  /** Takes no more frames. Peers that wait for space are woken: they find this process closed. */
  close(): void {
    this.#closed = true
    this.#toSelf.clear()
    this.#readers.forEach((reader, peer) => {
      if (reader?.takeRequest() === true) this.#host.wake(peer)
    })
  }

  #released(peer: number, reader: RingReader): void {
    reader.hasReleased = false
    if (reader.takeRequest()) this.#host.wake(peer)
  }

  #takeOne(peer: number, reader: RingReader): boolean {
    const before = this.events
    this.delivering = true
    try {
      this.#take(peer, reader)
    } finally {
      this.delivering = false
    }
    return this.events !== before
  }

  /** Delivers the record that a reader has reached; a frame in place, if the sink accepts that. */
  #take(src: number, reader: RingReader): void {
    this.active = true
    this.taken++
    if (reader.kind !== recordKind.frame) {
      this.#host.control(src, reader.kind, reader.header, reader.payload)
      return
    }
    const { headerWords, payloadBytes } = reader
    const sink = this.sink!
    this.#count(headerWords, payloadBytes)
    const { words, headerAt, bytes, payloadAt } = reader
    if (sink.inPlace?.(src, words, headerAt, bytes, payloadAt, payloadBytes) === true) return
    sink.frame(src, reader.header, reader.payload)
  }

  #count(headerWords: number, payloadBytes: number): void {
    const counters = this.#counters
    this.events++
    counters.framesReceived++
    counters.bytesReceived += headerWords * 4 + payloadBytes
  }

  /** Takes the records to itself that were sent before, not those sent in answer. */
  #takeFromSelf(): void {
    this.active = true
    for (let left = this.#toSelf.size; left > 0 && !this.#closed; left--) {
      const { kind, header, payload } = this.#toSelf.take()!
      if (kind === recordKind.frame) {
        this.#count(header.length, payload.length)
        this.sink!.frame(this.#process, header, payload)
      } else this.#host.control(this.#process, kind, header, payload)
    }
  }
}
