import type { ProcessCounts } from '../../schedule/lower/program.js'

/** The traffic of completed calls of neighborhood collectives. */
export interface NeighborTraffic {
  /** The calls and starts in which this process took part, counted once for all its ranks. */
  calls: number
  /** The number of messages of the schedule that left this process in frames. */
  messagesSent: number
  /** The number of messages of the schedule between ranks of this process, which became copies. */
  messagesInProcess: number
  framesSent: number
  blocksSent: number
}

/** Adds the traffic of one run of a program. */
export function countRun(
  traffic: NeighborTraffic,
  { messagesSent, messagesInside, framesSent, blocksSent }: ProcessCounts,
): void {
  traffic.calls++
  traffic.messagesSent += messagesSent
  traffic.messagesInProcess += messagesInside
  traffic.framesSent += framesSent
  traffic.blocksSent += blocksSent
}

export function noTraffic(): NeighborTraffic {
  return { calls: 0, messagesSent: 0, messagesInProcess: 0, framesSent: 0, blocksSent: 0 }
}
