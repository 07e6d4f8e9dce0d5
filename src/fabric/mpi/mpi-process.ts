import { RankweaveError } from '../../errors.js'
import type { Fabric, FabricCounters, FrameSink, ProcessHeap } from '../fabric.js'
import { alreadyAttached, checkFrame, closedToSends } from '../frame-limits.js'
import { retainFreedMemory } from '../freed-memory.js'
import { KeepAlive } from '../own-handles.js'
import { Queue } from '../queue.js'
import { v8Heap } from '../v8-heap.js'
import { MpiBulk } from './mpi-bulk.js'
import { drainSession } from './mpi-drain.js'
import { type FrameTaker, MpiInbox } from './mpi-inbox.js'
import type { MpiJob } from './mpi-job.js'
import type { MpiLoans } from './mpi-loans.js'
import { mpiPayloadBytes } from './mpi-message.js'
import { MpiOutbox } from './mpi-outbox.js'
import { MpiPolling } from './mpi-polling.js'
import { MpiStaging } from './mpi-shared-memory.js'

/** A frame to oneself: the fabric's own copy. */
interface OwnFrame {
  /** The kind of a record of the fabric's own; 0 for frames. */
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** The number of frames taken in one batch, so that timers and I/O run in between. */
const batchFrames = 1024

/**
 * A process of an MPI job as a fabric. MPI makes progress only while it is called and cannot wake the event loop, so
 * this process polls for arrivals as often as `MpiPolling` decides.
 */
export class MpiProcess implements Fabric {
  readonly kind = 'mpi'
  readonly isTrusted = true
  readonly lossEffect = 'MPI aborts the job'
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly isOversubscribed: boolean
  readonly maxPayloadBytes = mpiPayloadBytes
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk: MpiBulk
  readonly staging?: MpiStaging
  readonly loans?: MpiLoans
  readonly heap: ProcessHeap = {
    open: v8Heap,
    retainFreed: retainFreedMemory,
    alone: (action) => {
      action()
      return true
    },
  }
  readonly tryPoll?: (maxPolls: number) => boolean
  readonly #outbox: MpiOutbox
  readonly #inbox: MpiInbox
  readonly #polling: MpiPolling
  readonly #keepAlive = new KeepAlive()
  readonly #toSelf = new Queue<OwnFrame>()
  readonly #looks = new Set<() => boolean>()
  #sink: FrameSink | undefined
  #delivering = false
  #closed = false

  /** @internal */
  constructor(job: MpiJob, comm: number, nodes: readonly string[]) {
    const { library, process, processes, maxTag } = job
    this.process = process
    this.processes = processes
    this.nodes = nodes
    this.isOversubscribed = job.isOversubscribed
    if (job.sharedMemory !== undefined) this.staging = new MpiStaging(job.sharedMemory)
    if (job.loans !== undefined) this.loans = job.loans
    this.#outbox = new MpiOutbox(library, comm, process, processes)
    this.#inbox = new MpiInbox(library, comm)
    this.bulk = new MpiBulk(library, comm, processes, maxTag, {
      process,
      post: (peer, kind, header) => this.#post(peer, kind, header),
      expectArrival: () => this.#polling.expectArrival(),
    })
    this.#polling = new MpiPolling({
      poll: () => this.#progress(),
      moving: () => this.bulk.moving,
      ...(library.yieldsTurn() ? {} : { yieldTurn: library.yieldTurn }),
      processesPerCore: job.processesPerCore,
    })
    if (processes > 1) this.tryPoll = (maxPolls) => this.#tryPoll(maxPolls)
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) throw alreadyAttached(this.process)
    this.#sink = sink
    this.#polling.expectArrival()
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    if (this.#closed) throw closedToSends()
    const payloadBytes = payload === undefined ? 0 : payload.byteLength
    checkFrame(peer, this.processes, header.length, payloadBytes, mpiPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.length * 4 + payloadBytes
    if (peer === this.process) {
      const own = payload === undefined ? nothing : new Uint8Array(payload)
      this.#toSelf.push({ kind: 0, header: header.slice(), payload: own })
    } else {
      this.#outbox.send(peer, header, payload)
    }
    // An answer is likely.
    this.#polling.expectArrival()
  }

  poll(): boolean {
    if (this.#delivering || this.#closed) return false
    return this.#progress()
  }

  spin(): boolean {
    if (this.#delivering || this.#closed || this.processes === 1) return false
    return this.#polling.spin()
  }

  watch(look: () => boolean): () => void {
    this.#looks.add(look)
    this.#polling.expectArrival()
    return () => this.#looks.delete(look)
  }

  ref(): void {
    this.#keepAlive.ref()
  }

  unref(): void {
    this.#keepAlive.unref()
  }

  /** @internal Returns whether nothing is in flight here, as far as this process can see. */
  quiet(): boolean {
    return this.#toSelf.size === 0 && !this.#outbox.waiting && !this.bulk.moving
  }

  /**
   * Closes, and resolves when all processes have closed and all that any of them sent has arrived. The processes sum up
   * how many messages each was sent, so every process knows how many are still to come. @internal
   */
  async drain(job: MpiJob, comm: number): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#looks.clear()
    this.#toSelf.clear()
    this.#polling.close()
    this.bulk.close(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    await drainSession(job, comm, this.#outbox, this.#inbox, this.bulk)
    this.staging?.release()
    this.#keepAlive.close()
  }

  #progress(): boolean {
    const sink = this.#sink
    if (sink === undefined || this.#delivering) return false
    const before = this.counters.framesReceived
    this.#delivering = true
    let completed = false
    try {
      completed = this.#look()
      this.#outbox.beforePoll()
      for (let left = this.#toSelf.size; left > 0 && !this.#closed; left--) {
        const { kind, header, payload } = this.#toSelf.take()!
        if (kind === 0) this.#taker.frame(this.process, header, payload)
        else this.#taker.record(this.process, kind, header)
      }
      for (let n = 0; n < batchFrames && !this.#closed && this.#inbox.next(this.#taker); n++);
      if (this.bulk.active && !this.#closed && this.bulk.progress()) completed = true
    } finally {
      this.#delivering = false
    }
    if (this.counters.framesReceived === before && !completed) return false
    this.#polling.arrived()
    return true
  }

  /** Calls the watching functions; true if one found a change. */
  #look(): boolean {
    let found = false
    for (const look of this.#looks) if (!this.#closed && look()) found = true
    return found
  }

  #post(peer: number, kind: number, header: Int32Array): void {
    if (peer === this.process) this.#toSelf.push({ kind, header: header.slice(), payload: nothing })
    else this.#outbox.post(peer, kind, header)
    this.#polling.expectArrival()
  }

  /** Delivers at most one frame. */
  #tryPoll(maxPolls: number): boolean {
    if (this.#delivering || this.#closed || this.#sink === undefined || !this.#polling.mayPoll()) return false
    // Frames to itself and transfers need more than this poll.
    if (this.#toSelf.size > 0 || this.bulk.moving) return false
    this.#outbox.beforePoll()
    this.#delivering = true
    try {
      for (let polls = this.#polling.attempts(maxPolls); polls > 0; polls--) {
        if (this.#look() || this.#inbox.next(this.#taker)) {
          this.#polling.succeeded()
          return true
        }
        this.#polling.failed()
      }
    } finally {
      this.#delivering = false
    }
    return false
  }

  readonly #taker: FrameTaker = {
    inPlace: (src, words, headerAt, bytes, payloadAt, payloadBytes) => {
      const sink = this.#sink!
      if (this.#closed || sink.inPlace === undefined) return false
      if (!sink.inPlace(src, words, headerAt, bytes, payloadAt, payloadBytes)) return false
      this.counters.framesReceived++
      this.counters.bytesReceived += this.#inbox.frameBytes
      return true
    },
    frame: (src, header, payload) => {
      // The memory that the sender knew to be written may have changed since this poll looked.
      this.#look()
      if (this.#closed) return
      this.counters.framesReceived++
      this.counters.bytesReceived += header.length * 4 + payload.byteLength
      this.#sink!.frame(src, header, payload)
    },
    record: (src, kind, header) => {
      if (!this.#closed) this.bulk.record(src, kind, header)
    },
  }
}

const nothing = new Uint8Array(0)
