import type { Communicator } from '../../comm/communicator.js'

/**
 * The same at all ranks of a communicator, and unique in its world: its leader's world rank, and that
 * process's counter.
 */
export function communicatorName(communicator: Communicator): string {
  const { leader, counter } = communicator.seatToFree().state.id
  return `${leader}.${counter}`
}
