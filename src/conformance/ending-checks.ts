import { RankweaveError } from '../errors.js'
import type { WorldCase } from './world-case.js'

/** The early ends of a world: each case ends the world in which it runs. */
export const endingChecks: readonly WorldCase[] = [
  {
    name: 'abort ends the world while its ranks wait in any call',
    fails: 'ERR_WORLD_ABORTED',
    async check(world) {
      await world.barrier()
      if (world.rank === world.size - 1) world.abort('enough')
      // Rank 0 never calls the barrier.
      if (world.rank % 2 === 0) await world.recv(world.rank, 1)
      else await world.barrier()
    },
  },
  {
    name: 'an error thrown by a rank ends the world with its code',
    fails: 'ERR_TOPOLOGY',
    async check(world) {
      await world.barrier()
      if (world.rank === world.size - 1) throw new RankweaveError('ERR_TOPOLOGY', 'on purpose')
      await world.recv(world.rank, 1)
    },
  },
  {
    name: 'a cycle of waiting ranks is reported as a deadlock',
    fails: 'ERR_DEADLOCK',
    async check(world) {
      await world.barrier()
      await world.recv((world.rank + 1) % world.size, 1)
    },
  },
]
