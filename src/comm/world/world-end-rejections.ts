import { setImmediate as later } from 'node:timers'
import type { RankweaveError } from '../../errors.js'

/**
 * When a world ends, every pending wait fails, also those whose promises the program has dropped or would have
 * awaited next. Their errors repeat what `run` rejects with, so they must not end the program as unhandled
 * rejections. All others are left to do what they would have done.
 */
const tolerated = new WeakSet<RankweaveError>()

/** Worlds that have ended while some of their mains still run. */
let holders = 0

/** From now on, rejections by this very error may go unhandled while somebody holds {@link holdStrays}. */
export function tolerateRejection(error: RankweaveError): void {
  tolerated.add(error)
}

export function holdRejections(): void {
  if (holders++ === 0) process.on('unhandledRejection', onUnhandled)
}

/** Lets go after the rejections of this turn have been seen. */
export function releaseRejections(): void {
  later(() => {
    if (--holders === 0) process.off('unhandledRejection', onUnhandled)
  }).unref()
}

function onUnhandled(reason: unknown): void {
  if (tolerated.has(reason as RankweaveError)) return
  // With a listener Node does nothing by itself: do what it would have done if we were not here.
  if (process.listenerCount('unhandledRejection') === 1 && throwsByDefault()) throw reason
}

function throwsByDefault(): boolean {
  const flags = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  const mode = flags.findLast((flag) => flag.startsWith('--unhandled-rejections='))
  return mode === undefined || mode.endsWith('=throw') || mode.endsWith('=strict')
}
