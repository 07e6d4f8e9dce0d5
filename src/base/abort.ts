import { RankweaveError, wrongValue } from '../errors.js'

/** Why `signal` is not a valid signal, if it is not. */
export function misfitSignal(signal: unknown): RankweaveError | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return undefined
  return wrongValue('ERR_ARGUMENT', 'expected an AbortSignal as signal', signal)
}

/** The error of a wait or an operation that `signal` ended, or, without one, `cancel`. */
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

/** The same steps; looks at `signal` before each of them. @throws as {@link requireNotAborted} */
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
