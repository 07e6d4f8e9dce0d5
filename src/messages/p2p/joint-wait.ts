import { abortedError } from '../../base/abort.js'
import type { JointWaiter, OperationOwner, Pending, Waiter } from '../mailboxes/pending.js'
import { onAbort } from '../process/abort.js'
import { inTurn } from '../process/completion-budget.js'

/**
 * Returns the outcome of the wait, once an operation that has settled decides it.
 *
 * @param left that have not
 */
type Decide<T> = (settled: Pending<unknown>, left: number) => (() => T) | undefined

/**
 * Waits on all of `requests`, which are not all complete, at once.
 *
 * A wait costs a word per request to start and nothing to end. A loop of waits over the remaining requests thus costs
 * little more than to scan them.
 */
export function waitForSeveral<T>(
  requests: readonly { readonly pending: Pending<unknown> }[],
  signal: AbortSignal | undefined,
  name: string,
  decide: Decide<T>,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(abortedError(name, signal))
  return new Promise((resolve, reject) => {
    const wait = new JointWait(decide, signal !== undefined, resolve, reject)
    for (const { pending } of requests) if (!pending.settled) wait.add(pending)
    if (signal === undefined) return
    wait.ignoreSignal = onAbort(signal, () => {
      wait.end()
      reject(abortedError(name, signal))
    })
  })
}

class JointWait<T> implements JointWaiter {
  isOver = false
  ignoreSignal: (() => void) | undefined
  #decide: Decide<T> | undefined
  #resolve: ((value: T) => void) | undefined
  #reject: ((error: unknown) => void) | undefined
  #left = 0
  readonly #hasSignal: boolean
  readonly #blocked: OperationOwner[] = []
  #lastBlocked: OperationOwner | undefined
  /** The waiters of operations that are part of another wait, or count as waits with a separate signal. */
  readonly #attached: { readonly pending: Pending<unknown>; readonly waiter: Waiter }[] = []

  constructor(
    decide: Decide<T>,
    hasSignal: boolean,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#decide = decide
    this.#hasSignal = hasSignal
    this.#resolve = resolve
    this.#reject = reject
  }

  add(pending: Pending<unknown>): void {
    const { joint, owner } = pending
    if (joint === this) return
    this.#left++
    if (joint?.isOver === false || pending.hasSignal) {
      const waiter = { hasSignal: this.#hasSignal, settled: () => this.settled(pending) }
      pending.attach(waiter)
      this.#attached.push({ pending, waiter })
      return
    }
    pending.joint = this
    if (this.#lastBlocked === owner || this.#blocked.includes(owner)) return
    this.#lastBlocked = owner
    this.#blocked.push(owner)
    owner.block(this.#hasSignal)
  }

  settled(pending: Pending<unknown>): void {
    const outcome = this.#decide?.(pending, --this.#left)
    if (outcome === undefined) return
    const resolve = this.#resolve
    const reject = this.#reject
    this.end()
    inTurn(() => {
      try {
        resolve!(outcome())
      } catch (error) {
        reject!(error)
      }
    })
  }

  /** Ends the wait and releases everything, because operations may refer to it for longer. */
  end(): void {
    this.isOver = true
    this.ignoreSignal?.()
    for (const owner of this.#blocked) owner.unblock(this.#hasSignal)
    for (const { pending, waiter } of this.#attached) pending.detach(waiter)
    this.#blocked.length = 0
    this.#lastBlocked = undefined
    this.#attached.length = 0
    this.#decide = undefined
    this.#resolve = undefined
    this.#reject = undefined
    this.ignoreSignal = undefined
  }
}
