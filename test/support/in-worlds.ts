import { expect } from 'vitest'
import type { Communicator } from '../../src/comm/communicator.js'
import { local } from '../../src/fabric/local/local.js'
import { run } from '../../src/launch/run.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]
const processCounts = [1, 2, 5]

/** Every world of the declared rank and process counts. */
export async function inWorlds(main: (world: Communicator) => Promise<void> | void) {
  let worlds = 0
  for (const ranks of rankCounts) {
    for (const processes of processCounts) {
      await run(main, { ranks, fabric: local({ processes, seed: ranks * 10 + processes }) })
      worlds++
    }
  }
  expect(worlds).toBe(rankCounts.length * processCounts.length)
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
