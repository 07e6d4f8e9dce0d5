import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { RankweaveError } from '../../errors.js'
import type { Fabric, FabricCounters, FrameSink } from '../fabric.js'
import { maxHeaderWords } from '../fabric.js'
import { KeepAlive, Task } from '../own-handles.js'
import { Queue } from '../queue.js'
import { SpinPolicy } from './spin-policy.js'
import { recordKind, ThreadsBulk } from './threads-bulk.js'
import { bell, bellStride, ringOf, type ThreadsConnection } from './threads-connect.js'
import { type Queued, queued, ThreadsOutbox } from './threads-outbox.js'
import { RingReader } from './threads-ring.js'
import { type SegmentMessage, ThreadsSharing } from './threads-sharing.js'

/** Records taken from one ring in one go, so that timers, I/O and the other rings get their turn. */
const batchRecords = 1024
/** After so many spins that found something the event loop gets its turn. */
const spinsPerTurn = 1024

/**
 * One worker thread's end of the fabric. It is either awake, and then a task that looks at the rings is scheduled; or
 * asleep, and then its bell says so and whoever sends it something wakes it by a message, which costs nothing until
 * it comes.
 */
export class ThreadsProcess implements Fabric {
  readonly kind = 'threads'
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes: number
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk: ThreadsBulk
  readonly sharing: ThreadsSharing
  readonly #connection: ThreadsConnection
  readonly #bells: Int32Array
  /** By peer; none for this process itself. */
  readonly #readers: readonly (RingReader | undefined)[]
  readonly #outbox: ThreadsOutbox
  readonly #toSelf = new Queue<Queued>()
  readonly #lost: (RankweaveError | undefined)[] = []
  #unreported: { readonly peer: number; readonly reason: string }[] = []
  readonly #keepAlive = new KeepAlive()
  readonly #task = new Task(() => this.#turn())
  readonly #spinPolicy: SpinPolicy
  #sink: FrameSink | undefined
  #delivering = false
  #closed = false
  /** Frames delivered and bulk transfers settled: what somebody may have waited for. */
  #events = 0
  /** Something came since the last turn. */
  #active = false
  #activeAt = 0
  #asleep = false
  /** A spin was in vain, and nothing has come since: nobody here can go on without a frame, as far as we know. */
  #waiting = false
  /** Spins that found something since the last turn of the event loop. */
  #spins = 0

  /** @internal */
  constructor(connection: ThreadsConnection) {
    const { process, nodes, maxPayloadBytes, bells, ports } = connection
    this.#spinPolicy = new SpinPolicy(nodes.length > availableParallelism())
    this.#connection = connection
    this.process = process
    this.processes = nodes.length
    this.nodes = nodes
    this.maxPayloadBytes = maxPayloadBytes
    this.#bells = new Int32Array(bells)
    this.#outbox = new ThreadsOutbox(connection, this.#bells)
    this.#readers = nodes.map((_, peer) =>
      peer === process ? undefined : new RingReader(ringOf(connection, peer, process)),
    )
    this.bulk = new ThreadsBulk(
      {
        process,
        maxPayloadBytes,
        post: (peer, kind, header) => this.#post(peer, kind, header, undefined),
        write: (peer, kind, header, payload, from, to) => this.#write(peer, kind, header, payload, from, to),
        schedule: () => this.#wakeUp(),
        lost: (peer) =>
          this.#closed
            ? new RankweaveError('ERR_FABRIC', 'the session is closed: nothing can be sent')
            : this.#lost[peer],
        settled: () => {
          this.#events++
        },
      },
      nodes.length,
    )
    this.sharing = new ThreadsSharing({
      ports,
      heard: (peer, message) => this.#heard(peer, message),
      forget: (peer, segment) => {
        if (!this.#closed) this.#post(peer, recordKind.forget, Int32Array.of(segment), undefined)
      },
    })
    ports.forEach((port, peer) => {
      port?.on('message', (message: 0 | SegmentMessage) => {
        if (message === 0) this.#onBell()
        else this.sharing.learn(peer, message)
      })
      port?.unref()
    })
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) {
      throw new RankweaveError('ERR_FABRIC', `process ${this.process} already has a receiver of frames`)
    }
    this.#sink = sink
    this.#wakeUp()
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    if (this.#closed) throw new RankweaveError('ERR_FABRIC', 'the session is closed: nothing can be sent')
    // `length` is compiled in place, `byteLength` is a call; of bytes they are the same.
    const payloadBytes = payload === undefined ? 0 : payload.length
    if (
      !(peer >= 0 && peer < this.processes && Number.isInteger(peer)) ||
      header.length > maxHeaderWords ||
      payloadBytes > this.maxPayloadBytes
    ) {
      throw this.#refused(peer, header.length, payloadBytes)
    }
    this.counters.framesSent++
    this.counters.bytesSent += header.length * 4 + payloadBytes
    this.#post(peer, recordKind.frame, header, payload)
  }

  /** Frames that arrive while one is being delivered wait: a sink is never called by itself. */
  poll(): boolean {
    if (this.#delivering || this.#closed) return false
    return this.#look()
  }

  /**
   * Looks for frames for a short while, for when nobody here can go on without one: what comes within microseconds is
   * served in microseconds.
   */
  spin(): boolean {
    if (!this.#mayPoll()) return false
    this.#waiting = true
    return this.#spinPolicy.spin(this.#pollOften)
  }

  tryPoll(maxPolls: number): boolean {
    if (!this.#mayPoll()) return false
    // None of these changes before something is found.
    if (this.#toSelf.size + this.#outbox.waiting > 0 || this.bulk.moving) return this.#look() && this.#found()
    for (let looks = 0; looks < maxPolls; looks++) {
      for (let peer = 0; peer < this.processes; peer++) {
        const reader = this.#readers[peer]
        if (reader?.next() === true) return this.#takeOne(peer, reader) && this.#found()
      }
    }
    return false
  }

  #mayPoll(): boolean {
    if (this.#delivering || this.#closed || this.#sink === undefined || this.processes === 1) return false
    this.#wakeUp()
    return this.#spins < spinsPerTurn
  }

  readonly #pollOften = (times: number): boolean => {
    for (let looks = 0; looks < times && !this.#closed; looks++) {
      if (this.#look()) return this.#found()
    }
    return false
  }

  #found(): true {
    this.#spins++
    this.#waiting = false
    return true
  }

  ref(): void {
    this.#keepAlive.ref()
  }

  unref(): void {
    this.#keepAlive.unref()
  }

  /** @internal Nothing is under way here, as far as this process can see. */
  quiet(): boolean {
    if (this.#outbox.waiting + this.#toSelf.size + this.#unreported.length > 0 || !this.bulk.idle)
      return false
    return this.#readers.every((reader) => reader === undefined || reader.empty)
  }

  /** @internal A process is gone; its worker's parent tells. What it sent before still arrives. */
  lose(peer: number, reason: string): void {
    if (this.#closed || this.#lost[peer] !== undefined) return
    this.#unreported.push({ peer, reason })
    this.#wakeUp()
  }

  /** @internal */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#task.cancel()
    // From here on nobody keeps anything for us.
    Atomics.store(this.#bells, this.process * bellStride, bell.closed)
    this.bulk.fail(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    while (this.#toSelf.take() !== undefined);
    this.#unreported = []
    this.#readers.forEach((reader, peer) => {
      if (reader?.takeRequest() === true) this.#outbox.ring(peer)
    })
    await this.#outbox.drain()
    this.sharing.clear()
    this.#keepAlive.close()
    for (const port of this.#connection.ports) port?.close()
  }

  // -- sending -------------------------------------------------------------------------------------------------

  #post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (peer !== this.process) {
      if (!this.#outbox.post(peer, kind, header, payload)) this.#wakeUp()
      return
    }
    this.#toSelf.push(queued(kind, header, payload))
    this.#wakeUp()
  }

  #write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array,
    from: number,
    to: number,
  ): boolean {
    if (peer !== this.process) return this.#outbox.write(peer, kind, header, payload, from, to)
    // Bulk to oneself.
    this.#toSelf.push(queued(kind, header, payload.subarray(from, to)))
    this.#wakeUp()
    return true
  }

  #flush(): void {
    for (let peer = 0; peer < this.processes; peer++) {
      if (this.#outbox.waitsFor(peer)) this.#outbox.flush(peer)
      if (this.bulk.isMovingTo(peer)) this.bulk.pump(peer)
    }
  }

  // -- receiving -----------------------------------------------------------------------------------------------

  /** Takes what is there, and moves on what waits for room; true if somebody may have waited for what came. */
  #look(): boolean {
    if (this.#sink === undefined) return false
    const before = this.#events
    const { processes } = this
    this.#delivering = true
    try {
      if (this.#toSelf.size > 0) this.#takeOwn()
      for (let peer = 0; peer < processes; peer++) {
        const reader = this.#readers[peer]
        if (reader === undefined) continue
        try {
          for (let n = 0; n < batchRecords && !this.#closed && reader.next(); n++) this.#take(peer, reader)
        } finally {
          if (reader.release()) this.#outbox.ring(peer)
        }
      }
    } finally {
      this.#delivering = false
    }
    if (this.#outbox.waiting > 0 || this.bulk.moving) this.#flush()
    return this.#events !== before
  }

  /**
   * Takes one record; true if somebody may have waited for it. The room of what was read is not given back here: there
   * is a turn of the event loop to come, which does that once for many.
   */
  #takeOne(peer: number, reader: RingReader): boolean {
    const before = this.#events
    this.#delivering = true
    try {
      this.#take(peer, reader)
    } finally {
      this.#delivering = false
    }
    return this.#events !== before
  }

  /** Hands on the record that a reader has come to; a frame where it lies, if its receiver takes it so. */
  #take(src: number, reader: RingReader): void {
    this.#active = true
    if (reader.kind !== recordKind.frame) {
      this.#record(src, reader.kind, reader.header, reader.payload)
      return
    }
    const { headerWords, payloadBytes } = reader
    const sink = this.#sink!
    this.#count(headerWords, payloadBytes)
    const { words, headerAt, bytes, payloadAt } = reader
    if (sink.inPlace?.(src, words, headerAt, bytes, payloadAt, payloadBytes) === true) return
    sink.frame(src, reader.header, reader.payload)
  }

  #count(headerWords: number, payloadBytes: number): void {
    this.#events++
    this.counters.framesReceived++
    this.counters.bytesReceived += headerWords * 4 + payloadBytes
  }

  /** Frames to oneself that were sent before, not those sent in answer. */
  #takeOwn(): void {
    this.#active = true
    for (let left = this.#toSelf.size; left > 0 && !this.#closed; left--) {
      const { kind, header, payload } = this.#toSelf.take()!
      this.#record(this.process, kind, header, payload)
    }
  }

  #record(src: number, kind: number, header: Int32Array, payload: Uint8Array): void {
    if (kind === recordKind.forget) {
      this.sharing.forget(src, header[0]!)
      return
    }
    if (kind !== recordKind.frame) {
      this.bulk.record(src, kind, header, payload)
      return
    }
    this.#count(header.length, payload.length)
    this.#sink!.frame(src, header, payload)
  }

  // -- waking and sleeping -------------------------------------------------------------------------------------

  #onBell(): void {
    if (this.#closed) return
    this.#asleep = false
    this.#turn()
  }

  /** A message that was looked for in its port instead of waited for. A bell has changed our word already. */
  #heard(peer: number, message: 0 | SegmentMessage): void {
    if (message !== 0) this.sharing.learn(peer, message)
    else if (!this.#closed) {
      this.#asleep = false
      this.#task.schedule()
    }
  }

  /** From here on the rings are looked at, without being told. */
  #wakeUp(): void {
    if (this.#closed) return
    if (this.#asleep) {
      this.#asleep = false
      Atomics.store(this.#bells, this.process * bellStride, bell.awake)
    }
    this.#task.schedule()
  }

  #turn(): void {
    if (this.#closed || this.#sink === undefined) return
    this.#spins = 0
    try {
      if (!this.#delivering && !this.#look() && this.#waiting) this.#spinPolicy.spinInTurn(this.#pollOften)
      this.#reportLosses()
    } finally {
      if (!this.#closed) this.#goOn()
    }
  }

  #goOn(): void {
    const now = performance.now()
    const pollOnMs = this.#spinPolicy.pollOnMs(now)
    if (this.#active || this.#outbox.active) {
      this.#active = this.#outbox.active = false
      this.#activeAt = now
    }
    if (now - this.#activeAt < pollOnMs || this.#toSelf.size > 0) this.#task.schedule()
    else this.#sleep()
  }

  #sleep(): void {
    this.#task.cancel()
    this.#waiting = false
    this.#asleep = true
    Atomics.store(this.#bells, this.process * bellStride, bell.asleep)
    // What came before the bell was set, and room made before it was asked for, nobody rings for.
    if (this.#outbox.waiting > 0 || this.bulk.moving) {
      for (let peer = 0; peer < this.processes; peer++) {
        if (this.#outbox.waitsFor(peer) || this.bulk.isMovingTo(peer)) this.#outbox.askForRoom(peer)
      }
      this.#flush()
    }
    if (this.#active || this.#outbox.active || this.#readers.some((reader) => reader?.empty === false)) {
      this.#wakeUp()
    }
  }

  #reportLosses(): void {
    if (this.#unreported.length === 0) return
    const unreported = this.#unreported
    this.#unreported = []
    for (const { peer, reason } of unreported) {
      if (this.#lost[peer] !== undefined) continue
      const reader = this.#readers[peer]
      while (reader !== undefined && !this.#closed && reader.next()) this.#take(peer, reader)
      this.#lost[peer] = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#outbox.lose(peer)
      this.bulk.fail(this.#lost[peer], peer)
      this.#active = true
      this.#sink?.peerLost(peer, reason)
    }
  }

  #refused(peer: number, headerWords: number, payloadBytes: number): RankweaveError {
    if (headerWords > maxHeaderWords) {
      return new RankweaveError(
        'ERR_FABRIC',
        `a header has at most ${maxHeaderWords} words, got ${headerWords}`,
      )
    }
    if (payloadBytes > this.maxPayloadBytes) {
      return new RankweaveError(
        'ERR_FABRIC',
        `a payload has at most ${this.maxPayloadBytes} bytes, got ${payloadBytes}`,
      )
    }
    return new RankweaveError('ERR_FABRIC', `expected a process in 0..${this.processes - 1}, got ${peer}`)
  }
}
