import { type Communicator, isRankweaveError } from 'rankweave'
import { parseMachine } from 'rankweave/machine'
import { inNeighbors, mooreTopology, outNeighbors } from 'rankweave/topology'
import { FileNotes } from './file-notes.js'

/** Processes of the world, each with so many ranks, and each a node. */
export const processes = 4
export const ranksEach = 16

/** What a survivor has seen: code and process of the error, and the sum of 1 over the ranks that are left. */
export type LossSeen = readonly [code: string, process: number | undefined, left: number | string]

/**
 * All ranks make a reordered graph until that fails: strided ranks of a grid, so that most vertices move. A process is
 * killed some turns of its event loop after it has begun the second one. Arguments: folder for notes, which process, `graph`
 * or `neighbors`, turns.
 */
export default async function main(
  world: Communicator,
  [folder, victim, planFrom, turns]: readonly string[],
): Promise<void> {
  const notes = new FileNotes(folder)
  const first = Number(victim) * ranksEach
  const survivors = await world.split(world.rank >= first && world.rank < first + ranksEach ? null : 0)
  if (world.rank % ranksEach === 0) notes.write(`pid-${world.rank}`, String(process.pid))
  await reordered(world, planFrom as 'graph' | 'neighbors')
  try {
    await world.barrier()
    if (world.rank === first) void killAfter(Number(turns))
    for (;;) await reordered(world, planFrom as 'graph' | 'neighbors')
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    // Each has seen the loss before one of them revokes.
    await survivors!.barrier()
    const seen: LossSeen = [error.code, error.details['process'] as number | undefined, await leftIn(world)]
    notes.write(`seen-${world.rank}`, JSON.stringify(seen))
  }
}

async function reordered(world: Communicator, planFrom: 'graph' | 'neighbors'): Promise<void> {
  const grid = mooreTopology({ dims: [8, 8], radius: 1 })
  const vertex = (world.rank * 29) % 64
  const rankOf = (v: number) => (v * 53) % 64
  const graph = await world.createDistGraphAdjacent({
    ...{
      sources: inNeighbors(grid, vertex).map(rankOf),
      destinations: outNeighbors(grid, vertex).map(rankOf),
    },
    ...{ planFrom, reorder: true, machine: parseMachine(`cluster:nodes=${processes},cores=${ranksEach}`) },
  })
  await graph.free()
}

async function killAfter(turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve))
  process.kill(process.pid, 'SIGKILL')
}

/** How many ranks continue, or the code of why they cannot. */
async function leftIn(world: Communicator): Promise<number | string> {
  try {
    await world.revoke()
    const rest = await world.shrink()
    return (await rest.allreduce(Int32Array.of(1), 'sum'))[0]
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return error.code
  }
}
