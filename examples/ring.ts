/**
 * A ring of ranks: every rank sends to the next one and receives from the one before.
 *
 *   rankweave run examples/ring.ts -n 6
 *
 * First a baton goes around once, by one message at a time. Then all ranks send at once, step by step, until
 * what each one began with has gone all the way around. The program needs nothing of Node: tabs of a browser
 * run it too (docs/browser.md).
 */
import type { Communicator } from 'rankweave'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 2, 5, 6]

/** A rank adds a lap to the baton. */
interface Lap {
  readonly rank: number
  readonly square: bigint
}

export default async function main(world: Communicator) {
  const { rank, size } = world
  const next = (rank + 1) % size
  const before = (rank + size - 1) % size

  // The baton, any value: rank 0 starts it, the others add to what they received.
  const own: Lap = { rank, square: BigInt(rank) ** 2n }
  let baton: readonly Lap[] = [own]
  if (rank > 0) baton = [...((await world.recv(before)).data as readonly Lap[]), own]
  const sending = world.isend(baton, next)
  const laps = rank === 0 ? ((await world.recv(before)).data as readonly Lap[]) : null
  await sending.wait()

  // The exchange is planned once, as a persistent one that every step starts again.
  const ring = await world.createDistGraphAdjacent({ sources: [before], destinations: [next] })
  const block = Float64Array.from({ length: 4 }, (_, i) => Math.sin(rank + i))
  const passing = block.slice()
  const arrived = new Float64Array(4)
  const exchange = ring.neighborAllgatherInit(passing, arrived)
  const sum = new Float64Array(4)
  for (let step = 0; step < size; step++) {
    await exchange.start()
    passing.set(arrived)
    for (let i = 0; i < 4; i++) sum[i] = sum[i] + arrived[i]
  }

  // After as many steps as there are ranks, every rank has its own block again.
  const home = passing.every((value, i) => value === block[i])
  const allHome = await world.allreduce(home ? 1 : 0, 'min')
  const sums = await world.gather(sum)
  return rank === 0 ? { laps, allHome: allHome === 1, sums } : null
}
