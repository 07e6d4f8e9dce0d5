import { nodeFlags, nodeProcess } from '../base/node-process.js'
import { inLaterTurn } from '../base/turn.js'
import type { RankweaveError } from '../errors.js'

/**
 * The errors that may go unhandled. When a world ends, every pending wait fails, also those whose promises the program
 * has dropped or would have awaited next. Their errors repeat the one that `run` rejects with, so they must not end the
 * program as unhandled rejections. All other rejections have their usual effect.
 */
const tolerated = new WeakSet<RankweaveError>()

/** The worlds that have ended while some of their mains still run. */
let holds = 0

/** Lets rejections with this very error go unhandled while a world holds rejections. */
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

/** The parts of a browser's page or worker that are used here; other runtimes need not have them. */
interface Page {
  addEventListener?(type: string, listener: (event: PageRejection) => void): void
  removeEventListener?(type: string, listener: (event: PageRejection) => void): void
}

interface PageRejection {
  readonly reason: unknown
  preventDefault(): void
}

const page = globalThis as Page

/** Keeps a tolerated rejection off the page's console. */
function onPageUnhandled(event: PageRejection): void {
  if (tolerated.has(event.reason as RankweaveError)) event.preventDefault()
}

function onUnhandled(reason: unknown): void {
  if (tolerated.has(reason as RankweaveError)) return
  // Node does nothing by itself if there is a listener, so this one does what Node would have done.
  const node = nodeProcess!
  if (node.listenerCount('unhandledRejection') === 1 && throwsByDefault()) throw reason
}

function throwsByDefault(): boolean {
  const mode = nodeFlags().findLast((flag) => flag.startsWith('--unhandled-rejections='))
  return mode === undefined || mode.endsWith('=throw') || mode.endsWith('=strict')
}
