import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { type LocalOptions, local } from '../../../../src/fabric/local/local.js'
import { hostSession } from '../../../../src/world/world.js'

/** A world whose ranks can take processes from it. */
async function withKills<T>(
  options: LocalOptions,
  ranks: number,
  main: (world: Communicator, kill: (process: number) => void) => Promise<T>,
): Promise<T[]> {
  const session = await local(options).open()
  return hostSession<T, undefined>(session, (world) => main(world, (process) => session.kill(process)), {
    ranks,
  })
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error) => (isRankweaveError(error) ? error.code : String(error)),
  )

describe('survivors on local', () => {
  it('revoke, shrink and continue, and the world ends well', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      await world.barrier()
      if (world.rank === 0) kill(1)
      // Most wait for a lost rank; rank 7 waits for one that gives up, and only `revoke` reaches it.
      const met = await code(world.recv(world.rank === 7 ? 0 : 3, 5))
      await world.revoke()
      const failed = await world.failed()
      const rest = await world.shrink()
      const sum = await rest.allreduce(Float64Array.of(world.rank), 'sum')
      await rest.free()
      return { met, failed: [...failed], rank: rest.rank, size: rest.size, sum: sum[0] }
    })
    expect(results.map((result) => result?.rank)).toEqual([0, 1, undefined, undefined, 2, 3, 4, 5])
    for (const [rank, result] of results.entries()) {
      if (result === undefined) continue
      if (rank === 7) expect(result.met).toBe('ERR_REVOKED')
      else expect(['ERR_PEER_LOST', 'ERR_REVOKED']).toContain(result.met)
      expect(result).toMatchObject({ failed: [2, 3], size: 6, sum: 0 + 1 + 4 + 5 + 6 + 7 })
    }
  })

  it('need no process in particular, not even process 0', async () => {
    const results = await withKills({ processes: 3 }, 3, async (world, kill) => {
      if (world.rank === 1) kill(0)
      await code(world.barrier())
      const rest = await world.shrink()
      return rest.allgather(Int32Array.of(world.rank)).then((all) => [...all])
    })
    expect(results).toEqual([undefined, [1, 2], [1, 2]])
  })
})
