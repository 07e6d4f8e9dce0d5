import { expect, it } from 'vitest'
import type { Communicator } from '../../../src/handles/communicator.js'
import type { Main, RunOptions } from '../../../src/launch/run.js'
import { run } from '../../../src/launch/run.js'
import { hostSession } from '../../../src/world/world.js'
import { codeOf } from '../../support/on-ranks.js'
import { separateSessions } from '../../support/separate-sessions.js'

const failureOf = (main: Main<unknown, undefined>, options: RunOptions<undefined>) =>
  codeOf(run(main, options))

// A report waits for seconds where something else in the process might still wake a rank.

it('a world inside a world reports its deadlock although a rank of the outer one waits for it', async () => {
  const main = async (world: Communicator) => {
    const code = world.rank === 0 ? await failureOf((inner) => inner.recv(0, 4), { ranks: 2 }) : ''
    await world.barrier()
    return code
  }
  expect(await run(main, { ranks: 2, processes: 2 })).toEqual(['ERR_DEADLOCK', ''])
})

it('a timer from before delays the report, but not indefinitely', async () => {
  let ticks = 0
  const interval = setInterval(() => void ticks++, 100)
  expect(await failureOf((world) => world.recv(0, 4), { ranks: 2, processes: 2 })).toBe('ERR_DEADLOCK')
  clearInterval(interval)
  expect(ticks).toBeGreaterThan(0)
})

it('sessions that host one process each detect a deadlock although frames were lost', async () => {
  const lose = (src: number, _: number, n: number) => src === 0 && n === 0
  const { sessions } = await separateSessions({ processes: 2, faults: { lose } })
  // Rank 0's send is the frame that is lost; what it says about its end comes after.
  const main = async (world: Communicator) => {
    if (world.rank === 0) await world.send(Int32Array.of(1), 1)
    else await world.recv(0)
  }
  const ends = sessions.map((session) => codeOf(hostSession(session, main, { ranks: 2 })))
  expect(await Promise.all(ends)).toEqual(['ERR_DEADLOCK', 'ERR_DEADLOCK'])
})
