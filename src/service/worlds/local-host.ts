import type { Clock } from '../../base/clock.js'
import { RankweaveError } from '../../errors.js'
import { type LocalSession, local } from '../../fabric/local/local.js'
import type { Communicator } from '../../handles/communicator.js'
import { completionsHeld } from '../../messages/process/progress.js'
import { hostSession, type RunningWorld } from '../../world/world.js'
import { nothingWaits, type WaitingMessages, type WorldHost } from './world-host.js'

/** The milliseconds between two checks whether a member that leaves may go. */
const lookMs = 2
/** The number of checks after which it goes, whatever is in flight: a second. */
const mostLooks = 500

interface Leaving {
  readonly isIdle: () => boolean
  looks: number
}

/** A world of members that ask only: logical processes of fabric `local`, one rank each. */
export class LocalHost implements WorldHost {
  readonly programs = null
  readonly #members: number
  readonly #clock: Clock
  readonly #leaving = new Map<number, Leaving>()
  #session: LocalSession | undefined
  #world: RunningWorld | undefined
  #cancel: (() => void) | undefined
  #isOver = false

  constructor(members: number, clock: Clock) {
    this.#members = members
    this.#clock = clock
  }

  async run(begin: (world: Communicator) => Promise<void>): Promise<void> {
    const session = await local({ processes: this.#members }).open()
    this.#session = session
    try {
      await hostSession<void, undefined>(session, begin, {
        ranks: this.#members,
        // Members may think without end: if none of them calls, that is not a deadlock.
        detectDeadlock: false,
        onStart: (world) => {
          this.#world = world
        },
      })
    } finally {
      this.#isOver = true
      this.#cancel?.()
    }
  }

  /** Returns false, because its processes exist at once. */
  abandon(): boolean {
    return false
  }

  lose(worldRank: number, reason: string): void {
    this.#session?.kill(worldRank, reason)
  }

  /**
   * Lets the process of a member go when it has made its part of every call that it could. That holds in three cases:
   * its own calls have settled and its messages have arrived; or the world is at rest, so that a call which is not
   * complete would wait for this member without end; or a second has passed, so that others that never rest cannot
   * delay it without bound.
   */
  leave(worldRank: number, isIdle: () => boolean): void {
    this.#leaving.set(worldRank, { isIdle, looks: 0 })
    this.#look()
  }

  waiting(): WaitingMessages {
    return nothingWaits
  }

  fail(reason: string): void {
    this.#world?.fail(new RankweaveError('ERR_WORLD_ENDED', reason))
  }

  #look(): void {
    this.#cancel ??= this.#clock.later(lookMs, () => {
      this.#cancel = undefined
      if (this.#isOver) return
      const session = this.#session!
      const isHeld = completionsHeld()
      const isAtRest = !isHeld && session.quiet()
      for (const [process, leaving] of this.#leaving) {
        const hasDone = !isHeld && leaving.isIdle() && !session.isSending(process)
        if (!isAtRest && !hasDone && ++leaving.looks < mostLooks) continue
        this.#leaving.delete(process)
        session.kill(process, 'it has left the world')
      }
      if (this.#leaving.size > 0) this.#look()
    })
  }
}
