import { onAbort } from '../../base/abort.js'
import { noteRank, type RankweaveError } from '../../errors.js'
import type { CallWatch, CommContext } from '../../messages/process/comm-context.js'
import { hold, mayComplete } from '../../messages/process/progress.js'
import type { ExchangeOwner, SlotExchange } from '../exchange/slot-exchange.js'
import { abortedCollective, failedIn, revokedBy } from './call-report.js'
import { failureFrom, type RankFailure } from './collective-call.js'
import { CallLanes, type Lane, plainLane } from './lane.js'
import type { Revocation } from './revocation.js'
import type { Slot } from './slot.js'

/** Runs the collectives of one communicator in one process that its ranks have joined, and completes them. */
export class SlotRunner implements ExchangeOwner {
  readonly lanes: CallLanes
  /** True once the communicator has failed, so that nothing further completes. */
  hasEnded = false
  readonly #state: CommContext
  readonly #revoke: (error: RankweaveError) => void
  readonly #watch: CallWatch | undefined
  #lastLane: Lane | undefined

  /** @param revoke fails all collectives of the communicator */
  constructor(state: CommContext, revoke: (error: RankweaveError) => void) {
    this.#state = state
    this.#revoke = revoke
    this.#watch = state.callWatch
    this.lanes = new CallLanes(state, this)
  }

  /**
   * Runs a collective for the rank that joined last. If that rank waits, it polls for a while instead of blocking when
   * all other ranks here wait.
   */
  runNow(lane: Lane, slot: Slot, localIndex: number, waits: boolean): void {
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

  finished(exchange: SlotExchange, results: readonly unknown[]): void {
    if (this.hasEnded) return
    const lane = this.#laneOf(exchange)
    this.#complete(lane, lane.slot(exchange.seq), results)
  }

  failed(exchange: SlotExchange, error: unknown): void {
    if (!this.hasEnded) this.#runFailed(this.#laneOf(exchange).slot(exchange.seq), error)
  }

  /** Completes a collective once every message has left; until then ranks must not change what they passed. */
  #complete(lane: Lane, slot: Slot, results: readonly unknown[]): void {
    if (this.hasEnded) return
    const { exchange } = slot
    if (exchange !== undefined && !exchange.isSent) {
      this.#completeWhenSent(lane, slot, results)
      return
    }
    if (exchange?.isWatched === true) this.#watch!.ended(exchange)
    lane.complete(slot)
    unblock(this.#state, lane, slot)
    this.lanes.noteIfOnlyCall()
    if (slot.isJoint) noteFailures(this.#state, results)
    if (!mayComplete()) {
      resolveLater(slot, results)
      return
    }
    slot.resolve(results)
    // A slot that is being run is still referred to.
    if (slot.isJoint && slot.runner < 0) lane.spareSlot = slot
  }

  #runFailed(slot: Slot, error: unknown): void {
    if (!this.hasEnded) this.#revoke(failedIn(this.#state, slot.call!.signature, error))
  }

  #laneOf({ lane: id }: SlotExchange): Lane {
    if (this.#lastLane?.id !== id) this.#lastLane = this.lanes.lane(id)
    return this.#lastLane
  }

  // Code that makes functions is separate from what every collective runs, which would otherwise allocate the captured
  // variables.

  #runWhenPlaced(lane: Lane, slot: Slot): void {
    this.#state.place().then(
      () => !this.hasEnded && this.#run(lane, slot),
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
}

function resolveLater(slot: Slot, results: readonly unknown[]): void {
  hold(() => slot.resolve(results))
}

// These functions record which ranks of a process wait for a collective.

/** Blocks all ranks here. If one program drives them, one wait is that of all. */
export function blockAll(state: CommContext, { signals }: Slot): void {
  const { waits } = state.runtime
  const count = waits.isShared ? 1 : state.localRanks.length
  for (let i = 0; i < count; i++) waits.block(state.hostedIndex(i), signals !== undefined)
}

/** Watches a signal whose abort fails the collective for this rank, and revokes the communicator. */
export function watchSignal(
  state: CommContext,
  slot: Slot,
  localIndex: number,
  signal: AbortSignal,
  revocation: Revocation,
): void {
  const abort = () => {
    const error = abortedCollective(state, slot.seq, localIndex, slot.call!.signature, signal)
    slot.failOne(localIndex, error)
    revocation.revoke(revokedBy(state, error))
  }
  slot.signals ??= new Map()
  slot.signals.set(localIndex, onAbort(signal, abort))
}

/** Ends the waits for a collective that is over here: no rank waits for it, and no signal aborts it. */
export function unblock(state: CommContext, lane: Lane, slot: Slot): void {
  if (slot.isJoint) unblockAll(state, slot)
  else unblockEach(state, lane, slot)
  const { callSites } = state.runtime
  for (const localIndex of slot.sites?.keys() ?? []) callSites!.release(state.worldRank(localIndex))
  slot.signals = undefined
  slot.settled = true
}

function unblockAll(state: CommContext, { signals, runner }: Slot): void {
  const { waits } = state.runtime
  for (const detach of signals?.values() ?? []) detach()
  // The ranks do not wait yet.
  if (runner >= 0) return
  const count = waits.isShared ? 1 : state.localRanks.length
  for (let i = 0; i < count; i++) waits.unblock(state.hostedIndex(i), signals !== undefined)
}

function unblockEach(state: CommContext, lane: Lane, slot: Slot): void {
  const { waits } = state.runtime
  const { signals, runner, awake } = slot
  for (let i = 0; i < state.localRanks.length; i++) {
    if (!lane.hasJoined(slot, i)) continue
    const detach = signals?.get(i)
    detach?.()
    if (i !== runner && awake?.has(i) !== true) waits.unblock(state.hostedIndex(i), detach !== undefined)
  }
}

/** Notes the rank of each error of a rank that fails alone, if one promise is that of all. */
function noteFailures(state: CommContext, results: readonly unknown[]): void {
  for (let i = failureFrom(results, 0); i >= 0; i = failureFrom(results, i + 1))
    noteRank((results[i] as RankFailure).error, state.worldRank(i))
}
