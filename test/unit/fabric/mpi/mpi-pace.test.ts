import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MpiPace } from '../../../../src/fabric/mpi/mpi-pace.js'

/** Looks in vain, and how often the core was given away, in a few turns of the event loop. */
async function turns(sharers: number): Promise<{ looks: number; ways: number }> {
  const counts = { looks: 0, ways: 0 }
  const pace = new MpiPace({
    look: () => {
      counts.looks++
      return false
    },
    moving: () => false,
    yieldTurn: () => {
      counts.ways++
    },
    sharers,
  })
  pace.hurry()
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  pace.close()
  return counts
}

it('gives the core away after every look in vain where processes share cores', async () => {
  const { looks, ways } = await turns(8)
  expect(looks).toBeGreaterThan(3)
  expect(ways).toBe(looks)
})

it('looks once in a turn, and keeps the core, where it has one to itself', async () => {
  const { looks, ways } = await turns(1)
  expect(looks).toBeLessThanOrEqual(3)
  expect(ways).toBe(0)
})
