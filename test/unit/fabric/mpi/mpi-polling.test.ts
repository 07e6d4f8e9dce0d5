import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
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

describe('a rank that polls by itself', () => {
  /** Nothing arrives. */
  function openPolling(processesPerCore: number) {
    let yields = 0
    const yieldTurn = () => {
      yields++
    }
    const polling = new MpiPolling({
      poll: () => false,
      moving: () => false,
      yieldTurn,
      processesPerCore,
    })
    return { polling, yields: () => yields }
  }

  it('polls less often where processes share cores, and yields the core each time', () => {
    const { polling, yields } = openPolling(2)
    const attempts = polling.attempts(256)
    expect(attempts).toBeGreaterThan(0)
    expect(attempts).toBeLessThan(openPolling(1).polling.attempts(256))
    for (let poll = 0; poll < attempts; poll++) polling.failed()
    expect(yields()).toBe(attempts)
    polling.close()
  })

  it('polls no more after 128 polls that yielded the core, and again after a turn of the event loop', async () => {
    const { polling } = openPolling(2)
    let polls = 0
    for (; polling.mayPoll() && polls < 1000; polls++) polling.failed()
    expect(polls).toBe(128)
    await setImmediate()
    expect(polling.mayPoll()).toBe(true)
    polling.close()
  })
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
