import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { RankweaveError } from '../errors.js'
import type { Fabric, FabricCounters, FrameSink } from './fabric.js'
import { maxHeaderWords } from './fabric.js'
import { Queue } from './local-queues.js'
import { KeepAlive, Task } from './own-handles.js'
import { recordKind, ThreadsBulk } from './threads-bulk.js'
import { bell, bellStride, ringOf, type ThreadsConnection } from './threads-connect.js'
import { type RecordSink, RingReader, RingWriter } from './threads-ring.js'
import { type SegmentMessage, ThreadsSharing } from './threads-sharing.js'

/** A record that found its ring full, or a frame to oneself: the fabric's own copy. */
interface Queued {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** Records taken from one ring in one go, so that timers, I/O and the other rings get their turn. */
const batchRecords = 1024
/**
 * How long a process that waits goes on looking before it sleeps: without pause at first, then for a while in every
 * turn of the event loop. To be woken costs up to 0.1 ms where the core has to be woken too; a process that slept
 * sooner would be asleep again whenever its peer has just been woken. Processes that must share cores are in each
 * other's way instead.
 */
const patience = { spinMs: 0.05, turnMs: 0.02, lookOnMs: 1 } as const
/** A look takes nanoseconds; when this has passed between two, somebody else had the core. */
const displacedMs = 0.5
/** For how long the machine counts as crowded then. */
const crowdedMs = 20
const patienceInCrowd = { spinMs: 0.005, turnMs: 0, lookOnMs: 0.1 } as const
/** After so many spins that found something the event loop gets its turn. */
const spinsPerTurn = 1024
/** Looks between two looks at the clock. */
const looksPerClock = 16

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
  readonly #writers: readonly (RingWriter | undefined)[]
  readonly #readers: readonly (RingReader | undefined)[]
  readonly #sinks: readonly RecordSink[]
  readonly #overflow: readonly Queue<Queued>[]
  /** Records in all overflow queues. */
  #overflowing = 0
  readonly #toSelf = new Queue<Queued>()
  readonly #lost: (RankweaveError | undefined)[] = []
  #untold: { readonly peer: number; readonly reason: string }[] = []
  readonly #keepAlive = new KeepAlive()
  readonly #task = new Task(() => this.#turn())
  #sink: FrameSink | undefined
  #delivering = false
  #closed = false
  /** Frames delivered and bulk transfers settled: what somebody may have waited for. */
  #events = 0
  /** Something came or left since the last turn. */
  #active = false
  #activeAt = 0
  #asleep = false
  #patience: typeof patience | typeof patienceInCrowd
  #crowdedUntil: number
  /** A spin was in vain, and nothing has come since: nobody here can go on without a frame, as far as we know. */
  #waiting = false
  /** Spins that found something since the last turn of the event loop. */
  #spins = 0

  /** @internal */
  constructor(connection: ThreadsConnection) {
    const { process, nodes, maxPayloadBytes, bells, ports } = connection
    this.#crowdedUntil = nodes.length > availableParallelism() ? Number.POSITIVE_INFINITY : 0
    this.#patience = this.#crowdedUntil > 0 ? patienceInCrowd : patience
    this.#connection = connection
    this.process = process
    this.processes = nodes.length
    this.nodes = nodes
    this.maxPayloadBytes = maxPayloadBytes
    this.#bells = new Int32Array(bells)
    const peers = nodes.map((_, peer) => peer)
    const others = <T>(make: (peer: number) => T) =>
      peers.map((peer) => (peer === process ? undefined : make(peer)))
    this.#writers = others((peer) => new RingWriter(ringOf(connection, process, peer)))
    this.#readers = others((peer) => new RingReader(ringOf(connection, peer, process)))
    this.#sinks = peers.map((src) => (kind, header, payload) => this.#record(src, kind, header, payload))
    this.#overflow = peers.map(() => new Queue())
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
    const payloadBytes = payload === undefined ? 0 : payload.byteLength
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
    if (!this.#mayLook()) return false
    this.#waiting = true
    return this.#lookFor(this.#patience.spinMs)
  }

  glance(maxLooks: number): boolean {
    return this.#mayLook() && this.#lookOften(maxLooks)
  }

  #mayLook(): boolean {
    if (this.#delivering || this.#closed || this.processes === 1) return false
    this.#wakeUp()
    return this.#spins < spinsPerTurn
  }

  #lookFor(milliseconds: number): boolean {
    // What comes at once should not have to wait for the clock to be read.
    for (let until = 0, before = 0; !this.#closed; ) {
      if (this.#lookOften(looksPerClock)) return true
      const now = performance.now()
      if (until === 0) until = now + milliseconds
      else {
        if (now - before > displacedMs) {
          this.#crowdedUntil = now + crowdedMs
          this.#patience = patienceInCrowd
        }
        if (now >= until) break
      }
      before = now
    }
    return false
  }

  #lookOften(times: number): boolean {
    for (let looks = 0; looks < times; looks++) {
      if (!this.#look()) continue
      this.#spins++
      this.#waiting = false
      return true
    }
    return false
  }

  ref(): void {
    this.#keepAlive.ref()
  }

  unref(): void {
    this.#keepAlive.unref()
  }

  /** @internal Nothing is under way here, as far as this process can see. */
  quiet(): boolean {
    if (this.#overflowing > 0 || this.#toSelf.size > 0 || this.#untold.length > 0 || !this.bulk.idle)
      return false
    return this.#readers.every((reader) => reader === undefined || reader.empty)
  }

  /** @internal A process is gone; its worker's parent tells. What it sent before still arrives. */
  lose(peer: number, reason: string): void {
    if (this.#closed || this.#lost[peer] !== undefined) return
    this.#untold.push({ peer, reason })
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
    this.#untold = []
    this.#readers.forEach((reader, peer) => {
      if (reader?.takeRequest() === true) this.#ring(peer)
    })
    // What was sent still goes to those who read.
    for (;;) {
      this.#overflow.forEach((_, peer) => {
        this.#flushTo(peer)
        if (this.#isClosed(peer)) this.#drop(peer)
      })
      if (this.#overflowing === 0) break
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.sharing.clear()
    this.#keepAlive.close()
    for (const port of this.#connection.ports) port?.close()
  }

  // -- sending -------------------------------------------------------------------------------------------------

  #post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (peer === this.process) {
      this.#toSelf.push({
        kind,
        header: header.slice(),
        payload: payload === undefined ? none : copyOf(payload),
      })
      this.#wakeUp()
      return
    }
    const bytes = payload === undefined ? 0 : payload.byteLength
    if (this.#write(peer, kind, header, payload, 0, bytes)) return
    if (this.#lost[peer] !== undefined) return
    this.#overflow[peer]!.push({
      kind,
      header: header.slice(),
      payload: payload === undefined ? none : copyOf(payload),
    })
    this.#overflowing++
    this.#wakeUp()
  }

  #write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array | undefined,
    from: number,
    to: number,
  ): boolean {
    if (peer === this.process) {
      // Bulk to oneself.
      this.#toSelf.push({ kind, header: header.slice(), payload: payload!.slice(from, to) })
      this.#wakeUp()
      return true
    }
    if (this.#lost[peer] !== undefined || this.#overflow[peer]!.size > 0) return false
    if (!this.#writers[peer]!.write(kind, header, payload, from, to)) return false
    this.#active = true
    this.#ring(peer)
    return true
  }

  /** Wakes `peer` if it sleeps. */
  #ring(peer: number): void {
    const at = peer * bellStride
    if (Atomics.load(this.#bells, at) !== bell.asleep) return
    if (Atomics.compareExchange(this.#bells, at, bell.asleep, bell.awake) !== bell.asleep) return
    this.#connection.ports[peer]!.postMessage(0)
  }

  #flush(): void {
    for (let peer = 0; peer < this.processes; peer++) {
      if (this.#overflow[peer]!.size > 0) this.#flushTo(peer)
      if (this.bulk.isMovingTo(peer)) this.bulk.pump(peer)
    }
  }

  #flushTo(peer: number): void {
    const queue = this.#overflow[peer]!
    const writer = this.#writers[peer]
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      const { kind, header, payload } = next
      if (!writer!.write(kind, header, payload, 0, payload.byteLength)) {
        if (this.#isClosed(peer)) this.#drop(peer)
        return
      }
      queue.take()
      this.#overflowing--
      this.#active = true
      this.#ring(peer)
    }
  }

  #isClosed(peer: number): boolean {
    return Atomics.load(this.#bells, peer * bellStride) === bell.closed
  }

  #drop(peer: number): void {
    const queue = this.#overflow[peer]!
    this.#overflowing -= queue.size
    queue.clear()
  }

  // -- receiving -----------------------------------------------------------------------------------------------

  /** Takes what is there, and moves on what waits for room; true if somebody may have waited for what came. */
  #look(): boolean {
    const sink = this.#sink
    if (sink === undefined) return false
    const before = this.#events
    const { processes } = this
    this.#delivering = true
    try {
      if (this.#toSelf.size > 0) this.#takeOwn()
      for (let peer = 0; peer < processes; peer++) {
        const reader = this.#readers[peer]
        if (reader === undefined || reader.empty) continue
        this.#active = true
        const take = this.#sinks[peer]!
        try {
          for (let n = 0; n < batchRecords && !this.#closed && reader.read(take); n++);
        } finally {
          reader.release()
        }
        if (reader.takeRequest()) this.#ring(peer)
      }
    } finally {
      this.#delivering = false
    }
    if (this.#overflowing > 0 || this.bulk.moving) this.#flush()
    return this.#events !== before
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
    this.#events++
    this.counters.framesReceived++
    this.counters.bytesReceived += header.length * 4 + payload.byteLength
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
      if (!this.#delivering && !this.#look() && this.#waiting) this.#lookFor(this.#patience.turnMs)
      this.#tellLosses()
    } finally {
      if (!this.#closed) this.#goOn()
    }
  }

  #goOn(): void {
    const now = performance.now()
    if (now >= this.#crowdedUntil) this.#patience = patience
    if (this.#active) {
      this.#active = false
      this.#activeAt = now
    }
    if (now - this.#activeAt < this.#patience.lookOnMs || this.#toSelf.size > 0) this.#task.schedule()
    else this.#sleep()
  }

  #sleep(): void {
    this.#task.cancel()
    this.#waiting = false
    this.#asleep = true
    Atomics.store(this.#bells, this.process * bellStride, bell.asleep)
    // What came before the bell was set, and room made before it was asked for, nobody rings for.
    if (this.#overflowing > 0 || this.bulk.moving) {
      for (let peer = 0; peer < this.processes; peer++) {
        if (this.#overflow[peer]!.size > 0 || this.bulk.isMovingTo(peer)) this.#writers[peer]?.askForRoom()
      }
      this.#flush()
    }
    if (this.#active || this.#readers.some((reader) => reader !== undefined && !reader.empty)) this.#wakeUp()
  }

  #tellLosses(): void {
    if (this.#untold.length === 0) return
    const untold = this.#untold
    this.#untold = []
    for (const { peer, reason } of untold) {
      if (this.#lost[peer] !== undefined) continue
      const reader = this.#readers[peer]
      if (reader !== undefined) while (!this.#closed && reader.read(this.#sinks[peer]!)) reader.release()
      this.#lost[peer] = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#drop(peer)
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

const none = new Uint8Array(0)

/** Not `slice`: of a shared array or a Buffer it may not give memory of our own. */
function copyOf(payload: Uint8Array): Uint8Array {
  return payload.byteLength === 0 ? none : new Uint8Array(payload)
}
