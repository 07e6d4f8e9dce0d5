import { RankweaveError, shown } from '../errors.js'
import type { CommHandle } from './handle.js'
import { type Group, requireList } from './table/group.js'

export async function groupOf(comm: CommHandle): Promise<Group> {
  const { state } = comm.seat()
  await state.place()
  return state.group
}

export async function worldRanks(comm: CommHandle, ranks: ArrayLike<number>): Promise<Int32Array> {
  const { table } = comm.seat().state
  const found = Array.from(requireList(ranks, 'worldRanks'), (rank) => {
    if (Number.isInteger(rank) && rank >= 0 && rank < table.size) return table.lookup(rank)
    const message = `worldRanks: expected ranks from 0 to ${table.size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', message)
  })
  // Most tables answer at once: a promise is made only when a look-up is remote.
  const isHere = (each: number | Promise<number>) => typeof each === 'number'
  return Int32Array.from(found.every(isHere) ? (found as number[]) : await Promise.all(found))
}
