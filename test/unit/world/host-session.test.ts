import { type Communicator, RankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import type { LocalOptions, LocalSession } from '../../../src/fabric/local/local.js'
import type { Main } from '../../../src/world/user-program.js'
import { hostSession, type WorldOptions } from '../../../src/world/world.js'
import { coded } from '../../support/on-ranks.js'
import { separateSessions } from '../../support/separate-sessions.js'

const loop = () => new Promise((resolve) => setImmediate(resolve))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

type Outcome<T> = { readonly results: T[] } | { readonly error: unknown }

/** Runs one world as sessions that see one process each; the outcome of every session. */
async function host<T>(
  main: Main<T, undefined>,
  options: Partial<WorldOptions<undefined>> & { readonly ranks: number },
  fabric: LocalOptions,
  use?: (whole: LocalSession) => void,
): Promise<Outcome<T>[]> {
  const { whole, sessions } = await separateSessions(fabric)
  use?.(whole)
  return Promise.all(
    sessions.map((session) =>
      hostSession(session, main, options).then(
        (results) => ({ results }),
        (error: unknown) => ({ error }),
      ),
    ),
  )
}

const errorOf = (outcome: Outcome<unknown> | undefined) =>
  outcome !== undefined && 'error' in outcome ? outcome.error : undefined

describe('a world of sessions that host one process each', () => {
  for (const seed of [undefined, 1]) {
    const processes = 4
    const fabric = { processes, ...(seed === undefined ? {} : { seed }) }

    it(`returns to every session the results of its own ranks (seed ${seed})`, async () => {
      const main = async (world: Communicator) => (await world.allgather(Int32Array.of(world.rank))).join()
      const all = '0,1,2,3,4,5'
      const results = [[all, all], [all, all], [all], [all]]
      expect(await host(main, { ranks: 6 }, fabric)).toEqual(results.map((own) => ({ results: own })))
    })

    it(`serves frames until every process is done (seed ${seed})`, async () => {
      // Rank 0 has returned long before the others, who still need its process for the agreement and for
      // matching.
      const main = async (world: Communicator) => {
        if (world.rank === 0) {
          world.isend(new Float64Array(100_000).fill(3), 3)
          return 0
        }
        await pause(5 * world.rank)
        return world.rank === 3 ? (await world.recv<Float64Array>(0)).data[99_999] : world.rank
      }
      const outcomes = await host(main, { ranks: 4, eagerLimitBytes: 0 }, fabric)
      expect(outcomes).toEqual([{ results: [0] }, { results: [1] }, { results: [2] }, { results: [3] }])
    })

    for (const failing of [0, 2]) {
      it(`ends every session with the first error, of rank ${failing} (seed ${seed})`, async () => {
        const first = new RangeError('out of cheese')
        const seen: unknown[] = []
        const main = async (world: Communicator) => {
          if (world.rank === failing) {
            await loop()
            throw first
          }
          await world.recv(failing).catch((error: unknown) => {
            seen.push(error)
            throw error
          })
        }
        const outcomes = await host(main, { ranks: 4 }, fabric)
        expect(errorOf(outcomes[failing])).toBe(first)
        for (const outcome of outcomes) {
          expect(errorOf(outcome)).toMatchObject({ name: 'RangeError', message: 'out of cheese' })
        }
        expect(seen.length).toBe(3)
        for (const error of seen) expect(error).toMatchObject({ code: 'ERR_WORLD_ENDED' })
      })
    }

    it(`agrees on one of several errors (seed ${seed})`, async () => {
      const main = async (world: Communicator) => {
        await loop()
        throw new RankweaveError('ERR_OP', `rank ${world.rank}`)
      }
      const errors = (await host(main, { ranks: 8 }, fabric)).map(errorOf) as RankweaveError[]
      expect(new Set(errors.map(({ message }) => message)).size).toBe(1)
      for (const { code } of errors) expect(code).toBe('ERR_OP')
    })

    it(`ends every session by abort and by the signal of one session (seed ${seed})`, async () => {
      const main = async (world: Communicator) => {
        if (world.rank === 3) world.abort('enough')
        await world.recv(0)
      }
      for (const outcome of await host(main, { ranks: 4 }, fabric)) {
        expect(errorOf(outcome)).toMatchObject({ code: 'ERR_WORLD_ABORTED', details: { rank: 3 } })
      }
      const controller = new AbortController()
      setImmediate(() => controller.abort(new Error('stop')))
      const waiting = (world: Communicator) => world.recv(0)
      for (const outcome of await host(waiting, { ranks: 4, signal: controller.signal }, fabric)) {
        expect(errorOf(outcome)).toMatchObject({ code: 'ERR_ABORTED' })
      }
    })

    it(`detects a deadlock that no session can see alone (seed ${seed})`, async () => {
      const main = async (world: Communicator) => {
        for (let n = 0; n < 5; n++) await world.barrier()
        if (world.rank === 0) return
        await world.recv((world.rank % 3) + 1, 7)
      }
      for (const outcome of await host(main, { ranks: 4 }, fabric)) {
        const error = errorOf(outcome) as RankweaveError
        expect(error).toMatchObject({ code: 'ERR_DEADLOCK', details: { blocked: 3, ended: 1 } })
        for (const rank of [1, 2, 3]) expect(error.message).toMatch(new RegExp(`rank ${rank}\\b.*recv`))
      }
    })

    it(`does not report a timer or a slow frame as a deadlock (seed ${seed})`, async () => {
      const main = async (world: Communicator) => {
        if (world.rank === 2) setTimeout(() => void world.send(Int32Array.of(5), 0), 120)
        const { data } = await world.recv<Int32Array>(world.rank === 0 ? 2 : world.rank - 1)
        await world.send(data, (world.rank + 1) % world.size)
        return data[0]
      }
      const slow = { ...fabric, faults: { delay: 30 } }
      expect(await host(main, { ranks: 4 }, slow)).toEqual(new Array(4).fill({ results: [5] }))
    })
  }

  it('ends for the remaining processes when one is lost, also process 0', async () => {
    for (const victim of [0, 2]) {
      const main = async (world: Communicator) => {
        await loop()
        await world.recv((world.rank + 1) % world.size)
      }
      let whole: LocalSession | undefined
      const outcomes = await host(main, { ranks: 3 }, { processes: 3 }, (session) => {
        whole = session
        setTimeout(() => whole?.kill(victim, 'power cut'), 5)
      })
      for (const outcome of outcomes) expect(errorOf(outcome)).toMatchObject({ code: 'ERR_PEER_LOST' })
    }
  })

  it('closes the session when the options are invalid', async () => {
    const { whole, sessions } = await separateSessions({ processes: 1 })
    const promise = hostSession(sessions[0], (world) => world.rank, { ranks: 2, ranksPerProcess: [1] })
    await expect(promise).rejects.toMatchObject({ code: 'ERR_WORLD' })
    expect(() => whole.hosted[0].send(0, Int32Array.of(1))).toThrowError(coded('ERR_FABRIC'))
  })
})
