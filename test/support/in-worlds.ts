import { expect } from 'vitest'
import { local } from '../../src/fabric/local/local.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { run } from '../../src/launch/run.js'

/** Worlds of the declared numbers of ranks, on one, two and five processes, some of which have no rank. */
const worlds = [
  { ranks: 1, processes: 1 },
  { ranks: 1, processes: 5 },
  { ranks: 2, processes: 2 },
  { ranks: 3, processes: 1 },
  { ranks: 3, processes: 5 },
  { ranks: 4, processes: 2 },
  { ranks: 7, processes: 5 },
  { ranks: 8, processes: 1 },
  { ranks: 8, processes: 2 },
  { ranks: 16, processes: 5 },
]

/** Runs `main` in worlds of many sizes. */
export async function inWorlds(main: (world: Communicator) => Promise<void> | void) {
  for (const { ranks, processes } of worlds)
    await run(main, { ranks, fabric: local({ processes, seed: ranks * 10 + processes }) })
}

/** World ranks of a communicator, in its order. */
export const membersOf = async (comm: Communicator) => [...(await (await comm.group()).worldRanks())]

/** Contexts this rank's process keeps. */
export const contextsOf = (comm: Communicator) => [...comm.seat().state.runtime.contexts].length

/** Every rank sends its identity to every rank, itself included: only members may receive it. */
export async function talk(comm: Communicator, mark: number) {
  const sends = Array.from({ length: comm.size }, (_, dest) =>
    comm.isend(Int32Array.of(mark, comm.rank, dest), dest, 3),
  )
  for (let source = 0; source < comm.size; source++) {
    const { data } = await comm.recv<Int32Array>(source, 3)
    expect([...data]).toEqual([mark, source, comm.rank])
  }
  for (const send of sends) await send.wait()
}
