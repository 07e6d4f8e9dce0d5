import { readFile } from 'node:fs/promises'
import { type Communicator, mpi, type RunOptions, run, threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { type LocalOptions, type LocalSession, local } from '../../../src/fabric/local/local.js'
import { ownHandles } from '../../../src/fabric/own-handles.js'
import { refusal } from '../../support/refusal.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]
const processCounts = [1, 2, 5]

const loop = () => new Promise((resolve) => setImmediate(resolve))
const rankOf = (world: Communicator) => world.rank

/** A local fabric whose session the test can reach. */
function reachable(options: LocalOptions) {
  const sessions: LocalSession[] = []
  const factory = local(options)
  const open = async () => {
    const session = await factory.open()
    sessions.push(session)
    return session
  }
  return { fabric: { ...factory, open }, session: () => sessions[0] }
}

describe('results', () => {
  it('are in rank order, from synchronous and asynchronous mains, on every layout', async () => {
    for (const ranks of rankCounts) {
      for (const processes of processCounts) {
        const expected = Array.from({ length: ranks }, (_, rank) => `${rank} of ${ranks}`)
        const say = (world: Communicator) => `${world.rank} of ${world.size}`
        expect(await run(say, { ranks, processes })).toEqual(expected)
        expect(
          await run(
            async (world) => {
              for (let n = world.rank % 3; n > 0; n--) await loop()
              return say(world)
            },
            { ranks, processes },
          ),
        ).toEqual(expected)
      }
    }
  })

  it('follow ranksPerProcess, also with processes without ranks', async () => {
    const fabric = local({ ranksPerProcess: [0, 3, 0, 2, 0], nodes: ['x', 'y', 'x', 'y', 'z'] })
    const where = await run((world) => [world.location.process, world.location.node], { ranks: 5, fabric })
    expect(where).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [3, 1],
      [3, 1],
    ])
  })

  it('come from mains that get the same args', async () => {
    const args = { name: 'x' }
    const got = await run((_world, given: typeof args) => given, { ranks: 3, processes: 2, args })
    expect(got.every((given) => given === args)).toBe(true)
    expect(await run((_world, given) => given, { ranks: 1 })).toEqual([undefined])
  })

  it('of a hundred thousand ranks, on one process and on eight', async () => {
    for (const processes of [1, 8]) {
      const results = await run(async (world) => world.rank, { ranks: 100_000, processes })
      expect(results.length).toBe(100_000)
      expect(results.every((rank, n) => rank === n)).toBe(true)
    }
  })

  it('wait for mains that wait for timers and files only', async () => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      else await readFile(new URL(import.meta.url))
      return world.rank
    }
    expect(await run(main, { ranks: 3, processes: 2 })).toEqual([0, 1, 2])
  })
})

describe('invalid options', () => {
  const cases: [string, unknown, unknown, string][] = [
    ['no ranks', rankOf, {}, 'ERR_WORLD'],
    ['0 ranks', rankOf, { ranks: 0 }, 'ERR_WORLD'],
    ['1.5 ranks', rankOf, { ranks: 1.5 }, 'ERR_WORLD'],
    ['too many ranks', rankOf, { ranks: 2 ** 22 + 1 }, 'ERR_WORLD'],
    ['0 processes', rankOf, { ranks: 1, processes: 0 }, 'ERR_WORLD'],
    [
      'ranks that do not add up',
      rankOf,
      { ranks: 3, fabric: local({ ranksPerProcess: [1, 1] }) },
      'ERR_WORLD',
    ],
    ['negative counts', rankOf, { ranks: 1, fabric: local({ ranksPerProcess: [2, -1] }) }, 'ERR_WORLD'],
    ['processes against the fabric', rankOf, { ranks: 1, processes: 2, fabric: local() }, 'ERR_WORLD'],
    ['no main', null, { ranks: 1 }, 'ERR_ARGUMENT'],
    ['no options', rankOf, undefined, 'ERR_ARGUMENT'],
    ['an unknown fabric', rankOf, { ranks: 1, fabric: 'carrier pigeon' }, 'ERR_ARGUMENT'],
    ['an unknown option', rankOf, { ranks: 1, process: 2 }, 'ERR_ARGUMENT'],
    ['an unknown option of report', rankOf, { ranks: 1, report: { after: 2 } }, 'ERR_ARGUMENT'],
    ['a negative eager limit', rankOf, { ranks: 1, eagerLimitBytes: -1 }, 'ERR_ARGUMENT'],
    ['a fractional credit', rankOf, { ranks: 1, creditBytes: 0.5 }, 'ERR_ARGUMENT'],
    ['something else as a signal', rankOf, { ranks: 1, signal: {} }, 'ERR_ARGUMENT'],
  ]
  for (const [name, main, options, code] of cases) {
    it(`${name}: ${code}`, async () => {
      await expect(run(main as typeof rankOf, options as RunOptions<undefined>)).rejects.toMatchObject({
        code,
      })
      expect(ownHandles()).toEqual({ timers: 0, immediates: 0 })
    })
  }
})

describe('unknown options of fabrics', () => {
  it.each([
    ['local', () => local({ process: 2 } as never), "got 'process' (did you mean 'processes'?)"],
    ['faults', () => local({ faults: { loose: 0.5 } } as never), "got 'loose' (did you mean 'lose'?)"],
    ['threads', () => threads({ node: ['a'] } as never), "got 'node' (did you mean 'nodes'?)"],
    ['mpi', () => mpi({ lib: 'libmpi.so' } as never), "got 'lib'"],
  ])('%s names the nearest', (_, make, message) => {
    expect(make).toThrow(refusal('ERR_ARGUMENT', message))
  })
})

describe('the first error ends the world', () => {
  for (const processes of processCounts) {
    it(`whatever was thrown, also values without text (${processes} processes)`, async () => {
      for (const thrown of [undefined, null, 7, Object.create(null), Symbol('s')]) {
        const main = async (world: Communicator) => {
          if (world.rank === 1) throw thrown
          await world.barrier()
        }
        const failure = await run(main, { ranks: 4, processes }).then(
          () => 'none',
          (error: unknown) => error,
        )
        expect(failure).toBe(thrown)
        const aborted = run((world) => (world.rank === 1 ? world.abort(thrown) : world.barrier()), {
          ranks: 4,
          processes,
        })
        await expect(aborted).rejects.toMatchObject({ code: 'ERR_WORLD_ABORTED' })
      }
    })

    it(`and is what run rejects with; all waits fail (${processes} processes)`, async () => {
      const first = new Error('rank 3 is unhappy')
      const seen: unknown[] = []
      const main = async (world: Communicator) => {
        if (world.rank === 3) {
          await loop()
          throw first
        }
        const wait = world.rank % 2 === 0 ? world.recv(3, 99) : world.barrier()
        await wait.catch((error: unknown) => {
          seen[world.rank] = error
          throw error
        })
      }
      await expect(run(main, { ranks: 8, processes })).rejects.toBe(first)
      await loop()
      for (const rank of [0, 1, 2, 4, 5, 6, 7]) {
        expect(seen[rank], `rank ${rank}`).toMatchObject({ code: 'ERR_WORLD_ENDED', cause: first })
      }
    })
  }

  it('also when main throws synchronously', async () => {
    const first = new TypeError('at once')
    const started: number[] = []
    const main = (world: Communicator) => {
      started.push(world.rank)
      if (world.rank === 1) throw first
      return world.recv(0)
    }
    await expect(run(main, { ranks: 4, processes: 2 })).rejects.toBe(first)
    expect(started).toEqual([0, 1])
  })

  it('while other mains wait for something else: later calls fail, and run does not wait for them', async () => {
    const first = new Error('first')
    let proceed: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      proceed = resolve
    })
    let later: unknown
    const main = async (world: Communicator) => {
      if (world.rank === 0) throw first
      await held
      await world.barrier().catch((error: unknown) => {
        later = error
      })
      throw new Error('too late to matter')
    }
    await expect(run(main, { ranks: 2, processes: 2 })).rejects.toBe(first)
    proceed()
    await loop()
    await loop()
    expect(later).toMatchObject({ code: 'ERR_WORLD_ENDED', cause: first })
  })

  it('of two errors, the earlier one', async () => {
    const main = async (world: Communicator) => {
      for (let n = 10 - world.rank; n > 0; n--) await loop()
      throw new Error(`rank ${world.rank}`)
    }
    await expect(run(main, { ranks: 8, processes: 3 })).rejects.toThrow('rank 7')
  })
})

describe('abort and signal', () => {
  for (const processes of processCounts) {
    it(`world.abort ends the waits of every rank (${processes} processes)`, async () => {
      const reason = new Error('enough')
      const seen: unknown[] = []
      const main = async (world: Communicator) => {
        if (world.rank === 2) {
          await loop()
          world.abort(reason)
        }
        await world.recv(2, 1).catch((error: unknown) => {
          seen.push(error)
          throw error
        })
      }
      const failure = await run(main, { ranks: 4, processes }).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'ERR_WORLD_ABORTED', cause: reason, details: { rank: 2 } })
      await loop()
      expect(seen.length).toBe(4)
      for (const error of seen) expect(error).toMatchObject({ code: 'ERR_WORLD_ENDED', cause: failure })
    })
  }

  it('a signal ends the world while ranks wait, and before it starts', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const reason = { said: 'stop' }
    const main = async (world: Communicator) => {
      if (world.rank === 0) setImmediate(() => controller.abort(reason))
      await world.recv(world.rank)
    }
    await expect(run(main, { ranks: 3, processes: 2, signal })).rejects.toMatchObject({
      code: 'ERR_ABORTED',
      cause: reason,
    })
    let started = false
    const never = () => {
      started = true
    }
    await expect(run(never, { ranks: 2, signal })).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    expect(started).toBe(false)
  })

  it('a signal that aborts after the end does nothing', async () => {
    const controller = new AbortController()
    expect(await run(rankOf, { ranks: 2, signal: controller.signal })).toEqual([0, 1])
    controller.abort()
    await loop()
  })
})

describe('no leftovers', () => {
  const listeners = process.listenerCount('unhandledRejection')

  it('after many worlds, successful and failed', async () => {
    for (let n = 0; n < 50; n++) {
      await run(async (world) => world.barrier(), { ranks: 4, processes: 1 + (n % 4) })
      const bad = async (world: Communicator) => {
        if (world.rank === n % 4) throw new Error('bad')
        await world.recv(n % 4)
      }
      await run(bad, { ranks: 4, processes: 1 + (n % 4) }).catch(() => {})
    }
    await loop()
    expect(ownHandles()).toEqual({ timers: 0, immediates: 0 })
    expect(process.listenerCount('unhandledRejection')).toBe(listeners)
  })

  it('messages that were not received are dropped', async () => {
    for (const processes of [1, 2]) {
      const main = async (world: Communicator) => {
        await world.send(Float64Array.of(world.rank), (world.rank + 1) % world.size)
        return world.rank
      }
      expect(await run(main, { ranks: 4, processes })).toEqual([0, 1, 2, 3])
    }
  })
})

describe('lost processes', () => {
  it('fail operations that need them; the remaining continue, and run rejects with the loss', async () => {
    const { fabric, session } = reachable({ processes: 4 })
    const seen: string[] = []
    const main = async (world: Communicator) => {
      if (world.rank === 1) session().kill(1, 'power cut')
      if (world.rank === 2) {
        await world.recv(1).catch((error: { code: string }) => seen.push(error.code))
      }
      if (world.rank === 0) await world.send(Int32Array.of(7), 3, 5)
      if (world.rank === 3) seen.push(`got ${(await world.recv<Int32Array>(0, 5)).data[0]}`)
      if (world.rank === 1) await world.recv(0, 77)
    }
    await expect(run(main, { ranks: 4, fabric })).rejects.toMatchObject({
      code: 'ERR_PEER_LOST',
      details: { process: 1 },
      message: expect.stringContaining('power cut'),
    })
    expect(seen.sort()).toEqual(['ERR_PEER_LOST', 'got 7'])
  })

  it('an uncaught loss ends the world', async () => {
    const fabric = local({ processes: 3, faults: { kill: [{ process: 2, afterFrames: 1 }] } })
    const main = async (world: Communicator) => {
      for (let n = 0; n < 10; n++) await world.barrier()
    }
    await expect(run(main, { ranks: 6, fabric })).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
  })

  it('the loss of a process after its ranks have returned has no effect', async () => {
    const { fabric, session } = reachable({ processes: 2 })
    const main = async (world: Communicator) => {
      if (world.rank === 1) return world.rank
      await loop()
      session().kill(1)
      await loop()
      return world.rank
    }
    expect(await run(main, { ranks: 2, fabric })).toEqual([0, 1])
  })
})
