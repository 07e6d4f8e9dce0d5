import { isRankweaveError, RankweaveError, reasonText, wrongValue } from '../errors.js'
import { requireKnownOptions } from './known-options.js'
import { type OptionTable, signalOption } from './option.js'

/** Returns why `signal` is not a valid signal; undefined if it is. */
export function misfitSignal(signal: unknown): RankweaveError | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return undefined
  return wrongValue('ERR_ARGUMENT', 'expected an AbortSignal as signal', signal)
}

/** Returns the error of a wait or an operation that `signal` ended, or, without one, `cancel`. */
export function abortedError(what: string, signal?: AbortSignal): RankweaveError {
  if (signal === undefined) return new RankweaveError('ERR_ABORTED', `${what} was cancelled`)
  return new RankweaveError('ERR_ABORTED', `${what} was aborted`, { cause: signal.reason })
}

/** @throws ERR_ABORTED when `signal` has been aborted; ERR_ARGUMENT for an invalid signal */
export function requireNotAborted(what: string, signal: AbortSignal | undefined): void {
  const misfit = misfitSignal(signal)
  if (misfit !== undefined) throw misfit
  if (signal?.aborted) throw abortedError(what, signal)
}

/** Yields the same steps, and reads `signal` before each of them. @throws as {@link requireNotAborted} */
export function* untilAborted<T>(
  what: string,
  steps: Generator<void, T>,
  signal: AbortSignal | undefined,
): Generator<void, T> {
  for (;;) {
    requireNotAborted(what, signal)
    const step = steps.next()
    if (step.done === true) return step.value
    yield
  }
}

const subscribers = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when the signal aborts; the returned function cancels that. There is one listener per signal however many
 * waits share it, since Node warns of a leak beyond ten.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = subscribers.get(signal)
  if (callbacks === undefined) {
    const set = new Set<() => void>()
    callbacks = set
    subscribers.set(signal, set)
    signal.addEventListener(
      'abort',
      () => {
        for (const each of [...set]) each()
      },
      { once: true },
    )
  }
  const set = callbacks
  set.add(callback)
  return () => set.delete(callback)
}

export interface WaitOptions {
  /** Ends the wait with ERR_ABORTED. On a collective this also revokes the communicator (decision 10). */
  readonly signal?: AbortSignal
}

export const waitOptions: OptionTable<WaitOptions> = { signal: signalOption }

/** @throws ERR_ARGUMENT for options that the call does not have, and for an invalid signal */
export function requireWaitOptions(
  where: string,
  options: WaitOptions | undefined,
  known: OptionTable<WaitOptions> = waitOptions,
): void {
  if (options === undefined) return
  requireKnownOptions(where, options, known)
  const misfit = misfitSignal(options.signal)
  if (misfit !== undefined) throw misfit
}

/** Returns the error of a world that was ended through its signal. */
export function abortedWorld(reason: unknown): RankweaveError {
  const message = `the world was aborted: ${reasonText(reason)}`
  return new RankweaveError('ERR_ABORTED', message, { details: { aborted: 'world' }, cause: reason })
}

/** Tells whether an error is that of a world ended through its signal, here or elsewhere; its reason is the cause. */
export function isAbortedWorld(error: unknown): error is RankweaveError {
  return isRankweaveError(error, 'ERR_ABORTED') && error.details['aborted'] === 'world'
}
