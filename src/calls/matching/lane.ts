import { NumberMap } from '../../base/maps.js'
import { RankweaveError } from '../../errors.js'
import type { CallSite } from '../../messages/process/call-sites.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { type ExchangeOwner, FrameExchange } from '../exchange/frame-exchange.js'
import type { Signature } from '../signature.js'
import { type AnyCall, failureFrom, RankFailure } from './collective-call.js'

export const plainLane = 0

/** The number of completed calls whose signature a lane retains for error messages. */
const recentCalls = 32

/**
 * A lane is the sequence within which calls are matched by order: lane 0 for plain calls, one more per persistent
 * operation. Sequence numbers wrap at 2^32, so they are compared by their difference.
 */
export class Lane {
  readonly id: number
  /** The largest of `next`. Frames from here on belong to collectives that no rank here has called yet. */
  started = 0
  readonly slots = new NumberMap<Slot>()
  /** The call of the collective that was opened last. */
  lastCall: AnyCall | undefined
  /** The exchange of a completed collective, reused by the next one. */
  spareExchange: FrameExchange | undefined
  /** The slot of a completed collective whose ranks joined together, reused by the next one. */
  spareSlot: Slot | undefined
  readonly #state: CommContext
  readonly #owner: ExchangeOwner
  /** The slot returned last, which is nearly always the one wanted next. */
  #current: Slot | undefined
  readonly #recent: (Signature | undefined)[] = []
  /** The lines that called these; none unless the world diagnoses. */
  readonly #recentSites: Slot['sites'][] = []
  /** The sequence number of the next call of every local rank, less {@link #together}. */
  readonly #next: Uint32Array
  /** The calls that all local ranks made together since `#next` was brought up to date. */
  #together = 0
  /** The largest of `#next`, and how many local ranks have it: a call moves the number of one rank by 1. */
  #front = 0
  #ranksAtFront: number

  constructor(id: number, state: CommContext, owner: ExchangeOwner) {
    this.id = id
    this.#state = state
    this.#owner = owner
    this.#next = new Uint32Array(state.localRanks.length)
    this.#ranksAtFront = state.localRanks.length
  }

  /** The sequence number of the next call of every local rank. */
  get next(): Readonly<Uint32Array> {
    if (this.#together !== 0) {
      for (let i = 0; i < this.#next.length; i++) this.#next[i] += this.#together
      this.#front = (this.#front + this.#together) >>> 0
      this.#together = 0
    }
    return this.#next
  }

  nextOf(localIndex: number): number {
    return (this.#next[localIndex] + this.#together) >>> 0
  }

  /** Notes that a local rank has joined its next call. */
  joined(localIndex: number): void {
    const next = ++this.#next[localIndex]
    if (next >>> 0 === this.#front) this.#ranksAtFront++
    else if (next >>> 0 === (this.#front + 1) >>> 0) {
      this.#front = next >>> 0
      this.#ranksAtFront = 1
    }
  }

  /** Notes that all local ranks have joined their next call. */
  joinedTogether(): void {
    this.#together++
  }

  slot(seq: number): Slot {
    if (this.#current?.seq === seq) return this.#current
    let slot = this.slots.get(seq)
    if (slot === undefined) {
      slot = this.spareSlot?.reuse(seq) ?? new Slot(seq, this.#next.length)
      this.spareSlot = undefined
      this.slots.set(seq, slot)
    }
    this.#current = slot
    return slot
  }

  /** Returns the exchange of a slot, which is made when a frame arrives or the collective runs. */
  exchange(slot: Slot): FrameExchange {
    if (slot.exchange === undefined) {
      slot.exchange = this.spareExchange ?? this.newExchange()
      this.spareExchange = undefined
      slot.exchange.begin(slot.seq)
      if (slot.call !== undefined) slot.exchange.sign(slot.call.signature)
    }
    return slot.exchange
  }

  /** @param pieceBytes as of {@link FrameExchange} */
  newExchange(pieceBytes?: number): FrameExchange {
    return new FrameExchange(this.#state, this.#owner, this.id, pieceBytes)
  }

  hasCompleted(seq: number): boolean {
    return ((seq - this.started) | 0) < 0 && this.#current?.seq !== seq && !this.slots.has(seq)
  }

  /** Whether all local ranks have started equally many collectives. */
  get isEven(): boolean {
    return this.#ranksAtFront === this.#next.length
  }

  /**
   * Tells whether the last collective that this local rank has joined is in progress here; without a rank, that of any.
   */
  isActive(localIndex?: number): boolean {
    if (localIndex !== undefined) return this.slots.get((this.nextOf(localIndex) - 1) >>> 0) !== undefined
    return this.isEven ? this.isActive(0) : this.next.some((_, i) => this.isActive(i))
  }

  hasJoined(slot: Slot, localIndex: number): boolean {
    return slot.call !== undefined && ((this.nextOf(localIndex) - slot.seq) | 0) > 0
  }

  /** Removes a completed slot. Its signature is retained for a while, to name the call that a late frame mismatches. */
  complete(slot: Slot): void {
    this.slots.delete(slot.seq)
    this.#current = undefined
    this.#recent[slot.seq % recentCalls] = slot.call!.signature
    if (slot.sites !== undefined) this.#recentSites[slot.seq % recentCalls] = slot.sites
    const { exchange } = slot
    if (exchange?.idle) this.spareExchange = exchange
    else exchange?.drop()
    slot.exchange = undefined
  }

  clear(): Slot[] {
    const slots = this.slots.values()
    this.slots.clear()
    this.#current = undefined
    return slots
  }

  recent(seq: number): Signature | undefined {
    return ((this.started - seq) | 0) <= recentCalls ? this.#recent[seq % recentCalls] : undefined
  }

  /** Returns the lines that called what {@link recent} returns, by local index. */
  recentSites(seq: number): Slot['sites'] {
    return this.#recentSites[seq % recentCalls]
  }
}

/** A collective in progress in one process: which ranks have joined, what they passed, and their promises. */
export class Slot {
  seq: number
  /** Made when a frame arrives or the collective runs. */
  exchange: FrameExchange | undefined
  /** The headers of frames that arrived before any local rank joined: one per process. */
  early: Map<number, Int32Array> | undefined
  /**
   * The world process whose frame opened it before any local rank joined, and which is charged for that; otherwise -1.
   */
  openedBy = -1
  /** The call of the first rank to join; its `run` is the one that runs. */
  call: AnyCall | undefined
  /** The local index of that rank. */
  firstCaller = -1
  arrived = 0
  /** The local index of the rank whose call is running it and which does not wait yet; otherwise -1. */
  runner = -1
  /** The local indices of ranks that have joined and do not wait. */
  awake: Set<number> | undefined
  /** The line from which each rank called it, by local index; undefined unless the world diagnoses. */
  sites: Map<number, CallSite> | undefined
  settled = false
  /** True once its ranks have their results; then only code that runs it still refers to it. */
  isResolved = false
  /** Allocated with the first contribution that is not undefined, so that a barrier retains nothing per rank. */
  contributions: unknown[] | undefined
  /** The detach functions of the ranks that wait with a signal, by local index. */
  signals: Map<number, () => void> | undefined
  /**
   * The promise that settles with the collective. It is that of all ranks of a shared result; other ranks' promises
   * derive from it.
   */
  #shared: Deferred | undefined
  /** The promises derived from `#shared`, and the local indices of their ranks, in order of derivation. */
  #derived: Promise<unknown>[] | undefined
  #owners: number[] | undefined
  #deriving = 0
  /** The promises that can be rejected separately, by local index. */
  #separate: Map<number, Deferred> | undefined
  #ownErrors: Map<number, RankweaveError> | undefined
  #results: readonly unknown[] | undefined
  #delivered = 0
  isJoint = false
  /**
   * The promise of ranks that joined together; none if the collective is complete, or has failed, before one is needed.
   */
  #joint: Deferred | undefined
  /** The result of such ranks until then, or the reason why it failed. */
  #jointResult: unknown
  readonly #localRanks: number

  constructor(seq: number, localRanks: number) {
    this.seq = seq
    this.#localRanks = localRanks
  }

  /**
   * Returns the promise of one rank: the shared one for a shared result or an only rank, otherwise one derived from it.
   */
  promise(localIndex: number, shared: boolean): Promise<unknown> {
    this.#shared ??= deferred()
    if (shared || this.#localRanks === 1) return this.#shared.promise
    this.#deliverNext ??= () => this.#deliver()
    this.#derived ??= new Array(this.#localRanks)
    this.#owners ??= new Array(this.#localRanks)
    const own = this.#shared.promise.then(this.#deliverNext)
    this.#derived[this.#deriving] = own
    this.#owners[this.#deriving++] = localIndex
    return own
  }

  /** Returns a promise that {@link failOne} can fail; it costs more than a derived one. */
  separatePromise(localIndex: number): Promise<unknown> {
    const own = deferred()
    this.#separate ??= new Map()
    this.#separate.set(localIndex, own)
    return own.promise
  }

  /**
   * Returns one promise of all ranks: of their results, or of a shared one. Called once, after the slot has been run.
   */
  jointPromise(): Promise<unknown> {
    const result = this.#jointResult
    this.#jointResult = undefined
    // As for a single rank, the failure of the communicator may go unhandled, but a failure of this call alone may not.
    if (result instanceof RankFailure)
      return this.isResolved ? Promise.reject(result.error) : quietRejection(result.error)
    if (this.isResolved) return Promise.resolve(result)
    this.#joint = deferred()
    return this.#joint.promise
  }

  /** Turns a resolved slot of ranks that joined together into one of a later collective. */
  reuse(seq: number): this {
    this.seq = seq
    this.exchange = undefined
    this.early = undefined
    this.openedBy = -1
    this.call = undefined
    this.firstCaller = -1
    this.arrived = 0
    this.runner = -1
    this.sites = undefined
    this.settled = false
    this.isResolved = false
    this.contributions = undefined
    this.signals = undefined
    this.isJoint = false
    this.#joint = undefined
    this.#jointResult = undefined
    this.#ownErrors = undefined
    this.#results = undefined
    return this
  }

  /** @param results by local index; a shared result is the first */
  resolve(results: readonly unknown[]): void {
    this.#results = results
    this.isResolved = true
    const { shared, isResultless } = this.call!
    const first = isResultless === true ? firstFailure(results) : results[0]
    if (this.isJoint) {
      const result = shared === true ? first : (firstFailure(results) ?? results)
      if (this.#joint === undefined) this.#jointResult = result
      else settle(this.#joint, result)
      return
    }
    if (this.#shared !== undefined) {
      // Derived promises pick their own result.
      if (this.#derived === undefined) settle(this.#shared, first)
      else this.#shared.resolve(undefined)
    }
    if (this.#separate === undefined) return
    for (const [localIndex, own] of this.#separate) {
      settle(own, shared === true ? first : results[localIndex])
    }
  }

  reject(error: RankweaveError): void {
    if (this.isJoint) {
      const [aborted = error] = this.#ownErrors?.values() ?? []
      if (this.#joint === undefined) this.#jointResult = new RankFailure(aborted)
      else rejectQuietly(this.#joint, aborted)
      return
    }
    if (this.call?.isOverWhenRevoked === true && error.code === 'ERR_REVOKED') {
      this.#endRevoked()
      return
    }
    for (let i = 0; i < this.#deriving; i++) this.#derived![i].catch(ignore)
    rejectQuietly(this.#shared, error)
    for (const [localIndex, own] of this.#separate ?? []) {
      rejectQuietly(own, this.#ownErrors?.get(localIndex) ?? error)
    }
  }

  #endRevoked(): void {
    this.#shared?.resolve(undefined)
    for (const [localIndex, own] of this.#separate ?? []) {
      const error = this.#ownErrors?.get(localIndex)
      if (error === undefined) own.resolve(undefined)
      else rejectQuietly(own, error)
    }
  }

  /** Lets this rank, which has its own promise, get this error when the slot fails. */
  failOne(localIndex: number, error: RankweaveError): void {
    this.#ownErrors ??= new Map()
    this.#ownErrors.set(localIndex, error)
  }

  /**
   * A single function serves all derived promises instead of a closure for each. Reactions of one promise run in the
   * order in which they were attached, so the n-th run is for the n-th owner.
   */
  #deliverNext: (() => unknown) | undefined

  #deliver(): unknown {
    const result = this.#results![this.#owners![this.#delivered++]]
    if (result instanceof RankFailure) throw result.error
    return result
  }
}

/**
 * Rejects without an unhandled rejection, which would end the host program. One failure rejects many promises, awaited
 * or not, and the communicator retains the error for every later call.
 */
function rejectQuietly(own: Deferred | undefined, error: RankweaveError): void {
  own?.promise.catch(ignore)
  own?.reject(error)
}

function ignore(): void {}

/** Returns a rejected promise that may go unhandled: the communicator retains its error for every later call. */
export function quietRejection(error: RankweaveError): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

function firstFailure(results: readonly unknown[]): unknown {
  const place = failureFrom(results, 0)
  return place < 0 ? undefined : results[place]
}

function settle(own: Deferred, result: unknown): void {
  if (result instanceof RankFailure) own.reject(result.error)
  else own.resolve(result)
}

interface Deferred {
  readonly promise: Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

function deferred(): Deferred {
  const promise = new Promise<unknown>(take)
  return { promise, resolve: lastResolve, reject: lastReject }
}

/** The functions that settle the promise made last. One executor serves all promises instead of a closure for each. */
let lastResolve: Deferred['resolve']
let lastReject: Deferred['reject']

function take(resolve: Deferred['resolve'], reject: Deferred['reject']): void {
  lastResolve = resolve
  lastReject = reject
}

/** The calls with which all ranks of a process join one collective together, by local index. */
export class JoiningCalls {
  /** The call of the rank that called first. */
  call: AnyCall | undefined
  firstCaller = 0
  /** The local index of the rank that called last; -1 before any has. */
  lastCaller = -1
  count = 0
  lane: Lane | undefined
  contributions: unknown[] | undefined
  /** The calls that are another object than the first one. */
  others: Map<number, AnyCall> | undefined
  signals: Map<number, AbortSignal> | undefined
  readonly #ranks: number

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  /** @throws ERR_ARGUMENT for starts of different inits */
  add(
    lane: Lane,
    localIndex: number,
    call: AnyCall,
    contribution: unknown,
    signal: AbortSignal | undefined,
  ): void {
    this.count++
    this.lastCaller = localIndex
    if (this.call === undefined) {
      this.call = call
      this.lane = lane
      this.firstCaller = localIndex
    } else if (call !== this.call) {
      if (lane !== this.lane)
        throw new RankweaveError(
          'ERR_ARGUMENT',
          'expected starts of the requests of one init, got those of others',
        )
      this.others ??= new Map()
      this.others.set(localIndex, call)
    }
    if (contribution !== undefined) {
      this.contributions ??= new Array(this.#ranks)
      this.contributions[localIndex] = contribution
    }
    if (signal !== undefined) {
      this.signals ??= new Map()
      this.signals.set(localIndex, signal)
    }
  }

  callOf(localIndex: number): AnyCall {
    return this.others?.get(localIndex) ?? this.call!
  }

  /** Returns a signal that was aborted before the call, and its rank. */
  aborted(): readonly [localIndex: number, signal: AbortSignal] | undefined {
    for (const entry of this.signals ?? []) if (entry[1].aborted) return entry
    return undefined
  }
}
