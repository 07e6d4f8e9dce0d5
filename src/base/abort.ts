import { RankweaveError, wrongValue } from '../errors.js'

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
