import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'

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
