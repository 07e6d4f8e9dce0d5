import type { Communicator } from '../../comm/communicator.js'

/** The processes of a world that members drive, one for each. */
export interface WorldHost {
  /**
   * Runs the world: `begin` once for each rank that a member drives; what it returns settles when that member has left.
   *
   * @returns when the world has ended @throws its error
   */
  run(begin: (world: Communicator) => Promise<void>): Promise<void>
  /** The process of a member is gone as by a crash; the others learn of it. */
  lose(worldRank: number, reason: string): void
  /** The member has left: `begin` has settled, or is about to. Calls of others that it has taken part in still complete. */
  leave(worldRank: number): void
  /** Ends the world with an error. */
  fail(reason: string): void
}
