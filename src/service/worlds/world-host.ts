import type { CommRuntime } from '../../comm/comm-state.js'
import type { Communicator } from '../../handles/communicator.js'

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

/** The messages of programs that wait for members, which receive none. */
export interface WaitingMessages {
  readonly messages: number
  /** The bytes of their data that are in the service. */
  readonly bytes: number
  /** The most messages that have waited for one member on one communicator. */
  readonly longest: number
}

export const nothingWaits: WaitingMessages = { messages: 0, bytes: 0, longest: 0 }

/** Adds up the messages of several members or worlds. */
export function summedWaiting(all: Iterable<WaitingMessages>): WaitingMessages {
  let { messages, bytes, longest } = nothingWaits
  for (const each of all) {
    messages += each.messages
    bytes += each.bytes
    longest = Math.max(longest, each.longest)
  }
  return { messages, bytes, longest }
}

/** Counts the messages in one process, whose world counts matching. O(messages that wait) */
export function waitingIn({ contexts }: CommRuntime): WaitingMessages {
  let { messages, bytes, longest } = nothingWaits
  for (const { openedMatching } of contexts)
    for (const { arrived, meter } of openedMatching?.mailboxes ?? []) {
      messages += arrived.size
      longest = Math.max(longest, meter?.unexpected.statistics.longest ?? arrived.size)
      // The data of other messages are with their senders.
      for (const { content, sizeBytes } of arrived)
        if (content.kind === 'held' || content.kind === 'filling') bytes += sizeBytes
    }
  return { messages, bytes, longest }
}
