import { type Communicator, local, run } from 'rankweave'
import { expect, it } from 'vitest'

const countElems = 9000

/** Turns of the event loop, in which frames are delivered. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it.each([
  [1, 2],
  [2, 3],
  [3, 7],
])(
  'a rank that joins a long allreduce after all others have sent completes it: rank %i of %i',
  async (late, ranks) => {
    const main = async (world: Communicator) => {
      if (world.rank === late) await turns(20)
      const sum = await world.allreduce(new Float64Array(countElems).fill(world.rank), 'sum')
      return sum.every((value) => value === (ranks * (ranks - 1)) / 2)
    }
    for (const bulk of [true, false]) {
      const fabric = local({ processes: ranks, bulk })
      expect(await run(main, { ranks, fabric, eagerLimitBytes: 2 ** 20 })).toEqual(
        new Array(ranks).fill(true),
      )
      expect(await run(main, { ranks, fabric, eagerLimitBytes: 64 })).toEqual(new Array(ranks).fill(true))
    }
  },
)
