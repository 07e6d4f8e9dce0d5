import type { Clock } from '../../base/clock.js'
import type { Communicator } from '../../comm/communicator.js'
import { completionsHeld } from '../../comm/process/waits/completion-budget.js'
import { hostSession, type RunningWorld } from '../../comm/world/world.js'
import { RankweaveError } from '../../errors.js'
import { type LocalSession, local } from '../../fabric/local/local.js'
import type { WorldHost } from './world-host.js'

/** Milliseconds between two looks whether a world is at rest. */
const restMs = 2

/** A world of members that ask only: logical processes of fabric `local`, one rank each. */
export class LocalHost implements WorldHost {
  readonly #members: number
  readonly #clock: Clock
  readonly #leaving = new Set<number>()
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
        // Members think as long as they like: that none of them calls is no deadlock.
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

  lose(worldRank: number, reason: string): void {
    this.#session?.kill(worldRank, reason)
  }

  /**
   * The process goes once the world is at rest: no frame is in flight, so every call whose ranks have all made it is complete,
   * and one that is not would wait for this member for ever.
   */
  leave(worldRank: number): void {
    this.#leaving.add(worldRank)
    this.#look()
  }

  fail(reason: string): void {
    this.#world?.fail(new RankweaveError('ERR_WORLD_ENDED', reason))
  }

  #look(): void {
    this.#cancel ??= this.#clock.later(restMs, () => {
      this.#cancel = undefined
      if (this.#isOver || this.#leaving.size === 0) return
      const session = this.#session!
      if (!session.quiet() || completionsHeld()) return this.#look()
      for (const process of this.#leaving) session.kill(process, 'it has left the world')
      this.#leaving.clear()
    })
  }
}
