// Splits of the world into 4 communicators, each freed again; with `weigh`, the memory of that many retained
// ones.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Communicator } from 'rankweave'
import { type Effort, expectEqual, timed } from './timing.js'

export interface SplitEffort extends Effort {
  /** Communicators to weigh on every process; one rank per process. Default: none. */
  readonly weigh?: number
}

/** Microseconds of one split and one free, and bytes per process of one retained communicator. */
export default async function main(world: Communicator, { weigh, ...effort }: SplitEffort) {
  const { rank, size } = world
  const split = () => world.split(rank % 4, -rank)
  const part = await split()
  expectEqual(part.size, Math.ceil((size - (rank % 4)) / 4), 'size')
  expectEqual(part.rank, part.size - 1 - Math.floor(rank / 4), 'rank')
  await part.free()
  const us = await timed(
    world,
    async (iterations) => {
      for (let i = 0; i < iterations; i++) await (await split()).free()
    },
    effort,
  )
  return { split: us, ...(weigh === undefined ? {} : { bytes: await bytesEach(world, split, weigh) }) }
}

/** Bytes per communicator, on the process with the most. */
async function bytesEach(
  world: Communicator,
  split: () => Promise<Communicator>,
  count: number,
): Promise<number> {
  const before = await bytesInUse()
  const kept: Communicator[] = []
  for (let i = 0; i < count; i++) kept.push(await split())
  const [most] = await world.allreduce(Float64Array.of(((await bytesInUse()) - before) / count), 'max')
  for (const part of kept) await part.free()
  return most
}

/** The engine releases unused code, and memory of arrays, only over several collections. */
const collections = 10

async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let i = 0; i < collections; i++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
