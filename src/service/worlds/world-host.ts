import type { Communicator } from '../../comm/communicator.js'
import type { WaitingMessages } from './waiting-messages.js'

/** The processes of a world that members drive, one for each. */
export interface WorldHost {
  /** The processes of the same world that run programs, and the token with which they join; null: it has none. */
  readonly programs: { readonly count: number; readonly token: string } | null
  /**
   * Runs the world: `begin` once for each rank that a member drives, ranks 0 to n - 1, all in one turn; its promise
   * settles when that member has left. Called again only after `abandon`.
   *
   * @param lost reports the loss of a process that runs a program, by its world rank
   * @returns when the world has ended @throws its error
   */
  run(
    begin: (world: Communicator) => Promise<void>,
    lost: (worldRank: number, reason: string) => void,
  ): Promise<void>
  /**
   * Abandons the start because a member is gone before `begin`: `run` fails, and calls nothing. False when it is too
   * late.
   */
  abandon(): boolean
  /** Ends the process of a member as by a crash; the others learn of it. */
  lose(worldRank: number, reason: string): void
  /**
   * Lets the process of a member go that has left: `begin` has settled, or is about to.
   *
   * @param isIdle whether the calls that it had in flight have settled
   */
  leave(worldRank: number, isIdle: () => boolean): void
  /** Returns the messages that programs have sent to members. */
  waiting(): WaitingMessages
  /** Ends the world, or the wait for programs, with an error. */
  fail(reason: string): void
}
