import { RankweaveError, shown } from '../errors.js'
import { processOf } from '../messages/process/world-layout.js'
import type { CommSeat } from './comm-state.js'
import type { FreeableHandle } from './free.js'
import { noAuthorityError } from './survive/survivor-errors.js'
import type { TableContext } from './table/process-table.js'

// These functions implement the methods for survivors, which are documented at `Communicator`.

/** Returns a seat on this communicator, whatever its state. */
export function survivorSeat(comm: FreeableHandle, name: string): CommSeat {
  const seat = comm.seatToFree()
  const { ended, fabric } = seat.state.runtime
  if (ended !== undefined) throw ended
  if (fabric.authority === undefined) throw noAuthorityError(name, fabric)
  return seat
}

/** Returns the ranks of a communicator whose processes are known as lost here, ascending. */
export async function lostRanks(state: TableContext): Promise<Int32Array> {
  if (state.losses.processes.length === 0) return new Int32Array(0)
  const table = await state.place()
  const lost = new Set(state.losses.processes)
  const ranks: number[] = []
  for (let rank = 0; rank < table.size; rank = state.processes.endOfRun(rank)) {
    if (!lost.has(processOf(state.runtime.layout, table.lookup(rank)))) continue
    const end = state.processes.endOfRun(rank)
    for (let each = rank; each < end; each++) ranks.push(each)
  }
  return Int32Array.from(ranks)
}

export function acknowledgeLosses({ state, localIndex }: CommSeat): number {
  const { losses, runtime } = state
  for (const process of losses.processes) {
    runtime.acknowledgements.acknowledge(process, state.hostedIndex(localIndex))
  }
  return losses.acknowledge(localIndex)
}

export function agree(comm: FreeableHandle, flag: number): Promise<number> {
  if (!Number.isInteger(flag) || flag !== (flag | 0)) {
    const message = `agree: expected flag as an integer of 32 bits, got ${shown(flag)}`
    throw new RankweaveError('ERR_ARGUMENT', message)
  }
  const { state, localIndex } = survivorSeat(comm, 'agree')
  return state.survival.agree(localIndex, flag)
}
