import { type Communicator, isRankweaveError, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'

describe('a persistent collective', () => {
  it.each([
    [
      'ERR_TRUNCATE allreduceInit: the receive buffer has room for 3 elements, the call receives 4',
      (comm: Communicator) => comm.allreduceInit(new Int8Array(4), new Int8Array(3), 'sum'),
    ],
    [
      'ERR_TYPE_MISMATCH allgatherInit: the receive buffer is an Int16Array, the call receives an Int8Array',
      (comm: Communicator) => comm.allgatherInit(new Int8Array(4), new Int16Array(8) as never),
    ],
    ['ERR_TYPE', (comm: Communicator) => comm.bcastInit({} as never)],
    ['ERR_RANK', (comm: Communicator) => comm.bcastInit(new Int8Array(4), 2)],
    ['ERR_ARGUMENT', (comm: Communicator) => comm.barrierInit({ algorithm: 'bcast-chain' })],
    [
      'ERR_ALGORITHM',
      (comm: Communicator) =>
        comm.allreduceInit(new Float64Array(4), new Float64Array(4), 'sum', { algorithm: 'allreduce-ring' }),
    ],
  ])('is refused with %s at once', async (refusal, init) => {
    const main = async (world: Communicator) => {
      try {
        init(world)
      } catch (error) {
        return isRankweaveError(error) ? `${error.code} ${error.message}` : error
      }
      return 'made'
    }
    const refused = expect.stringMatching(new RegExp(`^${refusal}`))
    expect(await run(main, { ranks: 2, fabric: local({ processes: 2 }) })).toEqual([refused, refused])
  })

  it('that differs between ranks fails its first start', async () => {
    const main = async (world: Communicator) => {
      const data = new Int32Array(world.rank + 1)
      try {
        await world.bcastInit(data).start()
      } catch (error) {
        return isRankweaveError(error) && error.code
      }
      return 'done'
    }
    expect(await run(main, { ranks: 2, fabric: local({ processes: 2 }) })).toContain(
      'ERR_COLLECTIVE_MISMATCH',
    )
  })
})
