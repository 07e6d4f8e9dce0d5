import { nextTick } from 'node:process'
import type { Fabric } from '../../fabric/fabric.js'
import type { ProcessCounters } from './counters.js'
import type { Failures } from './failures.js'
import type { WaitTracker } from './wait-tracker.js'

/** Bounds of how often `Progress.pollFor` polls; a poll takes some 10 ns. */
const fewestPolls = 8
const mostPolls = 256
/** Frames for others that come in between. */
const triesPerPoll = 16

/**
 * When one process polls its fabric instead of leaving that to the event loop: before its last awake rank waits, and
 * while all its ranks wait, because what they wait for may come within microseconds.
 */
export class Progress {
  /** Frames that were more than a short message for a receive. */
  framesHandedOn = 0
  readonly #fabric: Fabric
  readonly #waits: WaitTracker
  readonly #counters: ProcessCounters
  readonly #failures: Failures
  #spinning = false
  /** How often `pollFor` polls: as often as it paid lately. */
  #polls = mostPolls
  /** Transfers of the fabric's own that may settle while it spins. */
  #transfers = 0
  /** Frames sent at the last unsuccessful `pollFor`. */
  #sentBefore = -1

  constructor(fabric: Fabric, waits: WaitTracker, counters: ProcessCounters, failures: Failures) {
    this.#fabric = fabric
    this.#waits = waits
    this.#counters = counters
    this.#failures = failures
  }

  /** A frame has come: if every rank waits even so, the process spins for the next one. */
  frameArrived(): void {
    if (this.#waits.awake === 0) this.spinLater()
  }

  /**
   * Spins for frames when all that follows from the last ones has happened and still no rank here can go on. Promises
   * may stand between a frame and what it leads to, so the spin comes after all microtasks.
   */
  spinLater(): void {
    if (this.#spinning || this.#fabric.spin === undefined) return
    this.#spinning = true
    queueMicrotask(this.#afterMicrotasks)
  }

  /** Whether a rank that is about to wait may poll first: all others here wait already. */
  get mayPoll(): boolean {
    return this.#waits.awake === 1 && this.#fabric.tryPoll !== undefined
  }

  /**
   * Polls for what completes `operation`, which the only awake rank here is about to wait for: if it comes now, there
   * is nothing to suspend. The rank may have been about to do something else first, so it polls a few times only, and
   * more often the more often that has paid.
   */
  pollFor(operation: { readonly settled: boolean }): void {
    const fabric = this.#fabric
    for (let tries = 0; tries < triesPerPoll && fabric.tryPoll!(this.#polls); tries++) {
      if (!operation.settled) continue
      this.#polls = mostPolls
      return
    }
    this.#polls = Math.max(fewestPolls, this.#polls >> 1)
    this.#sentBefore = this.#counters.framesSent
  }

  /** Watches a transfer that the fabric carries out by itself: microtasks follow when it settles. */
  watch(transfer: Promise<void>): Promise<void> {
    this.#transfers++
    return transfer.finally(() => {
      this.#transfers--
    })
  }

  readonly #afterMicrotasks = (): void => nextTick(this.#spin)

  readonly #spin = (): void => {
    try {
      if (!this.#spinForAWhile()) return
    } finally {
      this.#spinning = false
    }
    this.spinLater()
  }

  /** True when microtasks may follow from what came, and then all may wait again. */
  #spinForAWhile(): boolean {
    const waits = this.#waits
    for (;;) {
      if (waits.awake > 0 || waits.waits === 0 || this.#failures.ended !== undefined) return false
      const framesBefore = this.framesHandedOn
      const waitsBefore = waits.waits
      if (!this.#fabric.spin!()) return false
      // A rank that did nothing but wait since then should have polled longer.
      if (this.#sentBefore === this.#counters.framesSent) this.#polls = mostPolls
      // Short messages that ended no wait lead to nothing: the next one may be here.
      if (this.#transfers > 0 || this.framesHandedOn !== framesBefore || waits.waits !== waitsBefore)
        return true
    }
  }
}
