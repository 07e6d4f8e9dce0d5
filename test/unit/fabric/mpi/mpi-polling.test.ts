import { setImmediate } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { MpiPolling } from '../../../../src/fabric/mpi/mpi-polling.js'

/** Unsuccessful polls and yields in a few turns of the event loop. */
async function turns(processesPerCore: number): Promise<{ polls: number; yields: number }> {
  const counts = { polls: 0, yields: 0 }
  const polling = new MpiPolling({
    poll: () => {
      counts.polls++
      return false
    },
    moving: () => false,
    yieldTurn: () => {
      counts.yields++
    },
    processesPerCore,
  })
  polling.expectArrival()
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  polling.close()
  return counts
}

it('yields the core after every unsuccessful poll when processes share cores', async () => {
  const { polls, yields } = await turns(8)
  expect(polls).toBeGreaterThan(3)
  expect(yields).toBe(polls)
})

it('polls once per turn without yielding when every process has a core', async () => {
  const { polls, yields } = await turns(1)
  expect(polls).toBeLessThanOrEqual(3)
  expect(yields).toBe(0)
})

it('polls in every turn 50 ms after the last arrival while a transfer moves', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  try {
    let polls = 0
    const polling = new MpiPolling({
      poll: () => {
        polls++
        return false
      },
      moving: () => true,
      processesPerCore: 1,
    })
    polling.expectArrival()
    await setImmediate()
    now = 50
    await setImmediate()
    const before = polls
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    polling.close()
    // By a timer it would poll less than once per millisecond.
    expect(polls - before).toBeGreaterThanOrEqual(99)
  } finally {
    clock.mockRestore()
  }
})
