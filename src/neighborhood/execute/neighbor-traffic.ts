/** What neighborhood collectives sent, counted where it is sent. */
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
