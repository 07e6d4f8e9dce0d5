import { misfitSignal, onAbort, type WaitOptions } from '../../base/abort.js'
import { noteRank, RankweaveError, wrongValue } from '../../errors.js'
import type { CallSite } from '../../messages/process/call-sites.js'
import type { CallWatch, CommContext } from '../../messages/process/comm-context.js'
import { waitCharge } from '../../messages/process/credit.js'
import { collectiveWord, frameKind, headerWord } from '../../messages/process/frames.js'
import { hold, mayComplete } from '../../messages/process/progress.js'
import type { Exchange } from '../exchange/exchange.js'
import { type ExchangeOwner, type FrameExchange, returnCharge } from '../exchange/frame-exchange.js'
import { sameSignature, sameWords } from '../signature.js'
import {
  abortedCollective,
  callMismatch,
  callOf,
  describeWaits,
  failedIn,
  frameMismatch,
  lateFrameMismatch,
  revokedBy,
} from './call-report.js'
import { type AnyCall, type CollectiveCall, failureFrom, type RankFailure } from './collective-call.js'
import { JoiningCalls, Lane, plainLane, quietRejection, type Slot } from './lane.js'
import { Revocation } from './revocation.js'

/** A call of all ranks here, and what they pass by local index; undefined if no rank passes anything. */
export interface JointCall {
  readonly call: AnyCall
  readonly contributions: readonly unknown[] | undefined
}

/**
 * Matches the collective calls of one communicator in one process by call order and runs them.
 *
 * A rank that calls with a signal that is already aborted does not join. Like any abort of a collective, the call
 * rejects with ERR_ABORTED and revokes the communicator, because the other ranks would otherwise wait without end.
 */
export class CollectiveEngine implements ExchangeOwner {
  readonly #state: CommContext
  readonly #hosted: number
  readonly #lanes = new Map<number, Lane>()
  readonly #revocation: Revocation
  readonly #watch: CallWatch | undefined
  #main: Lane | undefined
  /** The lane used last. */
  #current: Lane | undefined
  /** The calls of {@link together} in progress, which are gathered before any rank joins. */
  #gathering: JoiningCalls | undefined
  /** The reason no further collective of this process completes. */
  #failed: RankweaveError | undefined
  /** The number of starts of persistent operations that join once their init has completed. */
  #startsToCome = 0
  #lastCallWaiter: { resolve(): void; reject(error: RankweaveError): void } | undefined

  constructor(state: CommContext) {
    this.#state = state
    this.#hosted = state.localRanks.length
    this.#watch = state.callWatch
    this.#revocation = new Revocation(state, this.#lanes)
    for (const process of state.runtime.lostPeers) {
      if (state.processes.processes.includes(process)) this.#failed ??= state.runtime.lostPeer(process)
    }
  }

  /**
   * Joins a rank to a collective. The n-th call of every rank belongs to the n-th collective of the communicator; calls
   * may be started before earlier ones complete. A rank that `waits` counts as blocked until its result is available.
   */
  call<C, R>(
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    options?: WaitOptions,
    waits = true,
  ): Promise<R> {
    this.#main ??= this.#lane(plainLane)
    return this.#join(this.#main, localIndex, call, contribution, options?.signal, waits)
  }

  /**
   * Returns the call of the collective that was opened last. Ranks that make the same call, or repeat it, can reuse one
   * call object instead of describing each call again.
   */
  reusableCall(): AnyCall | undefined {
    return this.#gathering?.call ?? this.#main?.lastCall
  }

  /** Counts the calls of a rank so far, except those of lanes. */
  callsOf(localIndex: number): number {
    return this.#main?.nextOf(localIndex) ?? 0
  }

  /**
   * Opens a lane for a persistent operation, one per init. Called inside `run` of the init, whose number is the same on
   * all processes.
   */
  openLane(exchange: Exchange): number {
    return this.#lane((exchange.seq + 1) | 0).id
  }

  /** Forgets a lane; the caller guarantees that no rank starts it again. */
  closeLane(lane: number): void {
    if (lane === plainLane) return
    this.#lanes.delete(lane)
    this.#current = undefined
  }

  /** Joins like `call`, matched among the starts of one lane only: the n-th starts of all ranks belong together. */
  start<C, R>(
    lane: number,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    options?: WaitOptions,
  ): Promise<R> {
    return this.#join(this.#lane(lane), localIndex, call, contribution, options?.signal)
  }

  /**
   * Joins the ranks here to one collective in one stretch, with one promise instead of one for each.
   *
   * @param gather makes one call of each local rank by `call` or `start`, which return {@link gathered} meanwhile; or
   *   returns the call of all ranks. When it throws, no rank has joined
   * @returns the results by local index; a shared result itself. Rejects with the error of the first rank that fails
   */
  together(gather: (calls: JoiningCalls) => JointCall | undefined): Promise<unknown> {
    if (this.#gathering !== undefined)
      throw new RankweaveError(
        'ERR_ARGUMENT',
        'together: expected a collective call of each rank, got another together',
      )
    const calls = new JoiningCalls(this.#hosted)
    this.#gathering = calls
    let whole: JointCall | undefined
    try {
      whole = gather(calls)
    } finally {
      this.#gathering = undefined
    }
    if (whole !== undefined) return this.callTogether(whole.call, whole.contributions)
    return this.#joinTogether(calls.lane!, calls.call!, calls.contributions, calls)
  }

  /**
   * Joins all ranks here to one call, like {@link together}. It is allowed without contributions only if
   * {@link isEven}, because ranks that join one by one would pass nothing.
   *
   * @param contributions by local index; undefined if no rank passes anything
   */
  callTogether(call: AnyCall, contributions?: readonly unknown[]): Promise<unknown> {
    this.#main ??= this.#lane(plainLane)
    return this.#joinTogether(this.#main, call, contributions, undefined)
  }

  /** Whether all ranks here have made equally many calls, so that their next calls belong together. */
  get isEven(): boolean {
    return this.#main === undefined || this.#main.isEven
  }

  /** Starts like `start`, for all ranks here in one stretch, with one promise. */
  startTogether(lane: number, call: AnyCall): Promise<unknown> {
    return this.#joinTogether(this.#lane(lane), call, undefined, undefined)
  }

  /** Tells whether the last start of a rank on a lane is in progress here; without a rank, that of any. */
  isActive(lane: number, localIndex?: number): boolean {
    return this.#lanes.get(lane)?.isActive(localIndex) === true
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (header[headerWord.kind] === frameKind.revoke) {
      this.#revocation.arrived(src, payload)
      return
    }
    if (!this.#accept(src, header, payload)) returnCharge(this.#state.runtime, src, header)
  }

  /** Returns false for a message that is dropped, because its communicator has failed or this message revokes it. */
  #accept(src: number, header: Int32Array, payload: Uint8Array): boolean {
    if (this.#failed !== undefined || this.#revocation.unanswered !== undefined) return false
    const peer = this.#state.indexOfProcess(src)
    if (peer < 0)
      throw wrongValue('ERR_PROTOCOL', 'a collective: expected a process of the communicator', src)
    const lane = this.#lane(header[collectiveWord.lane])
    const seq = header[collectiveWord.seq] >>> 0
    if (lane.hasCompleted(seq)) {
      this.#revocation.disagree(lateFrameMismatch(this.#state, lane, seq, src, header))
      return false
    }
    const slot = lane.slot(seq)
    if (slot.call === undefined && slot.openedBy < 0) {
      this.#state.runtime.credit.waits(src, waitCharge.collective)
      slot.openedBy = src
    }
    const exchange = lane.exchange(slot)
    if (slot.call === undefined) {
      slot.early ??= new Map()
      if (!slot.early.has(src)) slot.early.set(src, header.slice())
    } else {
      const mismatch = this.#frameMismatch(lane, slot, src, header)
      if (mismatch !== undefined) {
        this.#revocation.disagree(mismatch)
        return false
      }
    }
    exchange.frame(peer, header, payload)
    return true
  }

  /** Fails all pending and later collectives here and on every other process of the communicator. */
  revoke(error: RankweaveError): void {
    this.#revocation.revoke(error)
  }

  /**
   * Resolves when all other collectives, which no rank may have awaited, are complete here. Called by the last
   * collective, inside its `run`.
   */
  whenOnlyCall(): Promise<void> {
    this.#revocation.hasLastCall = true
    if (this.isOnlyCall) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#lastCallWaiter = { resolve, reject }
    })
  }

  /** Whether one collective is in progress here, and no start will join later. */
  get isOnlyCall(): boolean {
    let calls = this.#startsToCome
    for (const lane of this.#lanes.values()) calls += lane.slots.size
    return calls === 1
  }

  /** Counts a start that joins once its init is complete, or takes it back. The last call waits for such starts. */
  countStartsToCome(change: 1 | -1): void {
    this.#startsToCome += change
    this.#noteIfOnlyCall()
  }

  #noteIfOnlyCall(): void {
    if (this.#lastCallWaiter !== undefined && this.isOnlyCall) this.#lastCallWaiter.resolve()
  }

  /** True once no further collective of this process completes. */
  get hasFailed(): boolean {
    return this.#failed !== undefined
  }

  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  fail(error: RankweaveError): void {
    if (this.#failed !== undefined) return
    this.#failed = error
    // The collectives have failed here, so no rank waits for an answer.
    this.#revocation.unanswered = undefined
    this.#lastCallWaiter?.reject(error)
    for (const lane of this.#lanes.values()) {
      for (const slot of lane.clear()) {
        this.#uncharge(slot)
        // A rank that is rejected may use its buffers again.
        const reject = () => {
          this.#unblock(lane, slot)
          slot.reject(error)
        }
        if (slot.exchange === undefined) reject()
        else slot.exchange.fail(error, reject)
      }
    }
  }

  /** Describes a collective in progress, as the communicators that it makes show it. */
  callOf(seq: number): { readonly call: string; readonly at: string } {
    return callOf(this.#state, this.#main?.slots.get(seq))
  }

  describeWaits(): string[] {
    return describeWaits(this.#state, this.lanes)
  }

  /** Returns the lane with this id, opened on first use. */
  #lane(id: number): Lane {
    if (this.#current?.id === id) return this.#current
    let lane = this.#lanes.get(id)
    if (lane === undefined) {
      lane = new Lane(id, this.#state, this)
      this.#lanes.set(id, lane)
    }
    this.#current = lane
    return lane
  }

  #join<C, R>(
    lane: Lane,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    signal: AbortSignal | undefined,
    waits = true,
  ): Promise<R> {
    const misfit = signal === undefined ? undefined : misfitSignal(signal)
    if (this.#gathering !== undefined) {
      if (misfit !== undefined) throw misfit
      this.#gathering.add(lane, localIndex, call, contribution, signal)
      return gathered
    }
    const state = this.#state
    const failed = this.#failed ?? state.failed
    if (failed !== undefined) return quietRejection(failed)
    if (misfit !== undefined) return quietRejection(misfit)
    if (signal?.aborted) return this.#abortedBefore(lane, localIndex, call, signal)
    const slot = lane.slot(lane.nextOf(localIndex))
    const { callSites } = state.runtime
    const site = callSites?.take(state.worldRank(localIndex))
    if (site !== undefined) {
      slot.sites ??= new Map()
      slot.sites.set(localIndex, site)
    }
    const mismatch =
      slot.call === undefined
        ? this.#open(lane, slot, localIndex, call)
        : this.#callMismatch(lane, slot, localIndex, call, site)
    if (mismatch !== undefined) {
      this.#revocation.disagree(mismatch)
      if (this.#revocation.unanswered === undefined) return quietRejection(mismatch)
    }
    lane.joined(localIndex)
    const hostedIndex = state.hostedIndex(localIndex)
    state.runtime.hostedCounters.countCollective(hostedIndex)
    if (contribution !== undefined) {
      slot.contributions ??= new Array(this.#hosted)
      slot.contributions[localIndex] = contribution
    }
    slot.arrived++
    const promise =
      signal === undefined ? slot.promise(localIndex, call.shared === true) : slot.separatePromise(localIndex)
    if (signal !== undefined) this.#watchSignal(slot, localIndex, signal)
    if (!waits) {
      slot.awake ??= new Set()
      slot.awake.add(localIndex)
    }
    if (slot.arrived === this.#hosted && this.#revocation.unanswered === undefined)
      this.#runNow(lane, slot, localIndex, waits)
    if (waits && !slot.settled) state.runtime.waits.block(hostedIndex, signal !== undefined)
    return promise as Promise<R>
  }

  /** @param contributions by local index */
  #joinTogether(
    lane: Lane,
    call: AnyCall,
    contributions: readonly unknown[] | undefined,
    joint: JoiningCalls | undefined,
  ): Promise<unknown> {
    const state = this.#state
    const failed = this.#failed ?? state.failed
    if (failed !== undefined) return quietRejection(failed)
    if (!lane.isEven) return this.#joinEach(lane, call, contributions, joint)
    const aborted = joint?.aborted()
    if (aborted !== undefined) {
      const [localIndex, signal] = aborted
      return this.#abortedBefore(lane, localIndex, joint!.callOf(localIndex), signal)
    }
    const seq = lane.nextOf(0)
    const slot = lane.slot(seq)
    const firstCaller = joint?.firstCaller ?? 0
    // All ranks share one line of the program, so one site is taken.
    const site = state.runtime.callSites?.take(state.worldRank(firstCaller))
    if (site !== undefined) slot.sites = new Map([[firstCaller, site]])
    let mismatch = this.#open(lane, slot, firstCaller, call)
    if (joint?.others !== undefined)
      for (const [localIndex, other] of joint.others)
        mismatch ??= this.#callMismatch(lane, slot, localIndex, other, undefined)
    if (mismatch !== undefined) {
      this.#revocation.disagree(mismatch)
      if (this.#revocation.unanswered === undefined) return quietRejection(mismatch)
    }
    lane.joinedTogether()
    const { hostedCounters, hostedRanks } = state.runtime
    if (this.#hosted === hostedRanks) hostedCounters.countCollectives()
    else for (let i = 0; i < this.#hosted; i++) hostedCounters.countCollective(state.hostedIndex(i))
    slot.contributions = contributions as unknown[] | undefined
    slot.arrived = this.#hosted
    slot.isJoint = true
    if (joint?.signals !== undefined) this.#watchEach(slot, joint.signals)
    if (this.#revocation.unanswered === undefined) this.#runNow(lane, slot, firstCaller, true)
    const promise = slot.jointPromise()
    if (!slot.settled) this.#blockAll(slot)
    else if (slot.isResolved) lane.spareSlot = slot
    return promise
  }

  /**
   * Joins each rank to its own next collective, as if it called alone, because ranks here have started different numbers
   * of collectives.
   */
  async #joinEach(
    lane: Lane,
    call: AnyCall,
    contributions: readonly unknown[] | undefined,
    joint: JoiningCalls | undefined,
  ): Promise<unknown> {
    const results = Array.from(this.#state.localRanks, async (_, i) => {
      try {
        const own = joint?.callOf(i) ?? call
        return await this.#join(lane, i, own, contributions?.[i] as never, joint?.signals?.get(i))
      } catch (error) {
        noteRank(error, this.#state.worldRank(i))
        throw error
      }
    })
    const all = await Promise.all(results)
    return call.shared === true ? all[0] : all
  }

  #abortedBefore(
    lane: Lane,
    localIndex: number,
    { signature }: AnyCall,
    signal: AbortSignal,
  ): Promise<never> {
    const error = abortedCollective(this.#state, lane.nextOf(localIndex), localIndex, signature, signal)
    this.revoke(revokedBy(this.#state, error))
    return quietRejection(error)
  }

  /** Returns the charge of a slot that a frame opened, since the slot belongs to a call now or is gone. */
  #uncharge(slot: Slot): void {
    if (slot.openedBy >= 0) this.#state.runtime.credit.waits(slot.openedBy, -waitCharge.collective)
    slot.openedBy = -1
  }

  /** Opens the slot for the first local rank that joins, and compares frames that arrived earlier with its call. */
  #open(lane: Lane, slot: Slot, localIndex: number, call: AnyCall): RankweaveError | undefined {
    slot.call = call
    this.#uncharge(slot)
    lane.lastCall = call
    slot.firstCaller = localIndex
    slot.exchange?.sign(call.signature)
    if (slot.seq === lane.started) lane.started = (slot.seq + 1) >>> 0
    const { early } = slot
    if (early === undefined) return undefined
    slot.early = undefined
    for (const [src, header] of early) {
      const mismatch = this.#frameMismatch(lane, slot, src, header)
      if (mismatch !== undefined) return mismatch
    }
    return undefined
  }

  /** Compares the call of a rank of this process that joins a slot after the first. */
  #callMismatch(
    lane: Lane,
    slot: Slot,
    localIndex: number,
    call: AnyCall,
    site: CallSite | undefined,
  ): RankweaveError | undefined {
    const first = slot.call!
    if (first === call || sameSignature(first.signature, call.signature)) return undefined
    return callMismatch(this.#state, lane, slot, localIndex, call, site)
  }

  /** Compares a frame from process `src` with the call that a rank of this process has joined. */
  #frameMismatch(lane: Lane, slot: Slot, src: number, header: Int32Array): RankweaveError | undefined {
    const { signature } = collectiveWord
    if (sameWords(slot.exchange!.header, signature, header, signature)) return undefined
    return frameMismatch(this.#state, lane, slot, src, header)
  }

  /**
   * Runs a collective for the rank that joined last. If that rank waits, it polls for a while instead of blocking when
   * all other ranks here wait.
   */
  #runNow(lane: Lane, slot: Slot, localIndex: number, waits: boolean): void {
    const { progress } = this.#state.runtime
    slot.runner = localIndex
    if (this.#watch !== undefined && lane.id === plainLane)
      this.#watch.begin(lane.exchange(slot), slot.call!.signature.name)
    if (this.#run(lane, slot) && waits && !slot.settled && progress.mayPoll) progress.pollFor(slot)
    slot.runner = -1
  }

  /** Returns true when only the delivery of frames is left to complete it. */
  #run(lane: Lane, slot: Slot): boolean {
    if (!this.#state.isPlaced && slot.call!.unplaced !== true) {
      this.#runWhenPlaced(lane, slot)
      return false
    }
    try {
      const exchange = slot.exchange ?? lane.exchange(slot)
      const results = slot.call!.run((slot.contributions ?? []) as never[], exchange)
      if (results === undefined) return true
      if (results instanceof Promise) {
        this.#completeWhen(results, lane, slot)
        return false
      }
      this.#complete(lane, slot, results)
    } catch (error) {
      this.#runFailed(slot, error)
    }
    return true
  }

  finished(exchange: FrameExchange, results: readonly unknown[]): void {
    if (this.#failed !== undefined) return
    const lane = this.#lane(exchange.lane)
    this.#complete(lane, lane.slot(exchange.seq), results)
  }

  failed(exchange: FrameExchange, error: unknown): void {
    if (this.#failed === undefined) this.#runFailed(this.#lane(exchange.lane).slot(exchange.seq), error)
  }

  /** Completes a collective once every message has left; until then ranks must not change what they passed. */
  #complete(lane: Lane, slot: Slot, results: readonly unknown[]): void {
    if (this.#failed !== undefined) return
    const { exchange } = slot
    if (exchange !== undefined && !exchange.isSent) {
      this.#completeWhenSent(lane, slot, results)
      return
    }
    if (exchange?.isWatched === true) this.#watch!.ended(exchange)
    lane.complete(slot)
    this.#unblock(lane, slot)
    this.#noteIfOnlyCall()
    if (slot.isJoint) this.#noteFailures(results)
    if (!mayComplete()) {
      this.#resolveLater(slot, results)
      return
    }
    slot.resolve(results)
    // A slot that is being run is still referred to.
    if (slot.isJoint && slot.runner < 0) lane.spareSlot = slot
  }

  #runFailed(slot: Slot, error: unknown): void {
    if (this.#failed === undefined) this.revoke(failedIn(this.#state, slot.call!.signature, error))
  }

  // Code that makes functions is separate from what every collective runs, which would otherwise allocate the captured
  // variables.

  #runWhenPlaced(lane: Lane, slot: Slot): void {
    this.#state.place().then(
      () => this.#failed === undefined && this.#run(lane, slot),
      (error) => this.#runFailed(slot, error),
    )
  }

  #completeWhen(results: Promise<readonly unknown[] | undefined>, lane: Lane, slot: Slot): void {
    results.then(
      (late) => late !== undefined && this.#complete(lane, slot, late),
      (error) => this.#runFailed(slot, error),
    )
  }

  #completeWhenSent(lane: Lane, slot: Slot, results: readonly unknown[]): void {
    slot.exchange!.whenSent(() => this.#complete(lane, slot, results))
  }

  #resolveLater(slot: Slot, results: readonly unknown[]): void {
    hold(() => slot.resolve(results))
  }

  /** Notes the rank of each error of a rank that fails alone, if one promise is that of all. */
  #noteFailures(results: readonly unknown[]): void {
    for (let i = failureFrom(results, 0); i >= 0; i = failureFrom(results, i + 1))
      noteRank((results[i] as RankFailure).error, this.#state.worldRank(i))
  }

  /** Watches a signal whose abort fails the collective for this rank, and revokes the communicator. */
  #watchSignal(slot: Slot, localIndex: number, signal: AbortSignal): void {
    const abort = () => {
      const error = abortedCollective(this.#state, slot.seq, localIndex, slot.call!.signature, signal)
      slot.failOne(localIndex, error)
      this.revoke(revokedBy(this.#state, error))
    }
    slot.signals ??= new Map()
    slot.signals.set(localIndex, onAbort(signal, abort))
  }

  /** Watches the signals of all ranks. One that several ranks passed is watched for the first of them. */
  #watchEach(slot: Slot, signals: ReadonlyMap<number, AbortSignal>): void {
    const watched = new Set<AbortSignal>()
    for (const [localIndex, signal] of signals) {
      if (!watched.has(signal)) this.#watchSignal(slot, localIndex, signal)
      watched.add(signal)
    }
  }

  /** Blocks all ranks here. If one program drives them, one wait is that of all. */
  #blockAll({ signals }: Slot): void {
    const { waits } = this.#state.runtime
    const count = waits.isShared ? 1 : this.#hosted
    for (let i = 0; i < count; i++) waits.block(this.#state.hostedIndex(i), signals !== undefined)
  }

  /** Ends the waits for a collective that is over here: no rank waits for it, and no signal aborts it. */
  #unblock(lane: Lane, slot: Slot): void {
    if (slot.isJoint) this.#unblockAll(slot)
    else this.#unblockEach(lane, slot)
    const { callSites } = this.#state.runtime
    for (const localIndex of slot.sites?.keys() ?? []) callSites!.release(this.#state.worldRank(localIndex))
    slot.signals = undefined
    slot.settled = true
  }

  #unblockAll({ signals, runner }: Slot): void {
    const { waits } = this.#state.runtime
    for (const detach of signals?.values() ?? []) detach()
    // The ranks do not wait yet.
    if (runner >= 0) return
    const count = waits.isShared ? 1 : this.#hosted
    for (let i = 0; i < count; i++) waits.unblock(this.#state.hostedIndex(i), signals !== undefined)
  }

  #unblockEach(lane: Lane, slot: Slot): void {
    const { waits } = this.#state.runtime
    const { signals, runner, awake } = slot
    for (let i = 0; i < this.#hosted; i++) {
      if (!lane.hasJoined(slot, i)) continue
      const detach = signals?.get(i)
      detach?.()
      if (i !== runner && awake?.has(i) !== true)
        waits.unblock(this.#state.hostedIndex(i), detach !== undefined)
    }
  }
}

/** The promise of a call that is gathered, which never settles. */
export const gathered: Promise<never> = new Promise(() => {})
