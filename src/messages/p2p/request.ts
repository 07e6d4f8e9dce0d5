import { abortedError, onAbort, requireWaitOptions, type WaitOptions } from '../../base/abort.js'
import { laterTurn, promiseTry } from '../../base/turn.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import type { JointWaiter, OperationOwner, Pending, Waiter } from '../mailboxes/pending-operation.js'
import { inTurn, resolvedInTurn } from '../process/progress.js'

/** The result of `test`. */
export type Tested<T> = { readonly done: false } | { readonly done: true; readonly value: T }

/**
 * An operation that was started and completes by itself. Wait for it or test it, as often as you like. It is not a
 * promise, so that async functions can return it. Thus an error that no wait collects is not an unhandled rejection,
 * either.
 *
 * @see MPI-4.1 §3.7
 */
export class Request<T> {
  /** @internal */
  readonly pending: Pending<T>

  /** Makes a request. Programs get requests from `isend`, `irecv` and the like. */
  constructor(pending: Pending<T>) {
    this.pending = pending
  }

  /**
   * Resolves to the operation's value when it has completed.
   *
   * @param options `signal` ends this wait only; the operation continues, and can be waited for again or cancelled
   * @throws ERR_ABORTED through `signal`, or when the operation was cancelled; otherwise the operation's own error
   * @see MPI-4.1 §3.7.3 (MPI_Wait)
   */
  wait(options?: WaitOptions): Promise<T> {
    if (options === undefined) {
      const { pending } = this
      if (!pending.settled && pending.settlesInFrame) pending.owner.pollFor(pending)
      return pending.wait()
    }
    return promiseTry(() => {
      requireWaitOptions('wait', options)
      return this.pending.wait(options.signal)
    })
  }

  /**
   * Tests whether the operation has completed. Polling it in a loop lets timers and I/O run.
   *
   * @throws the operation's error, once it has failed
   * @see MPI-4.1 §3.7.3 (MPI_Test)
   */
  async test(): Promise<Tested<T>> {
    await progress([this], allSettled)
    if (!this.pending.settled) return { done: false }
    return { done: true, value: this.pending.result }
  }

  /**
   * Requests the operation back. `wait` reports whether that was in time: ERR_ABORTED if it was; otherwise the
   * operation completes as if nothing had been requested. Data that was buffered for its receiver is not taken back.
   *
   * @throws ERR_REQUEST for a collective, which no rank can take back alone
   * @see MPI-4.1 §3.8.4 (MPI_Cancel)
   */
  cancel(): void {
    this.pending.cancel()
  }
}

type Values<R extends readonly Request<unknown>[]> = {
  -readonly [K in keyof R]: R[K] extends Request<infer T> ? T : never
}

/** A completed request, by its index among several, and its value. */
export interface Completed<R extends readonly Request<unknown>[]> {
  readonly index: number
  readonly value: Values<R>[number]
}

/**
 * Resolves when all have completed, to their values in order. Rejects as soon as one has failed; the others continue.
 *
 * @see MPI-4.1 §3.7.5 (MPI_Waitall)
 */
export function waitall<const R extends readonly Request<unknown>[]>(
  requests: R,
  options?: WaitOptions,
): Promise<Values<R>> {
  const misfit = misfitWait('waitall', requests, options)
  if (misfit !== undefined) return Promise.reject(misfit)
  const values = () => requests.map(({ pending }) => pending.result) as Values<R>
  let open = countOpen(requests)
  if (open > 0 && options?.signal === undefined) {
    new InOrder(requests).poll()
    open = countOpen(requests)
  }
  if (open <= 0) return settledInTurn(values)
  return waitForSeveral(requests, options?.signal, 'waitall', (settled, left) =>
    left === 0 || settled.failure !== undefined ? values : undefined,
  )
}

/** Counts the requests that have not completed; -1 when one has failed. */
function countOpen(requests: readonly Request<unknown>[]): number {
  let open = 0
  for (const { pending } of requests) {
    if (!pending.settled) open++
    else if (pending.failure !== undefined) return -1
  }
  return open
}

/** Polls several requests in order: each until it has completed, then the next one. */
class InOrder {
  readonly #requests: readonly Request<unknown>[]
  /** The index before which all have completed. */
  #at = 0

  constructor(requests: readonly Request<unknown>[]) {
    this.#requests = requests
  }

  get settled(): boolean {
    const requests = this.#requests
    while (this.#at < requests.length && requests[this.#at].pending.settled) this.#at++
    return this.#at === requests.length
  }

  poll(): void {
    if (this.settled) return
    const { pending } = this.#requests[this.#at]
    if (pending.settlesInFrame) pending.owner.pollFor(this)
  }
}

/**
 * Resolves when one has completed, to its index (the lowest, if several have) and value. A call takes time in
 * proportion to the number of requests.
 *
 * @throws ERR_REQUEST for an empty list; the error of the request that completed, if it failed
 * @see MPI-4.1 §3.7.5 (MPI_Waitany)
 */
export function waitany<const R extends readonly Request<unknown>[]>(
  requests: R,
  options?: WaitOptions,
): Promise<Completed<R>> {
  const misfit = misfitWait('waitany', requests, options) ?? emptyList('waitany', requests)
  if (misfit !== undefined) return Promise.reject(misfit)
  const ready = firstSettled(requests)
  if (ready >= 0) return settledInTurn(() => completed(requests, ready))
  return waitForSeveral(requests, options?.signal, 'waitany', (settled) => {
    const index = requests.findIndex(({ pending }) => pending === settled)
    return () => completed(requests, index)
  })
}

/**
 * Resolves when at least one has completed, to all that have.
 *
 * @throws ERR_REQUEST for an empty list; the error of the first that failed
 * @see MPI-4.1 §3.7.5 (MPI_Waitsome)
 */
export async function waitsome<const R extends readonly Request<unknown>[]>(
  requests: R,
  options?: WaitOptions,
): Promise<Completed<R>[]> {
  await waitany(requests, options)
  const done: Completed<R>[] = []
  for (let i = 0; i < requests.length; i++) if (requests[i].pending.settled) done.push(completed(requests, i))
  return done
}

/**
 * Tests whether all have completed.
 *
 * @throws the error of the first that failed
 * @see MPI-4.1 §3.7.5 (MPI_Testall)
 */
export async function testall<const R extends readonly Request<unknown>[]>(
  requests: R,
): Promise<{ readonly done: false } | { readonly done: true; readonly values: Values<R> }> {
  requireRequests('testall', requests)
  await progress(requests, allSettled)
  const values: unknown[] = []
  for (const { pending } of requests) {
    if (!pending.settled) return { done: false }
    values.push(pending.result)
  }
  return { done: true, values: values as Values<R> }
}

/**
 * Tests whether one has completed. For an empty list the test is done at once, with index -1 and no value, so that a
 * loop until it is done ends.
 *
 * @throws its error, if it failed
 * @see MPI-4.1 §3.7.5 (MPI_Testany)
 */
export async function testany<const R extends readonly Request<unknown>[]>(
  requests: R,
): Promise<{ readonly done: false } | ({ readonly done: true } & Completed<R>)> {
  requireRequests('testany', requests)
  if (requests.length === 0) return { done: true, index: -1, value: undefined as Values<R>[number] }
  await progress(requests, firstSettled)
  const index = firstSettled(requests)
  return index < 0 ? { done: false } : { done: true, ...completed(requests, index) }
}

/**
 * Delivers frames; if the requests are still incomplete, lets timers and I/O run before the caller tests them again.
 *
 * @param found the index that completes the test, negative as long as there is none
 */
function progress(
  requests: readonly Request<unknown>[],
  found: (requests: readonly Request<unknown>[]) => number,
): Promise<void> {
  if (found(requests) >= 0) return resolvedInTurn(undefined)
  requests[firstPending(requests)]?.pending.owner.poll()
  return found(requests) >= 0 ? resolvedInTurn(undefined) : laterTurn()
}

/** Returns the index of the first request that has completed, -1 when none has. */
function firstSettled(requests: readonly Request<unknown>[]): number {
  for (let i = 0; i < requests.length; i++) if (requests[i].pending.settled) return i
  return -1
}

/** Returns the index of the first request that has not completed, -1 when all have. */
function firstPending(requests: readonly Request<unknown>[]): number {
  for (let i = 0; i < requests.length; i++) if (!requests[i].pending.settled) return i
  return -1
}

/** Returns 0 when all have completed, otherwise -1. */
const allSettled = (requests: readonly Request<unknown>[]) => (firstPending(requests) < 0 ? 0 : -1)

function completed<R extends readonly Request<unknown>[]>(requests: R, index: number): Completed<R> {
  return { index, value: requests[index].pending.result as Values<R>[number] }
}

function settledInTurn<T>(value: () => T): Promise<T> {
  try {
    return resolvedInTurn(value())
  } catch (error) {
    return new Promise((_, reject) => inTurn(() => reject(error)))
  }
}

function emptyList(name: string, requests: readonly unknown[]): RankweaveError | undefined {
  if (requests.length > 0) return undefined
  return new RankweaveError('ERR_REQUEST', `${name}: expected at least one request, got none`)
}

/** Returns why the arguments of a wait for several requests are not valid, if they are not. */
function misfitWait(
  name: string,
  requests: unknown,
  options: WaitOptions | undefined,
): RankweaveError | undefined {
  try {
    if (options !== undefined) requireWaitOptions(name, options)
  } catch (error) {
    return error as RankweaveError
  }
  return misfitRequests(name, requests)
}

function requireRequests(name: string, requests: unknown): void {
  const misfit = misfitRequests(name, requests)
  if (misfit !== undefined) throw misfit
}

function misfitRequests(name: string, requests: unknown): RankweaveError | undefined {
  if (!Array.isArray(requests))
    return wrongValue('ERR_ARGUMENT', `${name}: expected an array of requests`, requests)
  let bad = 0
  while (bad < requests.length && requests[bad] instanceof Request) bad++
  if (bad === requests.length) return undefined
  const got = shown(requests[bad])
  return new RankweaveError('ERR_ARGUMENT', `${name}: expected a request at index ${bad}, got ${got}`)
}

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
function waitForSeveral<T>(
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
