import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../src/errors.js'
import { local } from '../../../src/fabric/local/local.js'
import type { Communicator } from '../../../src/handles/communicator.js'
import { type Main, type RunOptions, run } from '../../../src/launch/run.js'
import { worldReport } from '../../../src/world/deadlock.js'
import { onRanks } from '../../support/on-ranks.js'

const loop = () => new Promise((resolve) => setImmediate(resolve))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What the world ended with. */
async function failureOf(main: Main<unknown, undefined>, options: RunOptions<undefined>) {
  const failure: unknown = await run(main, options).catch((error: unknown) => error)
  if (!(failure instanceof RankweaveError)) throw new Error(`expected a failure, got ${String(failure)}`)
  return failure
}

describe('a deadlock is reported', () => {
  it.each([1, 2, 5])('of receives without sends (%i processes)', async (processes) => {
    const seen: unknown[] = []
    const main = async (world: Communicator) => {
      await world.recv((world.rank + 1) % world.size, 7).catch((error: unknown) => {
        seen.push(error)
        throw error
      })
    }
    const failure = await failureOf(main, { ranks: 4, processes })
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(failure.details).toEqual({ blocked: 4, ended: 0 })
    expect(failure.message).toContain('recv(source rank + 1, tag 7) on the world')
    if (processes === 1) expect(failure.message).toContain('ranks 0-2 wait in recv(source rank + 1, tag 7)')
    await loop()
    expect(seen).toEqual([failure, failure, failure, failure])
  })

  it.each([1, 2])(
    'of a collective with a rank missing, which has ended (%i processes)',
    async (processes) => {
      const failure = await failureOf(
        async (world) => {
          if (world.rank !== 5) await world.barrier()
        },
        { ranks: 6, processes },
      )
      expect(failure.code).toBe('ERR_DEADLOCK')
      expect(failure.message).toMatch(/barrier.*finished: rank 5 of the world$/ms)
      expect(failure.details).toEqual({ blocked: 5, ended: 1 })
    },
  )

  it('of a synchronous send that no rank receives', async () => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) await world.ssend(Int32Array.of(1), 1)
    }
    const failure = await failureOf(main, { ranks: 3, processes: 2 })
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(failure.message).toMatch(/finished: ranks 1 to 2 of the world$/m)
  })

  it('after much has gone well', async () => {
    const main = async (world: Communicator) => {
      const [to, from] = [(world.rank + 1) % world.size, (world.rank + world.size - 1) % world.size]
      for (let round = 0; round < 20; round++) {
        await world.sendrecv(Int32Array.of(world.rank, round), to, from)
        if (round % 5 === 0) await pause(1)
      }
      if (world.rank === 2) await world.recv(3, 1)
      await world.barrier()
    }
    expect((await failureOf(main, { ranks: 5, processes: 2 })).code).toBe('ERR_DEADLOCK')
  })

  it('of every world that is stuck, when several run', async () => {
    const stuck = (world: Communicator) => world.recv(0, 3)
    const codes = await Promise.all(
      [1, 2, 3].map(async (ranks) => (await failureOf(stuck, { ranks, processes: 2 })).code),
    )
    expect(codes).toEqual(['ERR_DEADLOCK', 'ERR_DEADLOCK', 'ERR_DEADLOCK'])
  })
})

describe('no deadlock while something may still wake a rank', () => {
  const tell = (world: Communicator) => {
    for (let rank = 0; rank < world.size; rank++) void world.send(Int32Array.of(10 + rank), rank, 4)
  }
  /** What every rank waits for, rank 0 too: only something else can wake it. */
  const told = async (world: Communicator) => (await world.recv<Int32Array>(0, 4)).data[0]
  const all = [10, 11, 12]

  const wakes: readonly (readonly [string, processes: number, (world: Communicator) => unknown])[] = [
    ['a timer that sends', 1, (world) => setTimeout(tell, 120, world)],
    ['a timer that sends', 2, (world) => setTimeout(tell, 120, world)],
    [
      'an interval that sends at last',
      2,
      (world) => {
        let ticks = 0
        const interval = setInterval(() => {
          if (++ticks < 10) return
          clearInterval(interval)
          tell(world)
        }, 10)
      },
    ],
    [
      'a file that is read over and over',
      1,
      async (world) => {
        for (let n = 0; n < 200; n++) await readFile(new URL(import.meta.url))
        tell(world)
      },
    ],
    [
      'a chain of immediates',
      2,
      async (world) => {
        for (let n = 0; n < 2000; n++) await loop()
        tell(world)
      },
    ],
    ['another world', 2, (world) => run(() => pause(120), { ranks: 2 }).then(() => tell(world))],
  ]
  it.each(wakes)('%s (%i processes)', async (_, processes, wake) => {
    const results = await onRanks({ ranks: 3, processes }, async (world) => {
      if (world.rank === 0) void wake(world)
      return told(world)
    })
    expect(results).toEqual(all)
  })

  it('a timer started right after the call of run', async () => {
    let world0: Communicator | undefined
    const running = onRanks({ ranks: 3, processes: 2 }, async (world) => {
      if (world.rank === 0) world0 = world
      return told(world)
    })
    setTimeout(() => tell(world0!), 120)
    expect(await running).toEqual(all)
  })

  it('a wait with a signal', async () => {
    const controller = new AbortController()
    // Made before the world: its timer counts as part of the surroundings, the signal must do.
    setTimeout(() => controller.abort(new Error('enough waiting')), 150)
    const main = async (world: Communicator) => {
      if (world.rank === 0) {
        await world.recv(1, 9, { signal: controller.signal }).catch(() => {})
        tell(world)
      }
      return told(world)
    }
    expect(await run(main, { ranks: 3, processes: 2 })).toEqual(all)
  })

  it('afterwards the deadlock is reported', async () => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) setTimeout(() => {}, 60)
      await world.recv(0, 4)
    }
    expect((await failureOf(main, { ranks: 2, processes: 2 })).code).toBe('ERR_DEADLOCK')
  })
})

describe('lost frames', () => {
  it.each([true, false])(
    'are not waited for after an abort that was not in time for the message (bulk: %s)',
    async (bulk) => {
      const main = async (world: Communicator) => {
        const controller = new AbortController()
        const { signal } = controller
        setTimeout(() => controller.abort(), 30)
        if (world.rank === 0) await world.send(new Float64Array(1000), 1, 0, { signal })
        else await world.recv(0, 0, { signal }).catch(() => {})
      }
      // Rank 1 has matched the message and gives it up; what it answers never arrives.
      const fabric = local({ processes: 2, bulk, faults: { lose: (src) => src === 1 } })
      const failure = await failureOf(main, { ranks: 2, fabric, eagerLimitBytes: 0 })
      expect(failure.code).toBe('ERR_DEADLOCK')
      expect(failure.message).toMatch(/rank 0\b.*send/)
    },
  )
})

it('a timer that has ended does not hide one that was started since', async () => {
  setTimeout(() => {}, 30)
  const main = async (world: Communicator) => {
    if (world.rank === 0) setTimeout(() => void world.send(Int32Array.of(1), 1, 4), 200)
    if (world.rank === 1) return (await world.recv<Int32Array>(0, 4)).data[0]
    return 0
  }
  expect(await run(main, { ranks: 2, processes: 2 })).toEqual([0, 1])
})

describe('the report on demand', () => {
  it('covers every world of this thread', async () => {
    expect(worldReport()).toBe('no world is running')
    let report = ''
    const main = async (world: Communicator) => {
      if (world.rank === 0) {
        await loop()
        report = worldReport()
        await world.send(Int32Array.of(0), 1)
      } else if (world.rank === 1) {
        await world.recv(0)
      }
    }
    await run(main, { ranks: 3, processes: 2 })
    expect(report).toMatch(/^world 0: 1 blocked, 1 running, 1 finished\n {2}.*rank 1\b.*recv/)
    expect(report).toMatch(/finished: rank 2 of the world$/)
    expect(worldReport()).toBe('no world is running')
  })

  it('is the only report without detection', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 150)
    const main = (world: Communicator) => world.recv(0, 1)
    const options = { ranks: 2, detectDeadlock: false, signal: controller.signal }
    expect((await failureOf(main, options)).code).toBe('ERR_ABORTED')
  })
})
