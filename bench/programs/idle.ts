// All ranks but the first wait in a receive; the first, which sleeps, sees what that costs.
import type { Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

/** Percent of one core. */
export default async function main(world: Communicator, { waitMs }: { readonly waitMs: number }) {
  await world.barrier()
  if (world.rank > 0) {
    const { data } = await world.recv<number>(0, 0)
    expectEqual(data, 7, 'idle')
    return {}
  }
  const before = process.cpuUsage()
  const begin = performance.now()
  await new Promise((resolve) => setTimeout(resolve, waitMs))
  const { user, system } = process.cpuUsage(before)
  const elapsedMs = performance.now() - begin
  for (let rank = 1; rank < world.size; rank++) await world.send(7, rank)
  return { idle: ((user + system) / 1000 / elapsedMs) * 100 }
}
