import { misfitSignal } from '../../base/abort.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, signalOption } from '../../base/option.js'

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
