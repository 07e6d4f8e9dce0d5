import type { CommState } from '../comm/comm-state.js'
import { Receive } from '../messages/mailboxes/pending-operation.js'
import { communicatorText, rankText } from '../messages/process/comm-context.js'

/** The most ranks with queued messages that one communicator reports, and the most messages of each that are named. */
const [mostRanks, mostMessages] = [8, 4]

/** The messages that have arrived for a rank that waits in a receive or a probe, and that no receive of it takes. */
export interface QueuedMessages {
  readonly communicator: string
  readonly rank: number
  readonly worldRank: number
  readonly count: number
  readonly first: readonly (readonly [source: number, tag: number])[]
}

/** Returns the queued messages of the ranks of this process, in rank order. */
export function queuedMessages(state: CommState): QueuedMessages[] {
  const matching = state.openedMatching
  if (matching === undefined) return []
  const waiting = new Map<number, number>()
  for (const operation of matching.awaited()) {
    if (operation instanceof Receive) waiting.set(operation.owner.rank, operation.owner.worldRank)
  }
  const queued: QueuedMessages[] = []
  for (const [rank, worldRank] of [...waiting].sort(([a], [b]) => a - b)) {
    const { arrived } = matching.mailbox(rank)
    if (arrived.size === 0) continue
    const first: [number, number][] = []
    for (const { source, tag } of arrived) if (first.push([source, tag]) === mostMessages) break
    queued.push({ communicator: communicatorText(state), rank, worldRank, count: arrived.size, first })
    if (queued.length === mostRanks) break
  }
  return queued
}

export function queuedLines(queued: readonly QueuedMessages[]): string[] {
  return queued.map(({ communicator, rank, worldRank, count, first }) => {
    const named = first.map(([source, tag]) => `source ${source}, tag ${tag}`).join('; ')
    const more = count > first.length ? `; and ${count - first.length} more` : ''
    const what =
      count === 1
        ? 'a message that its receive does not take'
        : `${count} messages that its receives do not take`
    return `${rankText(rank, worldRank)} has ${what} on ${communicator}: ${named}${more}`
  })
}
