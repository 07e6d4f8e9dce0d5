import { isRankweaveError } from 'rankweave'
import type { Seen } from './fault-program.js'
import { type FaultRow, jobKilled } from './fault-rows.js'
import { onPurpose } from './strike.js'

/** How a world with a fault has ended: what its survivors saw, and what `run` rejected with. */
export interface FaultEnd {
  readonly seen: readonly Seen[]
  readonly run: string | null
}

/** @param notes what ranks have told, once the world has ended */
export async function faultEnd(world: Promise<unknown>, notes: () => readonly string[]): Promise<FaultEnd> {
  const run = await world.then(
    () => null,
    (error: unknown) => {
      if (isRankweaveError(error)) return error.code
      if (error instanceof Error && error.message === onPurpose) return 'the error of the rank'
      throw error
    },
  )
  return { seen: notes().map((note) => JSON.parse(note) as Seen), run }
}

/** What a row says of its world, in the form of what was seen. */
export function expectedEnd({ fault, code, others, shrink, run, victim }: FaultRow): FaultEnd {
  if (code === jobKilled) return { seen: [], run }
  const all = [0, 1, 2]
  const survivors = all.filter((rank) => rank !== victim)
  const isDetached = fault === 'detached array' && code !== null
  const process = code === 'ERR_PEER_LOST' || isDetached ? victim : null
  const rest = shrink === 'survivors' ? survivors : shrink === 'all' ? all : shrink
  const ranks = code === null || isDetached ? all : survivors
  return { seen: ranks.map((rank) => ({ rank, code, process, others, shrink: rest })), run }
}

/** All ends that a row permits. */
export function expectedEnds(row: FaultRow): readonly FaultEnd[] {
  const ends = [expectedEnd(row)]
  return row.maySucceed === true ? [...ends, expectedEnd({ ...row, code: null })] : ends
}

/** How a row reads as the title of a test. */
export const titleOf = ({ fault, operation, victim }: FaultRow): string =>
  `${fault} during ${operation}${victim === 0 ? ', at process 0' : ''}`
