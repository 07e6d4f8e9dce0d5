import type { Communicator } from 'rankweave'

export default async function main(world: Communicator) {
  const { rank, size } = world

  // Ranks share a loop, then add up.
  const steps = 1_000_000
  let part = 0
  for (let i = rank; i < steps; i += size) part += 4 / (1 + ((i + 0.5) / steps) ** 2)
  const pi = (await world.allreduce(part, 'sum')) / steps

  // Planned once, started often.
  const ring = await world.createCart([size], { periods: [true] })
  const own = Float64Array.of(rank)
  const around = new Float64Array(2)
  const exchange = ring!.neighborAllgatherInit(own, around)
  for (let step = 0; step < 100; step++) {
    await exchange.start()
    own[0] = (2 * own[0] + around[0] + around[1]) / 4
  }
  return { pi, own: own[0] }
}
