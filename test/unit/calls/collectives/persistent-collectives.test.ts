import { type Communicator, isRankweaveError, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'

describe('a persistent collective', () => {
  it.each([
    ['ERR_TRUNCATE', (comm: Communicator) => comm.allreduceInit(new Int8Array(4), new Int8Array(3), 'sum')],
    ['ERR_TRUNCATE', (comm: Communicator) => comm.allgatherInit(new Int8Array(4), new Int8Array(4))],
    ['ERR_TYPE', (comm: Communicator) => comm.bcastInit({} as never)],
    ['ERR_RANK', (comm: Communicator) => comm.bcastInit(new Int8Array(4), 2)],
    ['ERR_ARGUMENT', (comm: Communicator) => comm.barrierInit({ algorithm: 'bcast-chain' })],
    [
      'ERR_ALGORITHM',
      (comm: Communicator) =>
        comm.allreduceInit(new Float64Array(4), new Float64Array(4), 'sum', { algorithm: 'allreduce-ring' }),
    ],
  ])('is refused with %s at once', async (code, init) => {
    const main = async (world: Communicator) => {
      try {
        init(world)
      } catch (error) {
        return isRankweaveError(error) && error.code
      }
      return 'made'
    }
    expect(await run(main, { ranks: 2, fabric: local({ processes: 2 }) })).toEqual([code, code])
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
