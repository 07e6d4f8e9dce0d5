import { ownHandles } from '../../fabric/own-handles.js'

/**
 * Whether anything was started since that may wake a rank up: for certain, or `perhaps`, when what is active could
 * also be what was there before.
 */
export type Activity = 'none' | 'perhaps' | 'some'

/**
 * What keeps the event loop alive besides ourselves. Node names active timers, sockets and requests by type only, so
 * what was there when a world started is a count per type, and anything beyond it was started since.
 *
 * Sockets and pipes stay; but a timer or a request that was there at first may be over and another in its place, so
 * as long as there is any, there is doubt. Node does not name work on its thread pool that is no request of the file
 * system or the resolver (compression, cryptography).
 */
export class EventLoopWatch {
  /** The most that may be left of what was there at first. */
  readonly #known: Map<string, number>

  constructor() {
    // Node opens these on first use, after which they count as active for good.
    void process.stdout
    void process.stderr
    this.#known = activeByType()
  }

  look(): Activity {
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

/** Timers, immediates and requests (FSReqCallback, WriteWrap, ...) come and go; handles last. */
function passing(type: string): boolean {
  return type === 'Timeout' || type === 'Immediate' || type.includes('Req') || type === 'WriteWrap'
}

function activeByType(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
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
