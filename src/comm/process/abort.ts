import { RankweaveError, shown } from '../../errors.js'

const subscribers = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when the signal aborts; the result ends that. One listener per signal however many waits share it,
 * since Node warns about a leak beyond ten.
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

/** What is wrong with `signal` as a signal, if anything. */
export function misfitSignal(signal: unknown): RankweaveError | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return undefined
  return new RankweaveError('ERR_ARGUMENT', `signal must be an AbortSignal, got ${shown(signal)}`)
}

/** The error of a wait or an operation that `signal` ended, or, without one, `cancel`. */
export function abortedError(what: string, signal?: AbortSignal): RankweaveError {
  if (signal === undefined) return new RankweaveError('ERR_ABORTED', `${what} was cancelled`)
  return new RankweaveError('ERR_ABORTED', `${what} was aborted`, { cause: signal.reason })
}
