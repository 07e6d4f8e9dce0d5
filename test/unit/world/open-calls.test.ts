import { type Communicator, local, type RankweaveError, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { hostSession } from '../../../src/world/world.js'
import { separateSessions } from '../../support/separate-sessions.js'

type Program = (world: Communicator) => Promise<unknown>

/** Errors of a world of four ranks on two processes: of one session, and of one per process. */
async function errorsOf(main: Program): Promise<RankweaveError[]> {
  const failed = (world: Promise<unknown>) =>
    world.then(
      () => {
        throw new Error('expected the world to fail')
      },
      (error: RankweaveError) => error,
    )
  const together = await failed(run(main, { ranks: 4, fabric: local({ processes: 2, seed: 1 }) }))
  const { sessions } = await separateSessions({ processes: 2, seed: 1 })
  const apart = await Promise.all(sessions.map((session) => failed(hostSession(session, main, { ranks: 4 }))))
  return [together, ...apart]
}

const dup = async (world: Communicator) => {
  for (let n = 0; n < 3; n++) await world.barrier()
  return world.dup()
}

describe('ranks that wait in collectives that differ, and none sends', () => {
  it.each<readonly [string, Program, string, string]>([
    [
      'roots',
      (world) => world.bcast<number>(null, world.rank < 2 ? 2 : 0),
      'collective #0 of the world of 4 ranks',
      'rank 0 called bcast(root 2), rank 2 called bcast(root 0)',
    ],
    [
      'algorithms',
      async (world) =>
        (await dup(world)).scatter<Int8Array>(null, world.rank < 2 ? 2 : 0, {
          algorithm: world.rank < 2 ? 'scatter-linear' : 'scatter-binomial',
        }),
      'collective #0 of communicator 0.1 of 4 ranks',
      'rank 0 called scatter(root 2, scatter-linear), rank 2 called scatter(root 0, scatter-binomial)',
    ],
  ])('learn the two calls: %s', async (_, main, where, calls) => {
    for (const error of await errorsOf(main)) {
      expect(error.code).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(error.message.split('\n')[0]).toBe(
        `${where}: expected the same call of every rank, but ${calls}`,
      )
      expect(error.message).toContain('wait in')
      expect(error.details).toEqual({ seq: 0, blocked: 4, ended: 0 })
    }
  })

  it('learn the call that a rank makes after one that was refused', async () => {
    const main = async (world: Communicator) => {
      const algorithm = world.rank < 2 ? 'reduce-chain' : 'reduce-tree'
      const sum = world.reduce(Float64Array.of(1), 'sum', 2, { algorithm })
      await (world.rank < 2 ? sum.catch((error) => expect(error.code).toBe('ERR_ALGORITHM')) : sum)
      await world.bcast<number>(null, 2)
    }
    for (const { code, message } of await errorsOf(main)) {
      expect(code).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(message).toContain('rank 0 called bcast(root 2), rank 2 called reduce(root 2, sum,')
    }
  })

  it('are a deadlock where the calls agree', async () => {
    const main = async (world: Communicator) => {
      if (world.rank === 0) await world.recv(0, 1)
      await world.barrier()
    }
    for (const error of await errorsOf(main)) expect(error.code).toBe('ERR_DEADLOCK')
  })
})
