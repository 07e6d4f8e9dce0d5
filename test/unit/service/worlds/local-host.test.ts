import { expect, it } from 'vitest'
import { type Clock, realClock } from '../../../../src/base/clock.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
import { LocalHost } from '../../../../src/service/worlds/world-host.js'

/** Calls without a pause of ranks 0 and 1, until both know that the last rank is gone. */
async function restless(world: Communicator): Promise<void> {
  const part = await world.split(world.rank === 2 ? 1 : 0)
  for (let isGone = 0; isGone === 0; ) {
    const knows = [...(await world.failed())].includes(2) ? 1 : 0
    isGone = (await part.allreduce(Int32Array.of(knows), 'min'))[0]
  }
  await world.ackFailed()
}

it('a member that leaves is gone soon, also where the others never rest', async () => {
  const host = new LocalHost(3, realClock)
  await host.run(async (world) => {
    if (world.rank !== 2) return restless(world)
    await world.split(1)
    host.leave(2, () => true)
  })
})

it('a call that it has left pending delays it by a number of looks only', async () => {
  let looks = 0
  const clock: Clock = {
    later(_, run) {
      const timer = setImmediate(() => {
        looks++
        run()
      })
      return () => clearImmediate(timer)
    },
  }
  const host = new LocalHost(3, clock)
  await host.run(async (world) => {
    if (world.rank !== 2) return restless(world)
    await world.split(1)
    // No other rank calls it.
    world.barrier().catch(() => {})
    host.leave(2, () => false)
  })
  expect(looks).toBeGreaterThan(0)
  expect(looks).toBeLessThanOrEqual(500)
})
