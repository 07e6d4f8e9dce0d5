import type { RankweaveError } from '../errors.js'
import type { CallWatch, CommContext } from '../messages/process/comm-context.js'
import { hold, mayComplete } from '../messages/process/completion-budget.js'
import { failedIn } from './call-report.js'
import { CallLanes, type Lane, plainLane } from './lane.js'
import type { Slot } from './slot.js'
import type { ExchangeOwner, SlotExchange } from './slot-exchange.js'
import { noteFailures, unblock } from './slot-waits.js'

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
      const { isWatched } = exchange
      if (isWatched) this.#watch!.start(exchange)
      const results = slot.call!.run((slot.contributions ?? []) as never[], exchange)
      if (isWatched) this.#watch!.stop()
      if (results === undefined) return true
      if (results instanceof Promise) {
        this.#completeWhen(results, lane, slot)
        return false
      }
      this.#complete(lane, slot, results)
    } catch (error) {
      this.#watch?.stop()
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
