import { nodeProcess } from '../base/node-process.js'
import { cancelTurn, inLaterTurn } from '../base/turn.js'

/**
 * A timer that keeps the event loop alive while a wait holds it, so that a waiting program does not exit. A page in a
 * browser lives as long as it is open, and has no such timer.
 */
export class KeepAlive {
  #timer: HeldTimer | undefined
  #holders = 0
  #closed = false

  ref(): void {
    if (this.#closed || this.#holders++ > 0) return
    held++
    if (this.#timer !== undefined) this.#timer.ref()
    else if (nodeProcess !== undefined) {
      this.#timer = setTimeout(restart, longestDelayMs, this) as unknown as HeldTimer
      keepAlives.add(this)
    }
  }

  unref(): void {
    if (this.#closed || --this.#holders > 0) return
    held--
    this.#timer?.unref()
  }

  /** Releases the timer; later calls do nothing. */
  close(): void {
    if (this.#closed) return
    if (this.#holders > 0) held--
    this.#closed = true
    if (this.#timer !== undefined) clearTimeout(this.#timer as unknown as number)
    this.#timer = undefined
    keepAlives.delete(this)
  }

  /** @internal */
  suspend(): void {
    this.#timer?.unref()
  }

  /** @internal */
  resume(): void {
    if (this.#holders > 0) this.#timer?.ref()
  }

  /** @internal */
  refresh(): void {
    this.#timer?.refresh()
  }
}

/** A task of a fabric's own: runs in a later turn of the event loop, once however often it is scheduled before. */
export class Task {
  readonly #run: () => void
  /** The scheduled turn; undefined while none is scheduled. */
  #turn: unknown

  constructor(run: () => void) {
    this.#run = run
  }

  schedule(): void {
    if (this.#turn !== undefined) return
    scheduled++
    this.#turn = inLaterTurn(start, this)
  }

  cancel(): void {
    if (this.#turn === undefined) return
    scheduled--
    cancelTurn(this.#turn)
    this.#turn = undefined
  }

  /** @internal */
  start(): void {
    scheduled--
    this.#turn = undefined
    this.#run()
  }
}

/**
 * Counts our timers and immediates that now keep the event loop of this thread alive. Deadlock detection excludes them:
 * they wake no rank that a frame would not wake.
 */
export function ownHandles(): { readonly timers: number; readonly immediates: number } {
  resumeKeepAlives()
  return { timers: held, immediates: scheduled }
}

/**
 * Lets the process end although waits are pending, until `resumeKeepAlives` or `ownHandles` is called. If nothing else
 * keeps it alive, it emits `beforeExit`: then only frames could wake a rank.
 */
export function suspendKeepAlives(): void {
  suspended = true
  for (const keepAlive of keepAlives) keepAlive.suspend()
}

export function resumeKeepAlives(): void {
  if (!suspended) return
  suspended = false
  for (const keepAlive of keepAlives) keepAlive.resume()
}

const keepAlives = new Set<KeepAlive>()
let suspended = false
let held = 0
let scheduled = 0

/** A timer of Node, which can be told to keep the event loop alive or not. */
interface HeldTimer {
  ref(): void
  unref(): void
  refresh(): void
}

/** The timers when this module is loaded: a test that replaces the timers of its program does not stop the library. */
const { setTimeout, clearTimeout } = globalThis

/** The longest delay of Node's timers: about 25 days. */
const longestDelayMs = 2 ** 31 - 1

function restart(keepAlive: KeepAlive): void {
  keepAlive.refresh()
}

function start(task: Task): void {
  task.start()
}
