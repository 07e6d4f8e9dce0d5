// Splits of the world into 4 communicators, each freed again.
import type { Communicator } from 'rankweave'
import { type Effort, expectEqual, timed } from './timing.js'

/** Microseconds of one split and one free. */
export default async function main(world: Communicator, effort: Effort) {
  const { rank, size } = world
  const part = await world.split(rank % 4, -rank)
  expectEqual(part.size, Math.ceil((size - (rank % 4)) / 4), 'size')
  expectEqual(part.rank, part.size - 1 - Math.floor(rank / 4), 'rank')
  await part.free()
  const us = await timed(
    world,
    async (iterations) => {
      for (let i = 0; i < iterations; i++) await (await world.split(rank % 4, -rank)).free()
    },
    effort,
  )
  return { split: us }
}
