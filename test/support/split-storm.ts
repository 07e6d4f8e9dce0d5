import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seededRandom } from '../../src/base/random.js'
import { type SplitOptions, splitAlgorithms } from '../../src/comm/split/split-plan.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { expectedGroups } from './split-cases.js'

export interface Storm {
  readonly cycles: number
  readonly seed: number
  /** Whether to measure the heap. */
  readonly weigh?: boolean
}

/** What is left in a process after a storm: communicators besides the world, distributed tables. */
export interface Calm {
  readonly contexts: number
  readonly tables: number
  /**
   * By which the heap of this thread has grown since a fifth of the cycles were done; 0 if it was not
   * weighed.
   */
  readonly grownBytes: number
}

/**
 * Splits, copies, splits again and frees, with random colors and every algorithm; look-ups must be right
 * throughout, also while members that freed first are gone. Every rank draws the same numbers.
 */
export default async function storm(world: Communicator, { cycles, seed, weigh }: Storm): Promise<Calm> {
  const draw = seededRandom(seed)
  const { size } = world
  let early = 0
  for (let cycle = 0; cycle < cycles; cycle++) {
    if (weigh === true && cycle === Math.floor(cycles / 5)) early = await bytesInUse(world)
    const colors = 1 + Math.floor(draw() * 4)
    const color = Int32Array.from({ length: size }, () => Math.floor(draw() * (colors + 1)) - 1)
    const key = Int32Array.from({ length: size }, () => Math.floor(draw() * 5))
    const algorithm = splitAlgorithms[Math.floor(draw() * splitAlgorithms.length)]
    const usesSorters = algorithm !== 'conventional' && algorithm !== 'merging'
    const options: SplitOptions = {
      algorithm,
      ...(usesSorters ? { table: draw() < 0.7 ? 'distributed' : 'replicated' } : {}),
      selfHostRows: draw() < 0.7 ? 0 : 8,
    }
    const mine = color[world.rank]
    const part = await world.split(mine < 0 ? null : mine, key[world.rank], options)
    const probe = Math.floor(draw() * size)
    if (part === null) continue
    const members = expectedGroups({ color, key }).find((group) => group.includes(world.rank))!
    const copy = await part.dup()
    const nested = await copy.split(part.rank % 2, -part.rank, options)
    await part.free()
    await right(copy, members, probe)
    const half = members.filter((_, rank) => rank % 2 === part.rank % 2).reverse()
    // One half frees the copy before the other half asks the table that both came from.
    if (part.rank % 2 === 0) await right(nested, half, probe)
    const freed = copy.free()
    await right(nested, half, probe + 1)
    await nested.free()
    await freed
  }
  // Frames of a pair of processes keep their order: after the first exchange of all with all every home has
  // heard that its tables are no longer used, after the second every host has.
  await world.alltoall(new Int32Array(size))
  await world.alltoall(new Int32Array(size))
  const { runtime } = world.seat().state
  const grownBytes = weigh === true ? (await bytesInUse(world)) - early : 0
  return { contexts: [...runtime.contexts].length - 1, tables: runtime.slices.tables, grownBytes }
}

/** Bytes on this thread's heap while all ranks wait; 0 for all but its first rank. */
async function bytesInUse(world: Communicator): Promise<number> {
  await world.barrier()
  let bytes = 0
  if (world.seat().localIndex === 0) {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    collectGarbage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    bytes = heapUsed + arrayBuffers
  }
  await world.barrier()
  return bytes
}

async function right(comm: Communicator, members: readonly number[], probe: number): Promise<void> {
  const rank = probe % comm.size
  const [found] = await comm.worldRanks([rank])
  if (found !== members[rank]) throw new Error(`rank ${rank}: expected ${members[rank]}, got ${found}`)
}
