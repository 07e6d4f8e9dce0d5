import { nodeProcess } from '../../base/node-process.js'
import { inLaterTurn } from '../../base/turn.js'
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

/**
 * The completions after which the next ones wait for a turn of the event loop. Otherwise ranks that share an event loop
 * and only complete each other's operations would run in microtasks without end. No timer or socket would then be
 * served.
 */
const completionsPerTurn = 1024

let completions = 0
const held: (() => void)[] = []

/** Runs `complete` now, or in the next turn of the event loop when this one has spent its budget. */
export function inTurn(complete: () => void): void {
  if (mayComplete()) complete()
  else hold(complete)
}

/** Spends one completion of this turn; returns false when there is none left, and it has to be held. */
export function mayComplete(): boolean {
  return held.length === 0 && ++completions < completionsPerTurn
}

/** Runs `complete` in the next turn of the event loop. */
export function hold(complete: () => void): void {
  if (held.push(complete) === 1) inLaterTurn(releaseHeld, undefined)
}

export function completionsHeld(): boolean {
  return held.length > 0
}

export function resolvedInTurn<T>(value: T): Promise<T> {
  if (mayComplete()) return Promise.resolve(value)
  return new Promise((resolve) => inTurn(() => resolve(value)))
}

/** Returns a completion without a value, within the same budget. */
export function doneInTurn(): Promise<void> {
  return mayComplete() ? done : new Promise((resolve) => inTurn(resolve))
}

const done = Promise.resolve()

function releaseHeld(): void {
  completions = 0
  for (const complete of held.splice(0)) complete()
}

/** A collective's wait for data that other processes write in memory. See `Exchange.watch`. */
export class MemoryWait {
  readonly #look: () => boolean
  readonly #awaited: () => readonly number[]
  readonly #done: () => void
  readonly #failed: (error: unknown) => void
  #unwatch: (() => void) | undefined
  #isOver = false

  /** @param watch that of the fabric */
  constructor(
    watch: (look: () => boolean) => () => void,
    look: () => boolean,
    awaited: () => readonly number[],
    done: () => void,
    failed: (error: unknown) => void,
  ) {
    this.#look = look
    this.#awaited = awaited
    this.#done = done
    this.#failed = failed
    if (!this.#attempt()) this.#unwatch = watch(() => this.#attempt())
  }

  /** The process indices; none when it is over. */
  get awaited(): readonly number[] {
    return this.#isOver ? [] : this.#awaited()
  }

  end(): void {
    this.#isOver = true
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  #attempt(): boolean {
    if (this.#isOver) return false
    try {
      if (!this.#look()) return false
      this.end()
      this.#done()
    } catch (error) {
      this.end()
      this.#failed(error)
    }
    return true
  }
}
