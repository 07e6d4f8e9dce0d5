import { nodeFlags, nodeProcess } from '../base/node-process.js'
import { inLaterTurn } from '../base/turn.js'
import type { RankweaveError } from '../errors.js'

/**
 * When a world ends, every pending wait fails, also those whose promises the program has dropped or would
 * have awaited next. Their errors repeat the one that `run` rejects with, so they must not end the program as
 * unhandled rejections. All others have their usual effect.
 */
const tolerated = new WeakSet<RankweaveError>()

/** Worlds that have ended while some of their mains still run. */
let holds = 0

/** From now on, rejections with this very error may go unhandled while a world holds rejections. */
export function tolerateRejection(error: RankweaveError): void {
  tolerated.add(error)
}

export function holdRejections(): void {
  if (holds++ > 0) return
  if (nodeProcess === undefined) page.addEventListener?.('unhandledrejection', onPageUnhandled)
  else nodeProcess.on('unhandledRejection', onUnhandled)
}

/** Releases the hold after the rejections of this turn have been seen. */
export function releaseRejections(): void {
  inLaterTurn(release, undefined)
}

function release(): void {
  if (--holds > 0) return
  if (nodeProcess === undefined) page.removeEventListener?.('unhandledrejection', onPageUnhandled)
  else nodeProcess.off('unhandledRejection', onUnhandled)
}

/** What a page or a worker of a browser has of this; no other runtime need have it. */
interface Page {
  addEventListener?(type: string, listener: (event: PageRejection) => void): void
  removeEventListener?(type: string, listener: (event: PageRejection) => void): void
}

interface PageRejection {
  readonly reason: unknown
  preventDefault(): void
}

const page = globalThis as Page

/** A page reports what goes unhandled on its console. */
function onPageUnhandled(event: PageRejection): void {
  if (tolerated.has(event.reason as RankweaveError)) event.preventDefault()
}

function onUnhandled(reason: unknown): void {
  if (tolerated.has(reason as RankweaveError)) return
  // With a listener Node does nothing by itself: do what it would have done without this one.
  const node = nodeProcess!
  if (node.listenerCount('unhandledRejection') === 1 && throwsByDefault()) throw reason
}

function throwsByDefault(): boolean {
  const mode = nodeFlags().findLast((flag) => flag.startsWith('--unhandled-rejections='))
  return mode === undefined || mode.endsWith('=throw') || mode.endsWith('=strict')
}
