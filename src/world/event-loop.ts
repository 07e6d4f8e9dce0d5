import { nodeProcess } from '../base/node-process.js'
import { ownHandles } from '../fabric/own-handles.js'

/**
 * Whether anything that may wake a rank was started since: certainly (`some`), or `perhaps` if active handles could
 * also have been there before.
 */
export type LoopActivity = 'none' | 'perhaps' | 'some'

/**
 * Detects what keeps the event loop alive besides this library. Node names active timers, sockets and requests by type
 * only. The watch therefore counts each type when a world starts, and anything beyond was started since.
 *
 * Sockets and pipes last. A timer or a request that was there at first may have ended and been replaced, so doubt
 * remains while there is any. Node names no work on its thread pool other than requests of the file system or the
 * resolver; it leaves out compression and cryptography. A browser names nothing at all, so something may always be
 * active there.
 */
export class EventLoopWatch {
  /** The most that may remain of what was there at first, by type. */
  readonly #known: Map<string, number>

  constructor() {
    // Node opens these on first use, after which they stay active.
    void nodeProcess?.stdout
    void nodeProcess?.stderr
    this.#known = activeByType()
  }

  activity(): LoopActivity {
    if (nodeProcess === undefined) return 'some'
    const active = activeByType()
    for (const [type, count] of this.#known) {
      const now = active.get(type) ?? 0
      if (now < count) this.#known.set(type, now)
    }
    let doubt = false
    for (const [type, count] of active) {
      if (count > (this.#known.get(type) ?? 0)) return 'some'
      if (passing(type)) doubt = true
    }
    return doubt ? 'perhaps' : 'none'
  }
}

/** Tells whether a type is transient: timers, immediates and requests (FSReqCallback, WriteWrap, ...). Handles last. */
function passing(type: string): boolean {
  return type === 'Timeout' || type === 'Immediate' || type.includes('Req') || type === 'WriteWrap'
}

function activeByType(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of nodeProcess?.getActiveResourcesInfo() ?? [])
    counts.set(type, (counts.get(type) ?? 0) + 1)
  const { timers, immediates } = ownHandles()
  leaveOut(counts, 'Timeout', timers)
  leaveOut(counts, 'Immediate', immediates)
  return counts
}

function leaveOut(counts: Map<string, number>, type: string, count: number): void {
  const left = (counts.get(type) ?? 0) - count
  if (left > 0) counts.set(type, left)
  else counts.delete(type)
}
