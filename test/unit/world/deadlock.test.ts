import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import { RankweaveError } from '../../../src/errors.js'
import { local } from '../../../src/fabric/local/local.js'
import { type Main, type RunOptions, run } from '../../../src/launch/run.js'
import { worldReport } from '../../../src/world/deadlock.js'
import { onRanks } from '../../support/on-ranks.js'

const processCounts = [1, 2, 5]
const loop = () => new Promise((resolve) => setImmediate(resolve))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What the world ended with. */
async function failureOf(main: Main<unknown, undefined>, options: RunOptions<undefined>) {
  const failure: unknown = await run(main, options).catch((error: unknown) => error)
  if (!(failure instanceof RankweaveError)) throw new Error(`expected a failure, got ${String(failure)}`)
  return failure
}

describe('a deadlock is reported', () => {
  for (const processes of processCounts) {
    it(`of receives without sends (${processes} processes)`, async () => {
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
      expect(failure.message).toContain('recv(source rank + 1, tag 7) on communicator 0.0')
      if (processes === 1) expect(failure.message).toContain('ranks 0-2 wait in recv(source rank + 1, tag 7)')
      await loop()
      expect(seen).toEqual([failure, failure, failure, failure])
    })

    it(`of a collective with a rank missing, which has ended (${processes} processes)`, async () => {
      const main = async (world: Communicator) => {
        if (world.rank !== 5) await world.barrier()
      }
      const failure = await failureOf(main, { ranks: 6, processes })
      expect(failure.code).toBe('ERR_DEADLOCK')
      expect(failure.message).toMatch(/barrier/)
      expect(failure.message).toMatch(/finished: rank 5$/m)
      expect(failure.details).toEqual({ blocked: 5, ended: 1 })
    })

    it(`of a synchronous send that no rank receives (${processes} processes)`, async () => {
      const main = async (world: Communicator) => {
        if (world.rank === 0) await world.ssend(Int32Array.of(1), 1)
      }
      const failure = await failureOf(main, { ranks: 3, processes })
      expect(failure.code).toBe('ERR_DEADLOCK')
      expect(failure.message).toMatch(/finished: ranks 1 to 2$/m)
    })

    it(`after much has gone well (${processes} processes)`, async () => {
      const main = async (world: Communicator) => {
        for (let round = 0; round < 20; round++) {
          const to = (world.rank + 1) % world.size
          const from = (world.rank + world.size - 1) % world.size
          await world.sendrecv(Int32Array.of(world.rank, round), to, from)
          if (round % 5 === 0) await pause(1)
        }
        if (world.rank === 2) await world.recv(3, 1)
        await world.barrier()
      }
      expect((await failureOf(main, { ranks: 5, processes })).code).toBe('ERR_DEADLOCK')
    })
  }

  it('of a lost frame', async () => {
    const fabric = local({ processes: 2, faults: { lose: (src) => src === 1 } })
    const main = async (world: Communicator) => {
      if (world.rank === 1) await world.send(Int32Array.of(1), 0)
      else await world.recv(1)
    }
    expect((await failureOf(main, { ranks: 2, fabric })).code).toBe('ERR_DEADLOCK')
  })

  it('only once delayed frames have arrived', async () => {
    const fabric = local({ processes: 3, seed: 1, faults: { delay: 40 } })
    const main = async (world: Communicator) => {
      for (let n = 0; n < 5; n++) await world.barrier()
      return world.rank
    }
    expect(await run(main, { ranks: 6, fabric })).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('in few lines however many ranks wait', async () => {
    const main = async (world: Communicator) => {
      if (world.rank % 100 === 99) return
      await world.recv(world.rank)
    }
    const failure = await failureOf(main, { ranks: 10_000, processes: 4 })
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(failure.details).toEqual({ blocked: 9900, ended: 100 })
    expect(failure.message.split('\n').length).toBeLessThan(50)
    expect(failure.message).toMatch(/ranks 0-98, .* more wait in recv\(source rank itself, tag any\)/)
    expect(failure.message).toMatch(/finished: rank 99, rank 199, .* more ranges$/m)
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
  const waiting = async (wake: (world: Communicator) => void, processes: number) => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) wake(world)
      // Every rank waits, rank 0 too: only `wake` can help.
      const { data } = await world.recv<Int32Array>(0, 4)
      return data[0]
    }
    return run(main, { ranks: 3, processes })
  }
  const tell = (world: Communicator) => {
    for (let rank = 0; rank < world.size; rank++) void world.send(Int32Array.of(10 + rank), rank, 4)
  }

  for (const processes of [1, 2]) {
    it(`a timer that sends (${processes} processes)`, async () => {
      expect(await waiting((world) => void setTimeout(tell, 120, world), processes)).toEqual([10, 11, 12])
    })

    it(`an interval that sends at last (${processes} processes)`, async () => {
      const wake = (world: Communicator) => {
        let ticks = 0
        const interval = setInterval(() => {
          if (++ticks < 10) return
          clearInterval(interval)
          tell(world)
        }, 10)
      }
      expect(await waiting(wake, processes)).toEqual([10, 11, 12])
    })

    it(`a file that is read over and over (${processes} processes)`, async () => {
      const wake = async (world: Communicator) => {
        for (let n = 0; n < 200; n++) await readFile(new URL(import.meta.url))
        tell(world)
      }
      expect(await waiting((world) => void wake(world), processes)).toEqual([10, 11, 12])
    })

    it(`a chain of immediates (${processes} processes)`, async () => {
      const wake = async (world: Communicator) => {
        for (let n = 0; n < 2000; n++) await loop()
        tell(world)
      }
      expect(await waiting((world) => void wake(world), processes)).toEqual([10, 11, 12])
    })
  }

  it('a timer started right after the call of run', async () => {
    let world0: Communicator | undefined
    const running = onRanks({ ranks: 3, processes: 2 }, async (world) => {
      if (world.rank === 0) world0 = world
      return (await world.recv<Int32Array>(0, 4)).data[0]
    })
    setTimeout(() => tell(world0!), 120)
    expect(await running).toEqual([10, 11, 12])
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
      return (await world.recv<Int32Array>(0, 4)).data[0]
    }
    expect(await run(main, { ranks: 3, processes: 2 })).toEqual([10, 11, 12])
  })

  it('another world', async () => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) void run(() => pause(120), { ranks: 2 }).then(() => tell(world))
      return (await world.recv<Int32Array>(0, 4)).data[0]
    }
    expect(await run(main, { ranks: 3, processes: 2 })).toEqual([10, 11, 12])
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
  for (const bulk of [true, false]) {
    it(`are not waited for after an abort that was not in time for the message (${bulk ? 'bulk' : 'frames'})`, async () => {
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
    })
  }
})

describe('worlds inside a world', () => {
  it('report a deadlock although ranks of the outer world wait for them', async () => {
    const main = async (world: Communicator) => {
      const inner = await failureOf((comm) => comm.recv(0, 4), { ranks: 2 })
      await world.barrier()
      return inner.code
    }
    expect(await run(main, { ranks: 2, processes: 2 })).toEqual(['ERR_DEADLOCK', 'ERR_DEADLOCK'])
  })
})

describe('a timer from before', () => {
  it('delays the report, but not indefinitely', async () => {
    let ticks = 0
    const interval = setInterval(() => void ticks++, 100)
    const failure = await failureOf((world) => world.recv(0, 4), { ranks: 2, processes: 2 })
    clearInterval(interval)
    expect(failure.code).toBe('ERR_DEADLOCK')
    expect(ticks).toBeGreaterThan(0)
  })

  it('that has ended does not hide one that was started since', async () => {
    setTimeout(() => {}, 30)
    const main = async (world: Communicator) => {
      if (world.rank === 0) setTimeout(() => void world.send(Int32Array.of(1), 1, 4), 200)
      if (world.rank === 1) return (await world.recv<Int32Array>(0, 4)).data[0]
      return 0
    }
    expect(await run(main, { ranks: 2, processes: 2 })).toEqual([0, 1])
  })
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
    expect(report).toMatch(/finished: rank 2$/)
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
