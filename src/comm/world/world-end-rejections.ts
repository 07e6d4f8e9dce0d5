import { setImmediate as later } from 'node:timers'
import type { RankweaveError } from '../../errors.js'

/**
 * When a world ends, every pending wait fails, also those whose promises the program has dropped or would have
 * awaited next. Their errors repeat the one that `run` rejects with, so they must not end the program as unhandled
 * rejections. All others have their usual effect.
 */
const tolerated = new WeakSet<RankweaveError>()

/** Worlds that have ended while some of their mains still run. */
let holds = 0

/** From now on, rejections with this very error may go unhandled while a world holds rejections. */
export function tolerateRejection(error: RankweaveError): void {
  tolerated.add(error)
}

export function holdRejections(): void {
  if (holds++ === 0) process.on('unhandledRejection', onUnhandled)
}

/** Releases the hold after the rejections of this turn have been seen. */
export function releaseRejections(): void {
  later(() => {
    if (--holds === 0) process.off('unhandledRejection', onUnhandled)
  }).unref()
}

function onUnhandled(reason: unknown): void {
  if (tolerated.has(reason as RankweaveError)) return
  // With a listener Node does nothing by itself: do what it would have done without this one.
  if (process.listenerCount('unhandledRejection') === 1 && throwsByDefault()) throw reason
}

function throwsByDefault(): boolean {
  const flags = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  const mode = flags.findLast((flag) => flag.startsWith('--unhandled-rejections='))
  return mode === undefined || mode.endsWith('=throw') || mode.endsWith('=strict')
}
