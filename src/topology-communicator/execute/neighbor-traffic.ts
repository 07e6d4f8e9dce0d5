import type { ProcessCounts } from '../../schedule/lower/program.js'

/** What the calls of neighborhood collectives that have completed sent. */
export interface NeighborTraffic {
  /** Calls and starts that this process took part in, once for all its ranks. */
  calls: number
  /** Messages of the schedule that left this process in frames. */
  messagesSent: number
  /** Messages of the schedule between ranks of this process, which became copies. */
  messagesInProcess: number
  framesSent: number
  blocksSent: number
}

/** Adds what one run of a program sent. */
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

/** Before anything was sent. */
export function noTraffic(): NeighborTraffic {
  return { calls: 0, messagesSent: 0, messagesInProcess: 0, framesSent: 0, blocksSent: 0 }
}
