import { performance } from 'node:perf_hooks'
import { RankweaveError } from '../../errors.js'
import { afterLosses, RemoteAuthority } from '../authority.js'
import { PiecewiseBulk } from '../bulk-transfers.js'
import type {
  Authority,
  Decision,
  Fabric,
  FabricCounters,
  FabricFactory,
  FabricSession,
  FrameSink,
  ProcessHeap,
} from '../fabric.js'
import { alreadyAttached, checkFrame, closedToSends } from '../fabric.js'
import { KeepAlive, Task } from '../own-handles.js'
import { retainFreedMemory, v8Heap } from '../process-heap.js'
import { RunDelay, SharedCores, usedMs } from './shared-cores.js'
import { SpinPolicy } from './spin-policy.js'
import {
  aloneWord,
  processState,
  resolveThreads,
  stateStride,
  type ThreadsConnection,
  type ThreadsOptions,
} from './threads-connect.js'
import { ThreadsInbox } from './threads-inbox.js'
import { ThreadsOutbox } from './threads-outbox.js'
import { recordKind } from './threads-ring.js'
import { type SegmentMessage, ThreadsSharing } from './threads-sharing.js'

/**
 * Returns a fabric of worker threads as processes, connected by rings in shared memory. `run` starts the workers, and
 * each of them opens a separate session. Hence the program has to be a module that every worker can load.
 *
 * @throws ERR_WORLD for numbers that are out of range or do not agree
 */
export function threads(options: ThreadsOptions = {}): ThreadsFactory {
  const resolved = resolveThreads(options)
  const { ranksPerProcess } = options
  return {
    kind: 'threads',
    processes: resolved.processes,
    needsModule: true,
    places: 'threads',
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    options: resolved,
    workers: {
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
      ...(options.workerUrl === undefined ? {} : { workerUrl: options.workerUrl }),
    },
    open: () =>
      Promise.reject(
        new RankweaveError(
          'ERR_FABRIC',
          'threads: a session lives in the worker of its process; `run` starts the workers, given the URL of a program',
        ),
      ),
  }
}

export interface ThreadsFactory extends FabricFactory {
  readonly kind: 'threads'
  /** @internal */
  readonly options: ReturnType<typeof resolveThreads>
  /** @internal */
  readonly workers: Pick<ThreadsOptions, 'resourceLimits' | 'workerUrl'>
}

type Contribute = (key: string, members: readonly number[], contribution: Uint8Array) => void

export class ThreadsSession implements FabricSession {
  readonly kind = 'threads'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly ThreadsProcess[]
  readonly #process: ThreadsProcess
  readonly #authority: RemoteAuthority | undefined

  /**
   * Opens the session of the one process that a connection is for.
   *
   * @param contribute takes contributions to the thread that orders losses and decisions; none: there is no authority
   */
  constructor(connection: ThreadsConnection, contribute?: Contribute) {
    this.#authority = contribute === undefined ? undefined : new RemoteAuthority(contribute)
    this.#process = new ThreadsProcess(connection, this.#authority)
    this.processes = connection.nodes.length
    this.nodes = connection.nodes
    this.hosted = [this.#process]
  }

  quiet(): boolean {
    return this.#process.quiet()
  }

  /** Notes that a process is lost: a task of the fabric's own reports it to the sink. */
  lose(peer: number, reason: string): void {
    this.#process.lose(peer, reason)
  }

  /** Takes a decision of the authority. */
  decided(key: string, decision: Decision): void {
    this.#authority?.decided(key, decision)
  }

  close(): Promise<void> {
    this.#authority?.fail(new RankweaveError('ERR_FABRIC', 'the session was closed before the decision'))
    return this.#process.close()
  }
}

/** The number of successful spins after which the event loop gets its turn. */
const spinsPerTurn = 1024

/**
 * The end of the fabric at one worker thread. It has three states. Awake, it has a scheduled task that polls the rings.
 * Asleep, its state in shared memory is `asleep`, and a peer that sends a record wakes it by a message on their port.
 * The port costs nothing until then. Where processes share cores, it is for a short while blocked: its event loop
 * stands still, and a peer notifies the thread.
 */
class ThreadsProcess implements Fabric {
  readonly kind = 'threads'
  readonly isTrusted = true
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly isOversubscribed: boolean
  readonly maxPayloadBytes: number
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk: PiecewiseBulk
  readonly sharing: ThreadsSharing
  readonly staging: ThreadsSharing
  readonly authority?: Authority
  readonly heap: ProcessHeap = {
    open: v8Heap,
    retainFreed: retainFreedMemory,
    alone: (action) => this.#alone(action),
  }
  readonly #connection: ThreadsConnection
  readonly #states: Int32Array
  readonly #inbox: ThreadsInbox
  readonly #outbox: ThreadsOutbox
  readonly #lost: (RankweaveError | undefined)[] = []
  #unreported: { readonly peer: number; readonly reason: string }[] = []
  readonly #keepAlive = new KeepAlive()
  readonly #task = new Task(() => this.#turn())
  readonly #spinPolicy: SpinPolicy
  readonly #runDelay = new RunDelay()
  #closed = false
  #activeAt = 0
  #asleep = false
  /**
   * Whether a spin was unsuccessful and nothing has come since: no rank here can continue without a frame, as far as we
   * know.
   */
  #waiting = false
  /** The number of successful spins since the last turn of the event loop. */
  #spins = 0

  /** @internal */
  constructor(connection: ThreadsConnection, authority?: Authority) {
    if (authority !== undefined) this.authority = afterLosses(authority, () => this.#unreported.length === 0)
    const { process, nodes, maxPayloadBytes, states, ports } = connection
    this.isOversubscribed = connection.isOversubscribed
    this.#connection = connection
    this.process = process
    this.processes = nodes.length
    this.nodes = nodes
    this.maxPayloadBytes = maxPayloadBytes
    this.#states = new Int32Array(states)
    const moved = () => this.#inbox.taken + this.#outbox.sent
    const shared = this.#states.subarray(nodes.length * stateStride)
    const { ms } = this.#runDelay
    const clocks = ms === undefined ? undefined : { delayMs: ms, usedMs, cores: connection.coresAtOnce }
    const cores = new SharedCores(shared, clocks)
    this.#spinPolicy = new SpinPolicy(this.isOversubscribed, moved, cores)
    this.#outbox = new ThreadsOutbox(connection, this.#states)
    this.#inbox = new ThreadsInbox(connection, {
      counters: this.counters,
      control: (src, kind, header, payload) => {
        if (kind === recordKind.forget) this.sharing.forget(src, header[0])
        else this.bulk.record(src, kind, header, payload)
      },
      wake: (peer) => this.#outbox.wake(peer),
    })
    this.bulk = new PiecewiseBulk(
      {
        process,
        pieceBytes: maxPayloadBytes,
        post: (peer, kind, header) => this.#post(peer, kind, header, undefined),
        write: (peer, kind, header, payload, from, to) => {
          if (peer !== process) return this.#outbox.write(peer, kind, header, payload, from, to)
          this.#post(peer, kind, header, from === to ? undefined : payload.subarray(from, to))
          return true
        },
        schedule: () => this.#wakeUp(),
        lost: (peer) => (this.#closed ? closedToSends() : this.#lost[peer]),
        settled: () => {
          this.#inbox.events++
        },
      },
      nodes.length,
    )
    this.sharing = new ThreadsSharing({
      ports,
      taken: (peer, message) => this.#takenFromPort(peer, message),
      forget: (peer, segment) => {
        if (!this.#closed) this.#post(peer, recordKind.forget, Int32Array.of(segment), undefined)
      },
    })
    this.staging = this.sharing
    ports.forEach((port, peer) => {
      port?.on('message', (message: 0 | SegmentMessage) => {
        if (message === 0) this.#onWakeMessage()
        else this.sharing.learn(peer, message)
      })
      port?.unref()
    })
  }

  #alone(action: () => void): boolean {
    if (Atomics.compareExchange(this.#states, aloneWord, 0, 1) !== 0) return false
    try {
      action()
    } finally {
      Atomics.store(this.#states, aloneWord, 0)
    }
    return true
  }

  attach(sink: FrameSink): void {
    if (this.#inbox.sink !== undefined) throw alreadyAttached(this.process)
    this.#inbox.sink = sink
    this.#wakeUp()
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    if (this.#closed) throw closedToSends()
    // V8 compiles `length` in place, while `byteLength` is a call; they are equal for bytes.
    const payloadBytes = payload === undefined ? 0 : payload.length
    checkFrame(peer, this.processes, header.length, payloadBytes, this.maxPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.length * 4 + payloadBytes
    this.#post(peer, recordKind.frame, header, payload)
  }

  roomFor(peer: number): number {
    return peer === this.process || this.#closed ? 0 : this.#outbox.roomFor(peer)
  }

  /** Polls the rings. Frames that arrive while one is being delivered wait: a sink is never re-entered. */
  poll(): boolean {
    if (this.#inbox.delivering || this.#closed) return false
    return this.#progress()
  }

  /**
   * Polls, or blocks, for a short while if no rank here can continue without a frame: a frame that comes within
   * microseconds is served within microseconds.
   */
  spin(): boolean {
    if (!this.#mayPoll()) return false
    this.#waiting = true
    return this.#pollOrBlock('spinMs')
  }

  tryPoll(maxPolls: number): boolean {
    if (!this.#mayPoll()) return false
    const inbox = this.#inbox
    // None of these changes before a poll succeeds. A peer may need this core.
    const busy = inbox.waitingFromSelf + this.#outbox.waiting > 0 || this.bulk.moving
    const polls = this.#spinPolicy.isShared ? 1 : maxPolls
    return (busy ? this.#progress() : inbox.receiveOne(polls)) && this.#pollSucceeded()
  }

  #mayPoll(): boolean {
    const { delivering, sink } = this.#inbox
    if (delivering || this.#closed || sink === undefined || this.processes === 1) return false
    this.#wakeUp()
    return this.#spins < spinsPerTurn
  }

  readonly #pollOften = (times: number): boolean => {
    for (let polls = 0; polls < times && !this.#closed; polls++) {
      if (this.#progress()) return this.#pollSucceeded()
    }
    return false
  }

  #pollSucceeded(): true {
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

  /** @internal Returns whether nothing is in flight here, as far as this process can see. */
  quiet(): boolean {
    const waiting = this.#outbox.waiting + this.#inbox.waitingFromSelf + this.#unreported.length
    return waiting === 0 && this.bulk.idle && this.#inbox.ringsEmpty
  }

  /** @internal Notes that a process is gone, as its worker's parent reports. What it sent before still arrives. */
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
    // The peers no longer retain frames for this process.
    this.#setState(processState.closed)
    this.bulk.fail(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    this.#unreported = []
    this.#inbox.close()
    await this.#outbox.drain()
    this.sharing.clear()
    this.#keepAlive.close()
    this.#runDelay.close()
    for (const port of this.#connection.ports) port?.close()
  }

  #post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (peer !== this.process) {
      if (!this.#outbox.post(peer, kind, header, payload)) this.#wakeUp()
      return
    }
    this.#inbox.pushFromSelf(kind, header, payload)
    this.#wakeUp()
  }

  #flush(): void {
    for (let peer = 0; peer < this.processes; peer++) {
      if (this.#outbox.waitsFor(peer)) this.#outbox.flush(peer)
      if (this.bulk.isMovingTo(peer)) this.bulk.pump(peer)
    }
  }

  /** Takes what has arrived, and moves what waits for space; true if a rank may have waited for it. */
  #progress(): boolean {
    const inbox = this.#inbox
    if (inbox.sink === undefined) return false
    const before = inbox.events
    inbox.receive()
    if (this.#outbox.waiting > 0 || this.bulk.moving) this.#flush()
    return inbox.events !== before
  }

  #onWakeMessage(): void {
    if (this.#closed) return
    this.#asleep = false
    this.#turn()
  }

  /** Handles a message taken from its port before its event: the sender of a wake message has set our state already. */
  #takenFromPort(peer: number, message: 0 | SegmentMessage): void {
    if (message !== 0) this.sharing.learn(peer, message)
    else if (!this.#closed) {
      this.#asleep = false
      this.#task.schedule()
    }
  }

  /** Wakes up: the rings are polled without a wake message. */
  #wakeUp(): void {
    if (this.#closed) return
    if (this.#asleep) {
      this.#asleep = false
      this.#setState(processState.awake)
    }
    this.#task.schedule()
  }

  #turn(): void {
    if (this.#closed || this.#inbox.sink === undefined) return
    this.#spins = 0
    this.#spinPolicy.turn()
    try {
      if (!this.#inbox.delivering && !this.#progress() && this.#waiting) this.#pollOrBlock('turnMs')
      this.#reportLosses()
    } finally {
      if (!this.#closed) this.#scheduleNext()
    }
  }

  /** Polls, then blocks for a moment if another thread needs the core; true if something has come. */
  #pollOrBlock(limit: 'spinMs' | 'turnMs'): boolean {
    if (this.#spinPolicy.spin(limit, this.#pollOften)) return true
    const { blockMs } = this.#spinPolicy
    return blockMs > 0 && this.#block(blockMs)
  }

  #scheduleNext(): void {
    const now = performance.now()
    const activePollingMs = this.#spinPolicy.activePollingMs(now)
    if (this.#inbox.active || this.#outbox.active) {
      this.#inbox.active = this.#outbox.active = false
      this.#activeAt = now
    }
    if (now - this.#activeAt < activePollingMs || this.#inbox.waitingFromSelf > 0) this.#task.schedule()
    else this.#sleep()
  }

  #sleep(): void {
    this.#task.cancel()
    this.#waiting = false
    this.#asleep = true
    this.#restIn(processState.asleep)
    if (this.#inbox.active || this.#outbox.active || !this.#inbox.ringsEmpty) this.#wakeUp()
  }

  /** Blocks until a peer has sent something, or released space for what waits here. */
  #block(milliseconds: number): boolean {
    const inbox = this.#inbox
    const before = inbox.events
    this.#restIn(processState.blocked)
    if (inbox.events === before && inbox.ringsEmpty) {
      const begin = performance.now()
      Atomics.wait(this.#states, this.process * stateStride, processState.blocked, milliseconds)
      this.#spinPolicy.blockedSince(begin)
    }
    this.#setState(processState.awake)
    this.#progress()
    return inbox.events !== before && this.#pollSucceeded()
  }

  /** Has peers wake this process for later records and space, but not for earlier ones. */
  #restIn(state: number): void {
    this.#setState(state)
    if (this.#outbox.waiting === 0 && !this.bulk.moving) return
    for (let peer = 0; peer < this.processes; peer++) {
      if (this.#outbox.waitsFor(peer) || this.bulk.isMovingTo(peer)) this.#outbox.requestSpace(peer)
    }
    this.#flush()
  }

  #setState(state: number): void {
    Atomics.store(this.#states, this.process * stateStride, state)
  }

  #reportLosses(): void {
    if (this.#unreported.length === 0) return
    const unreported = this.#unreported
    this.#unreported = []
    for (const { peer, reason } of unreported) {
      if (this.#lost[peer] !== undefined) continue
      this.#inbox.receiveRest(peer)
      this.#lost[peer] = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#outbox.lose(peer)
      this.bulk.fail(this.#lost[peer], peer)
      this.#inbox.active = true
      this.#inbox.sink?.peerLost(peer, reason)
    }
  }
}
