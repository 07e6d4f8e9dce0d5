/** Runs functions in later turns of the event loop, after timers and I/O had theirs. */
interface Turns {
  /** Schedules a call, and returns the handle that `cancel` takes. */
  set<A>(run: (argument: A) => void, argument: A): unknown
  cancel(handle: unknown): void
}

/**
 * The functions are retained when this module is loaded, so a test that replaces the timers of its program does not
 * stop the library.
 */
const native = globalThis as {
  readonly setImmediate?: <A>(run: (argument: A) => void, argument: A) => unknown
  readonly clearImmediate?: (handle: unknown) => void
}

/** The ends of a `MessageChannel`, as browsers have them; Node's differ only in their types. */
interface Channel {
  readonly port1: { onmessage: (event: { readonly data: number }) => void; close(): void }
  readonly port2: { postMessage(data: number): void }
}

/**
 * Turns by messages. Browsers have no `setImmediate`, and delay timers that set timers by at least 4 ms, but a message
 * to oneself has no delay. One function runs per message, so that timers and I/O have their turn between two.
 */
export class MessageTurns implements Turns {
  readonly #channel = new MessageChannel() as unknown as Channel
  readonly #waiting = new Map<number, () => void>()
  #count = 0

  constructor() {
    this.#channel.port1.onmessage = ({ data }) => {
      const run = this.#waiting.get(data)
      this.#waiting.delete(data)
      run?.()
    }
  }

  set<A>(run: (argument: A) => void, argument: A): number {
    const number = this.#count++
    this.#waiting.set(number, () => run(argument))
    this.#channel.port2.postMessage(number)
    return number
  }

  cancel(number: number): void {
    this.#waiting.delete(number)
  }

  /** Closes the channel. On Node its port keeps the event loop alive until then. */
  close(): void {
    this.#channel.port1.close()
  }
}

const { setImmediate, clearImmediate } = native
const turns: Turns =
  setImmediate === undefined || clearImmediate === undefined
    ? new MessageTurns()
    : {
        set: (run, argument) => setImmediate(run, argument),
        cancel: (handle) => clearImmediate(handle),
      }

/** Calls `run` with `argument` in a later turn of the event loop, which it keeps alive. */
export function inLaterTurn<A>(run: (argument: A) => void, argument: A): unknown {
  return turns.set(run, argument)
}

/** @param handle from {@link inLaterTurn} */
export function cancelTurn(handle: unknown): void {
  turns.cancel(handle)
}

/** Resolves in a later turn of the event loop. */
export function laterTurn(): Promise<void> {
  return new Promise((resolve) => {
    turns.set(resolve, undefined)
  })
}

/**
 * Turns what `start` throws into a rejected promise, so that methods that return a promise never throw. An
 * `async` function around the promise would do the same, but retains some 500 bytes per waiting rank.
 */
export function promiseTry<T>(start: () => Promise<T>): Promise<T> {
  try {
    return start()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Continues with a value, at once or when it is there. */
export function whenThere<T, R>(value: T | Promise<T>, go: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/** The milliseconds for which long work holds the event loop at a time, apart from the rest of a step. */
const sliceMs = 10

/** Runs all steps now. */
export function atOnce<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Runs the steps in slices, between which the event loop runs. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await laterTurn()
  }
}

/** Work in flight, and the key on which it depends. */
export interface SharedWork<K, T> {
  readonly key: K
  readonly done: Promise<T>
}

/** Begins work, or waits for the work in flight for the same key. */
export async function joinWork<K, T>(
  inFlight: SharedWork<K, T>[],
  key: K,
  areSame: (a: K, b: K) => boolean,
  begin: () => Promise<T>,
): Promise<T> {
  const known = inFlight.find((each) => areSame(each.key, key))
  if (known !== undefined) return known.done
  const begun = { key, done: begin() }
  inFlight.push(begun)
  try {
    return await begun.done
  } finally {
    inFlight.splice(inFlight.indexOf(begun), 1)
  }
}

let loads = 0

/**
 * Loads modules inside a call. Ranks wait meanwhile. If a hook or another thread finds a module, Node reports no active
 * resource, so without a count the ranks would seem stuck.
 */
export async function whileLoading<T>(load: () => Promise<T>): Promise<T> {
  loads++
  try {
    return await load()
  } finally {
    loads--
  }
}

/** Whether a call of this thread loads modules. */
export function isLoading(): boolean {
  return loads > 0
}
