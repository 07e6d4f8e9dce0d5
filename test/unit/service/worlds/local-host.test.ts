import { expect, it } from 'vitest'
import { type Clock, realClock } from '../../../../src/base/clock.js'
import { laterTurn } from '../../../../src/base/turn.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
import { LocalHost } from '../../../../src/service/worlds/world-host.js'

/** A clock of which every time is over in the next turn of the event loop. */
function everyTurn(onTime: () => void): Clock {
  return {
    later(_, run) {
      const timer = setImmediate(() => {
        onTime()
        run()
      })
      return () => clearImmediate(timer)
    },
  }
}

/** Calls without a pause of ranks 0 and 1, until both know that the last rank is gone. */
async function restless(world: Communicator): Promise<void> {
  const part = await world.split(world.rank === 2 ? 1 : 0)
  for (let isGone = 0; isGone === 0; ) {
    const knows = [...(await world.failed())].includes(2) ? 1 : 0
    isGone = (await part.allreduce(Int32Array.of(knows), 'min'))[0]
  }
  await world.ackFailed()
}

it('members that leave after a barrier fail none that is still in it', async () => {
  const ranks = 30
  const host = new LocalHost(
    ranks,
    everyTurn(() => {}),
  )
  let left = 0
  await host.run(async (world) => {
    for (let turn = 0; turn < (world.rank * 7) % ranks; turn++) await laterTurn()
    await world.barrier()
    host.leave(world.rank)
    for (left++; left < ranks; ) await laterTurn()
  })
})

it('a member that leaves is gone within a second, also where the others never rest', async () => {
  const host = new LocalHost(3, realClock)
  await host.run(async (world) => {
    if (world.rank !== 2) return restless(world)
    await world.split(1)
    host.leave(2)
  })
})

it('a call that it has left pending delays it by a number of looks only', async () => {
  let looks = 0
  const count = () => {
    looks++
  }
  const host = new LocalHost(3, everyTurn(count))
  await host.run(async (world) => {
    if (world.rank !== 2) return restless(world)
    await world.split(1)
    // No other rank calls it.
    world.barrier().catch(() => {})
    host.leave(2)
  })
  expect(looks).toBeGreaterThan(0)
  expect(looks).toBeLessThanOrEqual(500)
})
