import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import type { RankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'

/** The outcomes on both ranks of broadcasts whose buffer on rank `who` is detached after so many turns. */
async function outcomes(who: number, bulk: boolean): Promise<Set<string>> {
  const found = new Set<string>()
  for (let wait = 0; wait < 10; wait++) {
    await run(
      async (world: Communicator) => {
        const comm = await world.dup()
        const data = new Uint8Array(300_000)
        const called = comm.bcast(data, 1, world.rank === 0 ? { into: data } : {})
        const ended = called.then(
          () => found.add('done'),
          (error: RankweaveError) => found.add(`${error.code} ${error.message}`),
        )
        for (let i = 0; i < wait; i++) await turn()
        if (world.rank === who) structuredClone(data.buffer, { transfer: [data.buffer] })
        await ended
      },
      { ranks: 2, fabric: local({ processes: 2, seed: wait, maxPayloadBytes: 16_384, bulk }) },
    )
  }
  return found
}

it.each([
  [0, true],
  [0, false],
  [1, true],
  [1, false],
])(
  'a buffer of rank %i that is detached during a collective is ERR_TYPE naming the call, bulk %s',
  async (who, bulk) => {
    const found = await outcomes(who, bulk)
    found.delete('done')
    // A buffer that had gone before its message came has no room for it.
    found.delete('ERR_TRUNCATE into has room for 0 elements, the message carries 300000')
    expect([...found]).toEqual([
      `ERR_TYPE bcast(root 1): a buffer was detached on process ${who} before it completed`,
    ])
  },
)
