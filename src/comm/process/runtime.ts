import { nextTick } from 'node:process'
import { RankweaveError, shown } from '../../errors.js'
import type { Fabric, FrameSink } from '../../fabric/fabric.js'
import { CommState } from '../context/comm-state.js'
import { type ContextId, contextKey } from '../table/comm-context.js'
import type { CommTable } from '../table/rank-table.js'
import type { ProcessCounters, RankCounters } from './counters.js'
import { envelopeWords, frameKind, headerWord, lastCommunicatorKind } from './frames.js'
import type { ProcessPort, RuntimeOptions, ServiceHandler, Trouble } from './process-port.js'
import { WaitTracker } from './wait-tracker.js'
import type { WorldLayout } from './world-layout.js'

export const defaultRuntimeOptions: RuntimeOptions = { eagerLimitBytes: 65_536, creditBytes: 16 * 2 ** 20 }

/** Bounds of how often `Runtime.lookFor` looks; a look takes some 10 ns. */
const fewestPolls = 8
const mostPolls = 256
/** Frames for others that come in between. */
const triesPerPoll = 16

/**
 * What one process keeps: its end of the fabric, the communicators its ranks belong to, its counters, and who is
 * waiting. Everything the ranks of a process can share hangs off here, once (decision 1).
 */
export class Runtime implements FrameSink, ProcessPort {
  readonly fabric: Fabric
  readonly layout: WorldLayout
  readonly options: RuntimeOptions
  /** World rank of the first rank hosted here, and how many follow. */
  readonly firstRank: number
  readonly hostedRanks: number
  /** Messages of at most this many payload bytes go in one frame, with their envelope. */
  readonly shortBytes: number
  readonly waits: WaitTracker
  readonly processCounters: ProcessCounters = {
    framesSent: 0,
    framesReceived: 0,
    frameBytesSent: 0,
    frameBytesReceived: 0,
    messagesInProcess: 0,
    bytesCopied: 0,
  }
  readonly #rankCounters: (RankCounters | undefined)[] = []
  /** Collectives of the ranks that have no counters of their own yet: most ranks of a large world never need any. */
  readonly #uncounted: Float64Array
  readonly #contexts = new Map<number, CommState>()
  /** Frames of communicators that other processes know already and this one does not yet, in arrival order. */
  readonly #early = new Map<number, { src: number; header: Int32Array; payload: Uint8Array }[]>()
  readonly #services = new Map<number, ServiceHandler>()
  readonly #troubled: Trouble[] = []
  readonly #lost = new Map<number, string>()
  #nextCounter = 0
  #ended: RankweaveError | undefined
  #spinning = false
  /** How often `lookFor` looks: as often as it paid lately. */
  #looks = mostPolls
  /** Transfers of the fabric's own that may settle while it looks for frames. */
  #transfers = 0
  /** Frames that were more than a short message for a receive. */
  #framesHandedOn = 0
  /** Frames sent when it last looked in vain. */
  #sentBefore = -1
  /** Whose frame came last: most often the next one is of the same. */
  #lastState: CommState | undefined

  constructor(fabric: Fabric, layout: WorldLayout, options: RuntimeOptions = defaultRuntimeOptions) {
    this.fabric = fabric
    this.layout = layout
    this.options = options
    this.firstRank = layout.firstRank[fabric.process]!
    this.hostedRanks = layout.firstRank[fabric.process + 1]! - this.firstRank
    this.#uncounted = new Float64Array(this.hostedRanks)
    this.shortBytes = Math.min(options.eagerLimitBytes, fabric.maxPayloadBytes)
    this.waits = new WaitTracker(this.hostedRanks)
    this.waits.listener = {
      waiting: () => fabric.ref(),
      idle: () => fabric.unref(),
      allAsleep: () => {
        this.onAllAsleep()
        this.#spinLater()
      },
    }
    fabric.attach(this)
  }

  get process(): number {
    return this.fabric.process
  }

  /** Why the world ended, once it has; every later call fails with it. */
  get ended(): RankweaveError | undefined {
    return this.#ended
  }

  get contexts(): Iterable<CommState> {
    return this.#contexts.values()
  }

  rankCounters(worldRank: number): RankCounters {
    const index = worldRank - this.firstRank
    this.#rankCounters[index] ??= {
      messagesSent: 0,
      messagesReceived: 0,
      bytesSent: 0,
      bytesReceived: 0,
      collectives: this.#uncounted[index]!,
    }
    return this.#rankCounters[index]!
  }

  /** @param index hosted index: world rank minus the first world rank of this process */
  countCollective(index: number): void {
    const counters = this.#rankCounters[index]
    if (counters === undefined) this.#uncounted[index]!++
    else counters.collectives++
  }

  /**
   * A number this process never gave to a context before. With the leader's world rank it names a communicator
   * uniquely, so no agreement is needed (docs/split-algorithms.md#names-of-communicators).
   */
  drawCounter(): number {
    return ++this.#nextCounter
  }

  /** Makes a communicator known here and lets in the frames that arrived for it earlier. */
  createContext(id: ContextId, table: CommTable, processes?: Int32Array): CommState {
    const key = contextKey(id)
    if (this.#contexts.has(key)) {
      throw new RankweaveError('ERR_WORLD', `context ${id.leader}.${id.counter} exists already`)
    }
    const state = new CommState(this, id, table, processes)
    this.#contexts.set(key, state)
    const early = this.#early.get(key)
    this.#early.delete(key)
    for (const { src, header, payload } of early ?? []) state.frame(src, header, payload)
    return state
  }

  /** Forgets a communicator. The caller has made sure that no frame of it is under way to this process. */
  dropContext(id: ContextId): void {
    const key = contextKey(id)
    this.#contexts.get(key)?.releaseTable()
    this.#contexts.delete(key)
    this.#lastState = undefined
  }

  onService(kind: number, handler: ServiceHandler): void {
    this.#services.set(kind, handler)
  }

  /** Tells a service of lost processes and of the end of the world. */
  onTrouble(service: Trouble): void {
    this.#troubled.push(service)
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    const counters = this.processCounters
    counters.framesSent++
    counters.frameBytesSent += header.length * 4 + (payload === undefined ? 0 : payload.length)
    this.fabric.send(peer, header, payload)
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    this.#framesHandedOn++
    const kind = header[headerWord.kind]!
    if (kind !== frameKind.stuck) {
      // The agreement on being stuck compares these counts, so it must not change them.
      const counters = this.processCounters
      counters.framesReceived++
      counters.frameBytesReceived += header.length * 4 + payload.length
    }
    if (this.waits.awake === 0) this.#spinLater()
    // Once the world has ended, only the agreement to close it goes on.
    if (this.#ended !== undefined && kind !== frameKind.worldEnd && kind !== frameKind.quiesce) return
    if (kind > lastCommunicatorKind) {
      this.#services.get(kind)?.(src, header, payload)
      return
    }
    const leader = header[headerWord.leader]!
    const counter = header[headerWord.counter]!
    const last = this.#lastState
    if (last !== undefined && last.id.counter === counter && last.id.leader === leader) {
      last.frame(src, header, payload)
      return
    }
    const key = contextKey({ leader, counter })
    const state = this.#contexts.get(key)
    if (state !== undefined) {
      this.#lastState = state
      state.frame(src, header, payload)
      return
    }
    // Lent memory: what has to wait is copied.
    const early = this.#early.get(key) ?? []
    early.push({ src, header: header.slice(), payload: payload.slice() })
    this.#early.set(key, early)
  }

  /** An eager message of the communicator whose frame came last need not be copied to be matched. */
  inPlace(
    src: number,
    words: Int32Array,
    headerAt: number,
    bytes: Uint8Array,
    payloadAt: number,
    payloadBytes: number,
  ): boolean {
    const last = this.#lastState
    if (
      words[headerAt + headerWord.kind] !== frameKind.eager ||
      this.#ended !== undefined ||
      last === undefined ||
      last.id.counter !== words[headerAt + headerWord.counter] ||
      last.id.leader !== words[headerAt + headerWord.leader] ||
      !last.matching.short.arrive(src, words, headerAt, bytes, payloadAt, payloadBytes)
    ) {
      return false
    }
    const counters = this.processCounters
    counters.framesReceived++
    counters.frameBytesReceived += envelopeWords * 4 + payloadBytes
    if (this.waits.awake === 0) this.#spinLater()
    return true
  }

  peerLost(peer: number, reason: string): void {
    if (this.#lost.has(peer)) return
    this.#lost.set(peer, reason)
    for (const state of this.#contexts.values()) state.peerLost(peer, reason)
    for (const service of this.#troubled) service.peerLost(peer)
    this.onPeerLost(peer, reason)
  }

  /** The error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined {
    const reason = this.#lost.get(peer)
    return reason === undefined
      ? undefined
      : new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
          details: { process: peer },
        })
  }

  /**
   * Looks for frames when all that follows from the last ones has happened and still nobody here can go on: what is
   * waited for may come within microseconds. Promises may stand between a frame and what it leads to, so the look
   * comes after all microtasks.
   */
  #spinLater(): void {
    if (this.#spinning || this.fabric.spin === undefined) return
    this.#spinning = true
    queueMicrotask(this.#afterMicrotasks)
  }

  /** Whether a rank that is about to wait may look first: everybody else here waits already. */
  get mayPoll(): boolean {
    return this.waits.awake === 1 && this.fabric.tryPoll !== undefined
  }

  /**
   * Looks for what completes `operation`, which the only rank here that is awake is about to wait for: if it comes
   * now, there is nothing to suspend. The rank may have been about to do something else first, so it looks a few times
   * only, and more often the more often that has paid.
   */
  lookFor(operation: { readonly settled: boolean }): void {
    const { fabric } = this
    for (let tries = 0; tries < triesPerPoll && fabric.tryPoll!(this.#looks); tries++) {
      if (!operation.settled) continue
      this.#looks = mostPolls
      return
    }
    this.#looks = Math.max(fewestPolls, this.#looks >> 1)
    this.#sentBefore = this.processCounters.framesSent
  }

  readonly #afterMicrotasks = (): void => nextTick(this.#spin)

  readonly #spin = (): void => {
    try {
      if (!this.#spinForAWhile()) return
    } finally {
      this.#spinning = false
    }
    this.#spinLater()
  }

  /** A transfer of the fabric's own: when it settles, microtasks follow. */
  watch(transfer: Promise<void>): Promise<void> {
    this.#transfers++
    return transfer.finally(() => {
      this.#transfers--
    })
  }

  /** True when microtasks may follow from what came, and then all may wait again. */
  #spinForAWhile(): boolean {
    const { waits } = this
    for (;;) {
      if (waits.awake > 0 || waits.waits === 0 || this.#ended !== undefined) return false
      const framesBefore = this.#framesHandedOn
      const waitsBefore = waits.waits
      if (!this.fabric.spin!()) return false
      // Who did nothing but wait since should have looked longer.
      if (this.#sentBefore === this.processCounters.framesSent) this.#looks = mostPolls
      // Short messages that ended no wait lead to nothing: the next one may be here.
      if (this.#transfers > 0 || this.#framesHandedOn !== framesBefore || waits.waits !== waitsBefore)
        return true
    }
  }

  /** Called when every hosted rank is blocked or has ended; the host of this runtime sets it. */
  onAllAsleep: () => void = () => {}

  /** Called when a process is lost, this one included; the host of this runtime sets it. */
  onPeerLost: (peer: number, reason: string) => void = () => {}

  /** What `world.abort` does; the host of this runtime sets it. */
  onAbort: (error: RankweaveError) => void = (error) => this.end(error)

  abort(worldRank: number, reason: unknown): void {
    const said = shown(reason)
    this.onAbort(
      new RankweaveError('ERR_WORLD_ABORTED', `rank ${worldRank} aborted the world: ${said}`, {
        details: { rank: worldRank },
        cause: reason,
      }),
    )
  }

  /** Ends the world here: every pending wait and every later call fails with `error`. */
  end(error: RankweaveError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    for (const state of this.#contexts.values()) state.fail(error)
    for (const service of this.#troubled) service.ended(error)
    this.#early.clear()
  }
}
