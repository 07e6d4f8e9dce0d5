import { RankweaveError } from '../../errors.js'
import { onAbort } from '../process/abort.js'
import { inTurn } from '../process/completion-budget.js'
import { decodeError, encodeError } from '../process/error-record.js'
import { frameKind, headerWord } from '../process/frames.js'
import type { WaitOptions } from '../process/wait-options.js'
import type { CommContext } from '../table/comm-context.js'
import { collectiveWord, type Exchange, type ExchangeOwner, SlotExchange } from './exchange.js'
import { everyCall, Lane } from './exchange-lane.js'
import {
  abortedCollective,
  calledBy,
  calledOn,
  describeWait,
  failedIn,
  mismatched,
  revokedBy,
} from './exchange-report.js'
import type { Slot } from './exchange-slot.js'
import { describeSignature, describeWords, type Signature, sameSignature, sameWords } from './signature.js'

export type { Exchange } from './exchange.js'
export { Refusal } from './exchange-slot.js'
export type { Signature } from './signature.js'

/** One collective operation as the process runs it, once, when its last hosted rank has arrived. */
export interface CollectiveCall<C, R> {
  readonly signature: Signature
  /** All hosted ranks get the first result, by one promise: what `barrier` needs for very many ranks. */
  readonly shared?: true
  /** Runs without knowing where every rank lives; the others wait until the communicator is placed. */
  readonly unplaced?: true
  /**
   * Throwing revokes the communicator on all processes; a `Refusal` as a result fails that rank alone.
   *
   * @param contributions what each hosted rank passed, by local index; empty if nobody passed anything
   * @returns what each hosted rank gets, by local index; nothing, now or later, if the call ends itself by
   *   `exchange.finish`
   */
  run(
    contributions: readonly C[],
    exchange: Exchange,
  ): readonly R[] | Promise<readonly R[] | undefined> | undefined
}

type AnyCall = CollectiveCall<never, unknown>

/**
 * Matches the collective calls of one communicator in one process by call order and runs them.
 *
 * A rank that calls with a signal which is aborted already does not join; like any abort of a collective it rejects
 * with ERR_ABORTED and revokes the communicator, because the other ranks would wait for it in vain.
 */
export class CollectiveEngine implements ExchangeOwner {
  readonly #state: CommContext
  readonly #hosted: number
  readonly #lanes = new Map<number, Lane>()
  #main: Lane | undefined
  #alone: { resolve(): void; reject(error: RankweaveError): void } | undefined
  #failed: RankweaveError | undefined

  constructor(state: CommContext) {
    this.#state = state
    this.#hosted = state.localRanks.length
    for (const process of state.processes.processes) this.#failed ??= state.runtime.lostPeer(process)
  }

  /**
   * One rank's call. The n-th call of every rank belongs to the n-th collective of the communicator; calls may be
   * started without awaiting the ones before. The rank counts as blocked until the result is there.
   */
  call<C, R>(
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    options?: WaitOptions,
  ): Promise<R> {
    this.#main ??= this.#lane(everyCall)
    return this.#join(this.#main, localIndex, call, contribution, options?.signal)
  }

  /**
   * The call that this rank is about to join, or else the last one: ranks that call alike, and again and again, can
   * share one call object instead of describing each call anew.
   */
  likelyCall(): CollectiveCall<never, unknown> | undefined {
    return this.#main?.lastCall
  }

  /**
   * Opens a lane for a persistent operation; called inside `run` of its init, which all processes number alike.
   * One lane per init.
   */
  openLane(exchange: Exchange): number {
    const header = (exchange as SlotExchange).header
    const id = (header[collectiveWord.seq]! + 1) | 0
    this.#lane(id)
    return id
  }

  /** Forgets a lane; the caller has made sure that no rank starts it again. */
  closeLane(lane: number): void {
    if (lane !== everyCall) this.#lanes.delete(lane)
  }

  /** Like `call`, matched among the starts of one lane only: the n-th start of every rank belongs together. */
  start<C, R>(
    lane: number,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    options?: WaitOptions,
  ): Promise<R> {
    return this.#join(this.#lane(lane), localIndex, call, contribution, options?.signal)
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (this.#failed !== undefined) return
    if (header[headerWord.kind] === frameKind.revoke) {
      this.#state.fail(decodeError(payload) as RankweaveError)
      return
    }
    const lane = this.#lane(header[collectiveWord.lane]!)
    const seq = header[collectiveWord.seq]! >>> 0
    if (lane.hasCompleted(seq)) {
      // All frames of a collective are consumed before it completes here, so this one belongs to another call.
      this.#mismatch(lane, seq, this.#remoteCall(src, header), this.#completedCall(lane, seq))
      return
    }
    const slot = lane.slot(seq)
    const exchange = this.#exchange(slot)
    if (slot.call === undefined) {
      slot.early ??= new Map()
      if (!slot.early.has(src)) slot.early.set(src, header.slice())
    } else if (!sameCall(exchange.header, header)) {
      this.#mismatch(
        lane,
        seq,
        this.#remoteCall(src, header),
        this.#localCall(slot.firstCaller, slot.call.signature),
      )
      return
    }
    exchange.frame(this.#state.indexOfProcess(src), header, payload)
  }

  /** Fails all pending and later collectives here and on every other process of the communicator. */
  revoke(error: RankweaveError): void {
    const state = this.#state
    if (state.failed !== undefined) return
    const payload = encodeError(error, state.runtime.fabric.maxPayloadBytes)
    const header = Int32Array.of(frameKind.revoke, state.id.leader, state.id.counter)
    for (const process of state.processes.processes) {
      if (process !== state.runtime.process) state.runtime.send(process, header, payload)
    }
    state.fail(error)
  }

  /**
   * For the last collective of a communicator, called inside its `run`: resolves when all others, which may have been
   * started without being awaited, are complete here.
   */
  whenAlone(): Promise<void> {
    if (this.isAlone) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#alone = { resolve, reject }
    })
  }

  /** Whether they are now. */
  get isAlone(): boolean {
    let slots = 0
    for (const lane of this.#lanes.values()) slots += lane.slots.size
    return slots === 1
  }

  /** For diagnosis. */
  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  fail(error: RankweaveError): void {
    if (this.#failed !== undefined) return
    this.#failed = error
    this.#alone?.reject(error)
    for (const lane of this.#lanes.values()) {
      for (const slot of lane.clear()) {
        slot.exchange?.fail(error)
        this.#unblock(slot)
        slot.reject(error)
      }
    }
  }

  peerLost(peer: number, reason: string): void {
    this.fail(
      this.#state.runtime.lostPeer(peer) ??
        new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
          details: { process: peer },
        }),
    )
  }

  describeWaits(): string[] {
    const lines: string[] = []
    for (const lane of this.#lanes.values()) {
      for (const slot of lane.slots.values()) {
        if (slot.call === undefined) continue
        lines.push(describeWait(this.#state, slot, (localIndex) => lane.hasJoined(slot, localIndex)))
      }
    }
    return lines
  }

  #join<C, R>(
    lane: Lane,
    localIndex: number,
    call: CollectiveCall<C, R>,
    contribution: C,
    signal: AbortSignal | undefined,
  ): Promise<R> {
    const state = this.#state
    const failed = this.#failed ?? state.failed
    if (failed !== undefined) return refused(failed)
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      const said = `expected an AbortSignal as signal, got ${typeof signal}`
      return refused(new RankweaveError('ERR_ARGUMENT', said))
    }
    const seq = lane.next[localIndex]!
    if (signal?.aborted) {
      const error = this.#aborted(seq, localIndex, call, signal)
      this.revoke(revokedBy(this.#state, error))
      return refused(error)
    }
    const slot = lane.slot(seq)
    const mismatch =
      slot.call === undefined ? this.#open(slot, localIndex, call) : this.#compare(slot, localIndex, call)
    if (mismatch !== undefined) return refused(mismatch)
    lane.next[localIndex] = seq + 1
    const hostedIndex = state.hostedIndex(localIndex)
    state.runtime.countCollective(hostedIndex)
    if (contribution !== undefined) {
      slot.contributions ??= new Array(this.#hosted)
      slot.contributions[localIndex] = contribution
    }
    slot.arrived++
    const promise =
      signal === undefined ? slot.promise(localIndex, call.shared === true) : slot.promiseApart(localIndex)
    if (signal !== undefined) this.#watch(slot, localIndex, signal)
    if (slot.arrived === this.#hosted) this.#runNow(slot, localIndex)
    if (!slot.settled) state.runtime.waits.block(hostedIndex, signal !== undefined)
    return promise as Promise<R>
  }

  /** The first local rank has come: what other processes sent already can be compared with its call. */
  #open(slot: Slot, localIndex: number, call: AnyCall): RankweaveError | undefined {
    const { lane } = slot
    slot.call = call
    lane.lastCall = call
    slot.firstCaller = localIndex
    slot.exchange?.sign(call.signature)
    if (slot.seq === lane.started) lane.started = (slot.seq + 1) >>> 0
    const early = slot.early
    slot.early = undefined
    for (const [src, header] of early ?? []) {
      if (sameCall(slot.exchange!.header, header)) continue
      return this.#mismatch(
        lane,
        slot.seq,
        this.#remoteCall(src, header),
        this.#localCall(localIndex, call.signature),
      )
    }
    return undefined
  }

  #compare(slot: Slot, localIndex: number, call: AnyCall): RankweaveError | undefined {
    const first = slot.call!
    if (first === call || sameSignature(first.signature, call.signature)) return undefined
    return this.#mismatch(
      slot.lane,
      slot.seq,
      this.#localCall(slot.firstCaller, first.signature),
      this.#localCall(localIndex, call.signature),
    )
  }

  /** Runs it for the rank that came last, which need not wait for what is over at once or comes within microseconds. */
  #runNow(slot: Slot, localIndex: number): void {
    const { runtime } = this.#state
    slot.runner = localIndex
    if (this.#run(slot) && !slot.settled && runtime.mayPoll) runtime.lookFor(slot)
    slot.runner = -1
  }

  /** True when all that is left to do is done while frames are being delivered. */
  #run(slot: Slot): boolean {
    if (!this.#state.isPlaced && slot.call!.unplaced !== true) {
      this.#state.place().then(
        () => this.#failed === undefined && this.#run(slot),
        (error) => this.#runFailed(slot, error),
      )
      return false
    }
    try {
      const results = slot.call!.run((slot.contributions ?? []) as never[], this.#exchange(slot))
      if (results instanceof Promise) {
        results.then(
          (late) => late !== undefined && this.#complete(slot, late),
          (error) => this.#runFailed(slot, error),
        )
        return false
      }
      if (results !== undefined) this.#complete(slot, results)
    } catch (error) {
      this.#runFailed(slot, error)
    }
    return true
  }

  /** @internal */
  finished(exchange: SlotExchange, results: readonly unknown[]): void {
    if (this.#failed === undefined) this.#complete(this.#lane(exchange.lane).slot(exchange.seq), results)
  }

  /** @internal */
  failed(exchange: SlotExchange, error: unknown): void {
    if (this.#failed === undefined) this.#runFailed(this.#lane(exchange.lane).slot(exchange.seq), error)
  }

  #complete(slot: Slot, results: readonly unknown[]): void {
    if (this.#failed !== undefined) return
    const { lane, exchange } = slot
    lane.complete(slot)
    if (exchange?.idle) lane.spareExchange = exchange
    slot.exchange = undefined
    this.#unblock(slot)
    if (this.#alone !== undefined && this.isAlone) this.#alone.resolve()
    inTurn(() => slot.resolve(results))
  }

  #runFailed(slot: Slot, error: unknown): void {
    if (this.#failed === undefined) this.revoke(failedIn(describeSignature(slot.call!.signature), error))
  }

  #watch(slot: Slot, localIndex: number, signal: AbortSignal): void {
    const abort = () => {
      const error = this.#aborted(slot.seq, localIndex, slot.call!, signal)
      slot.rejectOne(localIndex, error)
      this.revoke(revokedBy(this.#state, error))
    }
    slot.signals ??= new Map()
    slot.signals.set(localIndex, onAbort(signal, abort))
  }

  #aborted(seq: number, localIndex: number, call: AnyCall, signal: AbortSignal): RankweaveError {
    const who = this.#localCall(localIndex, call.signature)
    return abortedCollective(seq, this.#state.localRanks[localIndex]!, who, signal)
  }

  #mismatch(lane: Lane, seq: number, one: string, other: string): RankweaveError {
    const error = mismatched(this.#state, lane.id, seq, one, other)
    this.revoke(error)
    return error
  }

  #localCall(localIndex: number, signature: Signature): string {
    return calledBy(this.#state.localRanks[localIndex]!, describeSignature(signature))
  }

  /** The ranks of a process agreed among themselves, so its first one speaks for them. */
  #remoteCall(src: number, header: Int32Array): string {
    return calledOn(
      this.#state,
      this.#state.indexOfProcess(src),
      describeWords(header, collectiveWord.signature),
    )
  }

  #completedCall(lane: Lane, seq: number): string {
    const signature = lane.recent(seq)
    return signature === undefined
      ? `rank ${this.#state.localRanks[0]!} has long completed another call`
      : this.#localCall(0, signature)
  }

  #unblock(slot: Slot): void {
    const { waits } = this.#state.runtime
    const { lane, signals, runner } = slot
    for (let i = 0; i < this.#hosted; i++) {
      if (!lane.hasJoined(slot, i)) continue
      const detach = signals?.get(i)
      detach?.()
      if (i !== runner) waits.unblock(this.#state.hostedIndex(i), detach !== undefined)
    }
    slot.signals = undefined
    slot.settled = true
  }

  #exchange(slot: Slot): SlotExchange {
    if (slot.exchange === undefined) {
      const { lane } = slot
      slot.exchange = lane.spareExchange ?? new SlotExchange(this.#state, this, lane.id)
      lane.spareExchange = undefined
      slot.exchange.begin(slot.seq)
      if (slot.call !== undefined) slot.exchange.sign(slot.call.signature)
    }
    return slot.exchange
  }

  #lane(id: number): Lane {
    let lane = this.#lanes.get(id)
    if (lane === undefined) {
      lane = new Lane(id, this.#hosted)
      this.#lanes.set(id, lane)
    }
    return lane
  }
}

function sameCall(a: Int32Array, b: Int32Array): boolean {
  return sameWords(a, collectiveWord.signature, b, collectiveWord.signature)
}

/** A rejected promise that nobody has to look at: the communicator keeps its error for every later call. */
function refused(error: RankweaveError): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(() => {})
  return promise
}
