import type { CommRuntime } from '../../comm/comm-state.js'

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
