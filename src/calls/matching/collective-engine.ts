import type { WaitOptions } from '../../base/abort.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { waitCharge } from '../../messages/process/credit.js'
import { collectiveWord, frameKind, headerWord } from '../../messages/process/frames.js'
import { returnCharge } from '../exchange/collective-frame.js'
import type { Exchange } from '../exchange/exchange.js'
import { callMismatch, earlyMismatch, frameMismatch, lateFrameMismatch } from './call-agreement.js'
import { abortedCollective, callOf, describeWaits, revokedBy } from './call-report.js'
import type { AnyCall, CollectiveCall } from './collective-call.js'
import { JoiningCalls, joinEach, requireSignal } from './joining-calls.js'
import { type CallLanes, type Lane, plainLane } from './lane.js'
import { Revocation } from './revocation.js'
import { quietRejection, type Slot } from './slot.js'
import { blockAll, SlotRunner, unblock, watchSignal } from './slot-runner.js'

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
export class CollectiveEngine {
  readonly #state: CommContext
  readonly #hosted: number
  readonly #runner: SlotRunner
  readonly #lanes: CallLanes
  #main: Lane | undefined
  /** The calls of {@link together} in progress, which are gathered before any rank joins. */
  #gathering: JoiningCalls | undefined
  #failed: RankweaveError | undefined
  readonly #revocation: Revocation

  constructor(state: CommContext) {
    this.#state = state
    this.#hosted = state.localRanks.length
    this.#runner = new SlotRunner(state, (error) => this.revoke(error))
    this.#lanes = this.#runner.lanes
    this.#revocation = new Revocation(state, this.#lanes)
    for (const process of state.runtime.lostPeers) {
      if (state.processes.processes.includes(process)) this.#failed ??= state.runtime.lostPeer(process)
    }
    this.#runner.hasEnded = this.#failed !== undefined
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
    this.#main ??= this.#lanes.lane(plainLane)
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
    const id = (exchange.seq + 1) | 0
    this.#lanes.lane(id)
    return id
  }

  /** Forgets a lane; the caller guarantees that no rank starts it again. */
  closeLane(lane: number): void {
    if (lane !== plainLane) this.#lanes.delete(lane)
  }

  /** Joins like `call`, matched among the starts of one lane only: the n-th starts of all ranks belong together. */
  start<C, R>(
    lane: number,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    options?: WaitOptions,
  ): Promise<R> {
    return this.#join(this.#lanes.lane(lane), localIndex, call, contribution, options?.signal)
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
    this.#main ??= this.#lanes.lane(plainLane)
    return this.#joinTogether(this.#main, call, contributions, undefined)
  }

  /** Whether all ranks here have made equally many calls, so that their next calls belong together. */
  get isEven(): boolean {
    return this.#main === undefined || this.#main.isEven
  }

  /** Starts like `start`, for all ranks here in one stretch, with one promise. */
  startTogether(lane: number, call: AnyCall): Promise<unknown> {
    return this.#joinTogether(this.#lanes.lane(lane), call, undefined, undefined)
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
    if (this.#failed !== undefined || this.#revocation.awaitsAnswer) return false
    const peer = this.#state.indexOfProcess(src)
    if (peer < 0)
      throw wrongValue('ERR_PROTOCOL', 'a collective: expected a process of the communicator', src)
    const lane = this.#laneOf(header[collectiveWord.lane])
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
      const mismatch = frameMismatch(this.#state, lane, slot, src, header)
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
    return this.#lanes.whenOnlyCall()
  }

  get isOnlyCall(): boolean {
    return this.#lanes.isOnlyCall
  }

  /** Counts a start that joins once its init is complete, or takes it back. The last call waits for such starts. */
  countStartsToCome(change: 1 | -1): void {
    this.#lanes.countStartsToCome(change)
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
    this.#runner.hasEnded = true
    this.#revocation.end()
    this.#lanes.failLastCall(error)
    for (const lane of this.#lanes.values()) {
      for (const slot of lane.clear()) {
        this.#uncharge(slot)
        // A rank that is rejected may use its buffers again.
        const reject = () => {
          unblock(this.#state, lane, slot)
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

  #laneOf(id: number): Lane {
    return this.#main?.id === id ? this.#main : this.#lanes.lane(id)
  }

  #join<C, R>(
    lane: Lane,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    signal: AbortSignal | undefined,
    waits = true,
  ): Promise<R> {
    if (this.#gathering !== undefined) {
      this.#gathering.add(lane, localIndex, call, contribution, signal)
      return gathered
    }
    const state = this.#state
    const failed = this.#failed ?? state.failed
    if (failed !== undefined) return quietRejection(failed)
    try {
      requireSignal(signal)
    } catch (error) {
      return quietRejection(error as RankweaveError)
    }
    const seq = lane.nextOf(localIndex)
    if (signal?.aborted) return this.#abortedBefore(lane, localIndex, call, signal)
    const slot = lane.slot(seq)
    const { callSites } = state.runtime
    const site = callSites?.take(state.worldRank(localIndex))
    if (site !== undefined) {
      slot.sites ??= new Map()
      slot.sites.set(localIndex, site)
    }
    const mismatch =
      slot.call === undefined
        ? this.#open(lane, slot, localIndex, call)
        : callMismatch(state, lane, slot, localIndex, call, site)
    if (mismatch !== undefined) {
      this.#revocation.disagree(mismatch)
      if (!this.#revocation.awaitsAnswer) return quietRejection(mismatch)
    }
    lane.joined(localIndex)
    const hostedIndex = state.hostedIndex(localIndex)
    state.runtime.countCollective(hostedIndex)
    if (contribution !== undefined) {
      slot.contributions ??= new Array(this.#hosted)
      slot.contributions[localIndex] = contribution
    }
    slot.arrived++
    const promise =
      signal === undefined ? slot.promise(localIndex, call.shared === true) : slot.separatePromise(localIndex)
    if (signal !== undefined) watchSignal(state, slot, localIndex, signal, this.#revocation)
    if (!waits) {
      slot.awake ??= new Set()
      slot.awake.add(localIndex)
    }
    if (slot.arrived === this.#hosted && !this.#revocation.awaitsAnswer)
      this.#runner.runNow(lane, slot, localIndex, waits)
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
    const mismatch = this.#open(lane, slot, firstCaller, call) ?? joint?.mismatch(state, lane, slot)
    if (mismatch !== undefined) {
      this.#revocation.disagree(mismatch)
      if (!this.#revocation.awaitsAnswer) return quietRejection(mismatch)
    }
    lane.joinedTogether()
    if (this.#hosted === state.runtime.hostedRanks) state.runtime.countCollectives()
    else for (let i = 0; i < this.#hosted; i++) state.runtime.countCollective(state.hostedIndex(i))
    slot.contributions = contributions as unknown[] | undefined
    slot.arrived = this.#hosted
    slot.isJoint = true
    joint?.watchSignals(state, slot, this.#revocation)
    if (!this.#revocation.awaitsAnswer) this.#runner.runNow(lane, slot, firstCaller, true)
    const promise = slot.jointPromise()
    if (!slot.settled) blockAll(state, slot)
    else if (slot.isResolved) lane.spareSlot = slot
    return promise
  }

  /**
   * Joins each rank. It stays a separate method, because its closure inside the caller would cost every call the
   * variables that it captures.
   */
  #joinEach(
    lane: Lane,
    call: AnyCall,
    contributions: readonly unknown[] | undefined,
    joint: JoiningCalls | undefined,
  ): Promise<unknown> {
    return joinEach(this.#state, call, contributions, joint, (i, own, given, signal) =>
      this.#join(lane, i, own, given, signal),
    )
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
    return slot.early === undefined ? undefined : earlyMismatch(this.#state, lane, slot)
  }
}

/** The promise of a call that is gathered, which never settles. */
export const gathered: Promise<never> = new Promise(() => {})
