import { type Communicator, isRankweaveError, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { onRanks } from '../support/on-ranks.js'

const algorithms = ['parallel-sort', 'sample-sort', 'minimal'] as const

describe('a process that is lost during a split with a distributed table', () => {
  it.each(algorithms)('ends every look-up in that table, wherever it is lost: %s', async (algorithm) => {
    const codes = new Set<string>()
    const main = async (world: Communicator): Promise<void> => {
      try {
        const part = await world.split(world.rank % 2, (-world.rank * 7) % 5, {
          algorithm,
          table: 'distributed',
          selfHostRows: 0,
        })
        await part.worldRanks([0, part.size - 1])
      } catch (error) {
        codes.add(isRankweaveError(error) ? error.code : String(error))
      }
    }
    for (let afterFrames = 2; afterFrames < 26; afterFrames++) {
      const kill = [{ process: afterFrames % 5, afterFrames }]
      const fabric = local({ processes: 5, seed: afterFrames, faults: { delay: 2, kill } })
      await run(main, { ranks: 10, fabric, eagerLimitBytes: 100, creditBytes: 900 }).catch(() => {})
    }
    for (const code of codes) expect(['ERR_PEER_LOST', 'ERR_REVOKED']).toContain(code)
  })
})

describe('a split with a distributed table that is revoked while it runs', () => {
  it.each(algorithms)('leaves no slice behind, whichever processes completed it: %s', async (algorithm) => {
    const ends = new Set<string>()
    for (const [sorters, tableGroup] of [
      [2, 2],
      [2, 5],
    ])
      for (let turns = 10; turns < 36; turns += 2) {
        const rows = await onRanks(
          { ranks: 10, fabric: local({ processes: 5, seed: turns, faults: { delay: 2 } }) },
          async (world) => {
            const comm = await world.dup()
            const options = { algorithm, table: 'distributed', selfHostRows: 0, sorters, tableGroup } as const
            const making = comm.split(world.rank % 2, (-world.rank * 7) % 5, options)
            making.catch(() => {})
            if (world.rank === 3) {
              for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve))
              await comm.revoke()
            }
            const [made] = await Promise.allSettled([making])
            await world.barrier()
            if (made.status === 'fulfilled') {
              await made.value.revoke()
              await made.value.free()
            }
            await comm.free().catch(() => {})
            ends.add(made.status)
            // Slices are dropped by messages, so all processes look until none is left.
            const { slices } = world.seat().state.runtime
            let left = Number.NaN
            for (let round = 0; round < 20 && left !== 0; round++)
              left = await world.allreduce(slices.hostedRows, 'sum')
            return left
          },
        )
        expect(rows, JSON.stringify({ sorters, tableGroup, turns })).toEqual(rows.map(() => 0))
      }
    expect([...ends].sort()).toEqual(['fulfilled', 'rejected'])
  })
})
