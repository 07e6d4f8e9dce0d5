import { requireEntries } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import type {
  Fabric,
  FabricCounters,
  FabricFactory,
  FabricSession,
  FrameSink,
  ProcessHeap,
} from '../fabric.js'
import { alreadyAttached, checkFrame, closedToSends } from '../fabric.js'
import { KeepAlive } from '../own-handles.js'
import { retainFreedMemory, v8Heap } from '../process-heap.js'
import { Queue } from '../queue.js'
import { MpiBulk } from './mpi-bulk.js'
import { type FrameTaker, MpiInbox } from './mpi-inbox.js'
import { joinMpiJob, type MpiJob } from './mpi-job.js'
import { abortJobOnEarlyExit, requireLauncher, settleColors } from './mpi-launcher.js'
import type { MpiLoans } from './mpi-loans.js'
import { MpiMemory } from './mpi-memory.js'
import { MpiOutbox, mpiPayloadBytes } from './mpi-outbox.js'
import { MpiPolling } from './mpi-polling.js'
import { MpiStaging } from './mpi-shared-memory.js'

export interface MpiOptions {
  /** The file of the MPI library. Default: RANKWEAVE_MPI_LIB, else the one that belongs to the launcher. */
  readonly library?: string
  /** The ranks of every process, for `run`, the same on all processes. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The node label of every process. Default: processes that can share memory are on one node. */
  readonly nodes?: readonly string[]
}

const mpiOptions: OptionTable<MpiOptions> = {
  ...uncheckedOptions('library', 'ranksPerProcess', 'nodes'),
}

/**
 * Returns a fabric of the processes that an MPI launcher started, connected by MPI. All of them open sessions in the
 * same order. A process that exits while it has one open aborts the whole job, since MPI does not survive the loss of a
 * process.
 *
 * @throws ERR_MPI_LAUNCHER if no launcher started this process
 * @throws ERR_WORLD for options that do not fit the number of processes
 */
export function mpi(options: MpiOptions = {}): MpiFactory {
  abortJobOnEarlyExit()
  checkOptions('mpi', mpiOptions, options)
  const { library, ranksPerProcess, nodes } = options
  const { processes } = requireLauncher()
  settleColors()
  requireEntries('mpi', { ranksPerProcess, nodes }, processes)
  const openAfter = (ready: Promise<unknown>) =>
    opening.enter(ready, async () => openMpi(await joinMpiJob(library), nodes))
  return {
    kind: 'mpi',
    processes,
    isJob: true,
    places: 'OS processes',
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    open: () => openAfter(Promise.resolve()),
    openAfter,
  }
}

/**
 * Opens sessions one after the other, in the order in which places were taken, which is the same on all processes. Open
 * MPI hangs when processes duplicate a communicator several times at once (4.1.4).
 */
class OpeningOrder {
  #last: Promise<unknown> = Promise.resolve()

  /** Takes the next place now; opens when all places before are done and `ready` has resolved. */
  enter<T>(ready: Promise<unknown>, open: () => Promise<T>): Promise<T> {
    const before = this.#last
    const opened = (async () => {
      await before
      await ready
      return open()
    })()
    this.#last = opened.catch(() => {})
    return opened
  }
}

const opening = new OpeningOrder()

export interface MpiFactory extends FabricFactory {
  readonly kind: 'mpi'
  open(): Promise<MpiSession>
  /**
   * Takes its place among the sessions of this process now, and opens once `ready` has resolved. @internal
   */
  openAfter(ready: Promise<unknown>): Promise<MpiSession>
}

async function openMpi(job: MpiJob, nodes: readonly string[] = job.nodes): Promise<MpiSession> {
  const { abi, calls, addressOf } = job.library
  const memory = new MpiMemory(64, addressOf)
  const { address } = memory
  job.openSessions++
  // Other sessions must make progress meanwhile: other processes may wait for them before they reach this call.
  calls.commIdup(abi.commWorld, address, address + 16)
  await job.completed(address + 16, memory, 32)
  return new MpiSession(job, memory.number(0, abi.handleBytes), nodes)
}

/** The bytes of a text in `textsOfAll`. */
const textBytes = 16

/** The part of this process in one world: messages of a separate communicator. */
export class MpiSession implements FabricSession {
  readonly kind = 'mpi'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly MpiProcess[]
  readonly job: MpiJob
  readonly #comm: number
  readonly #process: MpiProcess
  #closing: Promise<void> | undefined
  #retained = false

  /** Users do not call this: sessions come from `mpi().open()`. */
  constructor(job: MpiJob, comm: number, nodes: readonly string[]) {
    this.job = job
    this.processes = job.processes
    this.nodes = nodes
    this.#comm = comm
    this.#process = new MpiProcess(job, comm, nodes)
    this.hosted = [this.#process]
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Resolves when all processes have closed, and all that was sent has been received. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * Gathers a text of at most {@link textBytes} ASCII characters from every process, by process. All call it. @internal
   */
  async textsOfAll(mine: string): Promise<readonly string[]> {
    if (mine.length > textBytes)
      throw new RangeError(`a text of ${mine.length} characters, longer than ${textBytes}`)
    const { abi, calls, addressOf } = this.job.library
    const control = new MpiMemory(64, addressOf)
    const all = new MpiMemory(textBytes * this.processes, addressOf)
    const { address } = control
    for (let i = 0; i < mine.length; i++) control.bytes[i] = mine.charCodeAt(i)
    calls.iallgather(address, textBytes, abi.byte, all.address, textBytes, abi.byte, this.#comm, address + 16)
    await this.job.completed(address + 16, control, 32)
    return Array.from({ length: this.processes }, (_, p) => {
      const text = Buffer.from(all.bytes.subarray(p * textBytes, (p + 1) * textBytes)).toString('latin1')
      return text.replace(/\0+$/, '')
    })
  }

  /**
   * Returns the text of process 0, of any number of ASCII characters. All processes call it, each with a text.
   * @internal
   */
  async textOfFirst(mine: string): Promise<string> {
    const pieces: string[] = []
    for (let at = 0; ; at += textBytes) {
      const [piece] = await this.textsOfAll(mine.slice(at, at + textBytes))
      pieces.push(piece)
      if (piece.length < textBytes) return pieces.join('')
    }
  }

  /** Retains the communicator after `close`, for `collect`. @internal */
  retain(): void {
    this.#retained = true
  }

  /**
   * Gathers the bytes of every process, in process order, on process 0; undefined elsewhere. All processes call it,
   * once, after a retained session has closed. @internal
   */
  async collect(mine: Uint8Array): Promise<Uint8Array[] | undefined> {
    const { library } = this.job
    const { abi, calls, addressOf } = library
    const { processes } = this
    const control = new MpiMemory(64, addressOf)
    const sizes = new MpiMemory(8 * processes, addressOf)
    const [request, flagAt] = [control.address + 16, 32]
    control.words[0] = mine.byteLength
    calls.igather(control.address, 1, abi.int, sizes.address, 1, abi.int, 0, this.#comm, request)
    await this.job.completed(request, control, flagAt)
    let total = 0
    for (let p = 0; p < processes; p++) {
      sizes.words[processes + p] = total
      total += sizes.words[p]
    }
    const here = new MpiMemory(Math.max(8, mine.byteLength), addressOf)
    here.bytes.set(mine)
    const all = new MpiMemory(Math.max(8, total), addressOf)
    const places = sizes.address + 4 * processes
    calls.igatherv(
      here.address,
      mine.byteLength,
      abi.byte,
      all.address,
      sizes.address,
      places,
      abi.byte,
      0,
      this.#comm,
      request,
    )
    await this.job.completed(request, control, flagAt)
    const parts = Array.from({ length: processes }, (_, p) => {
      const begin = sizes.words[processes + p]
      return all.bytes.subarray(begin, begin + sizes.words[p])
    })
    this.free()
    return this.job.process === 0 ? parts : undefined
  }

  async #close(): Promise<void> {
    await this.#process.drain(this.job, this.#comm)
    if (!this.#retained) this.free()
  }

  /** Frees the communicator of a session. @internal */
  free(): void {
    const { abi, calls, addressOf } = this.job.library
    const memory = new MpiMemory(64, addressOf)
    memory.setNumber(0, abi.handleBytes, this.#comm)
    calls.commFree(memory.address)
    this.job.openSessions--
  }
}

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

/**
 * Receives and drops what is still in flight to a process that has closed, and frees MPI's requests. Every process of
 * the session takes part; the last one to close determines how long it takes.
 */
async function drainSession(
  job: MpiJob,
  comm: number,
  outbox: MpiOutbox,
  inbox: MpiInbox,
  bulk: MpiBulk,
): Promise<void> {
  const { abi, calls, addressOf } = job.library
  const { processes } = job
  // `close` may have been called while a frame is being delivered.
  await turn()
  await until(() => {
    inbox.discard()
    outbox.flush()
    return !outbox.waiting
  })
  // The counts are, per process, messages with frames and messages of bulk transfers.
  const counts = new MpiMemory(64 + processes * 8, addressOf)
  const { address, words } = counts
  const [resultAt, requestAt, flagAt, sentAt] = [0, 16, 32, 64]
  for (let p = 0; p < processes; p++) {
    words[(sentAt >> 2) + 2 * p] = outbox.sentMessages[p]
    words[(sentAt >> 2) + 2 * p + 1] = bulk.sentMessages[p]
  }
  calls.ireduceScatterBlock(
    address + sentAt,
    address + resultAt,
    2,
    abi.int,
    abi.sum,
    comm,
    address + requestAt,
  )
  const agreed = () => {
    if (words[flagAt >> 2] === 0) calls.test(address + requestAt, address + flagAt, abi.statusIgnore)
    return words[flagAt >> 2] !== 0
  }
  await until(() => {
    while (inbox.discard());
    if (bulk.moving) bulk.progress()
    return agreed() && inbox.received === words[0] && outbox.drained()
  })
  inbox.close()
  await until(() => bulk.drained(words[1]))
}

/** The number of turns of the event loop before a timer polls instead. */
const eagerTurns = 200

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    await new Promise((resolve) => {
      if (turn < eagerTurns) setImmediate(resolve)
      else setTimeout(resolve, 1)
    })
  }
}
