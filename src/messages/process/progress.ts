import { nodeProcess } from '../../base/node-process.js'
import type { Fabric } from '../../fabric/fabric.js'
import type { ProcessCounters } from './counters.js'
import type { Failures } from './failures.js'
import type { WaitTracker } from './wait-tracker.js'

/** Only fabrics of Node spin, so other engines need no `nextTick`. */
const { nextTick = queueMicrotask } = nodeProcess ?? {}

/** The bounds of how often `Progress.pollFor` polls; a poll takes some 10 ns. */
const fewestPolls = 8
const mostPolls = 256
/**
 * The most tries of a poll. Polls may deliver frames for other operations first, those of a collective that many
 * processes send, and a window of messages.
 */
const triesPerPoll = 128

/**
 * Decides when one process polls its fabric instead of leaving that to the event loop. It polls before its last awake
 * rank waits, and while every rank waits, because what they wait for may arrive within microseconds.
 */
export class Progress {
  /** The frames other than short messages that went straight to their receive. */
  framesHandedOn = 0
  readonly #fabric: Fabric
  readonly #waits: WaitTracker
  readonly #counters: ProcessCounters
  readonly #failures: Failures
  #spinning = false
  /** The number of polls of `pollFor`, adapted to how often polling paid off lately. */
  #polls = mostPolls
  /** The fabric's own transfers that may settle while it spins. */
  #transfers = 0
  /** The frames sent at the last unsuccessful `pollFor`. */
  #sentBefore = -1

  constructor(fabric: Fabric, waits: WaitTracker, counters: ProcessCounters, failures: Failures) {
    this.#fabric = fabric
    this.#waits = waits
    this.#counters = counters
    this.#failures = failures
  }

  /** Notes that a frame has arrived: while every rank waits, the process spins for the next one. */
  frameArrived(): void {
    if (this.#waits.awake === 0) this.spinLater()
  }

  /**
   * Spins for frames once everything that follows from the last ones has happened and still no rank here can continue.
   * Promises may lie between a frame and its consequences, so the spin runs after all microtasks.
   */
  spinLater(): void {
    if (this.#spinning || this.#fabric.spin === undefined) return
    this.#spinning = true
    queueMicrotask(this.#afterMicrotasks)
  }

  /** Whether a rank that is about to wait may poll first: every other rank here waits already. */
  get mayPoll(): boolean {
    return this.#waits.awake === 1 && this.#fabric.tryPoll !== undefined
  }

  /**
   * Polls for the completion of `operation`, which the only awake rank here is about to wait for: if it arrives now,
   * nothing is suspended. The rank may have been about to do something else first, so it polls only a few times. It
   * polls more often the more often that has paid off.
   */
  pollFor(operation: { readonly settled: boolean }): void {
    const fabric = this.#fabric
    for (let tries = 0; tries < triesPerPoll; tries++) {
      if (!fabric.tryPoll!(this.#polls)) {
        this.#polls = Math.max(fewestPolls, this.#polls >> 1)
        break
      }
      if (!operation.settled) continue
      this.#polls = mostPolls
      return
    }
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

  /** Returns true when microtasks may follow from an arrival, after which every rank may wait again. */
  #spinForAWhile(): boolean {
    const waits = this.#waits
    for (;;) {
      if (waits.awake > 0 || waits.waits === 0 || this.#failures.ended !== undefined) return false
      const framesBefore = this.framesHandedOn
      const waitsBefore = waits.waits
      if (!this.#fabric.spin!()) return false
      // A rank that only waited since then should have polled longer.
      if (this.#sentBefore === this.#counters.framesSent) this.#polls = mostPolls
      // Short messages that ended no wait lead to nothing: the next one may be here.
      if (this.#transfers > 0 || this.framesHandedOn !== framesBefore || waits.waits !== waitsBefore)
        return true
    }
  }
}
