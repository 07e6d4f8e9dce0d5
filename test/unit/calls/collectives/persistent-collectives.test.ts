import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'

const worlds = [
  { ranks: 1, processes: 1 },
  { ranks: 4, processes: 4 },
  { ranks: 5, processes: 3 },
  { ranks: 7, processes: 2 },
]
const starts = 3

/** On the world, and on one whose neighbors are on different processes. */
async function onLayouts(
  { ranks, processes }: (typeof worlds)[number],
  main: (comm: Communicator) => Promise<void>,
) {
  for (const eagerLimitBytes of [65_536, 64]) {
    const fabric = local({ processes, seed: ranks, scribble: true })
    const both = async (world: Communicator) => {
      await main(world)
      await main(await world.split(0, (world.rank % 2) * ranks + world.rank))
    }
    await run(both, { ranks, fabric, eagerLimitBytes })
  }
}

describe.each(worlds)('persistent collectives of $ranks ranks on $processes processes', (world) => {
  it.each([{}, { algorithm: 'allreduce-ring' }, { algorithm: 'allreduce-recursive-doubling' }])(
    'allreduceInit reduces what the buffers hold at each start: %j',
    async (options) => {
      await onLayouts(world, async (comm) => {
        const send = new Int32Array(300)
        const recv = new Int32Array(300)
        const inPlace = new Int32Array(300)
        const apart = comm.allreduceInit(send, recv, 'sum', options)
        const placed = comm.allreduceInit(inPlace, inPlace, 'max', options)
        for (let start = 0; start < starts; start++) {
          send.forEach((_, i) => {
            send[i] = comm.rank * 1000 + i + start
          })
          inPlace.set(send)
          await Promise.all([apart.start(), placed.start()])
          const sum = (comm.size * (comm.size - 1)) / 2
          expect(recv[299]).toBe(sum * 1000 + comm.size * (299 + start))
          expect(inPlace[7]).toBe((comm.size - 1) * 1000 + 7 + start)
          expect(send[299]).toBe(comm.rank * 1000 + 299 + start)
        }
        apart.free()
        placed.free()
      })
    },
  )

  it.each([{}, { algorithm: 'allgather-ring' }, { algorithm: 'allgather-bruck', segments: 2 }])(
    'allgatherInit gathers what the buffers hold at each start: %j',
    async (options) => {
      await onLayouts(world, async (comm) => {
        const send = new Float64Array(10)
        const recv = new Float64Array(10 * comm.size)
        const all = new Float64Array(10 * comm.size)
        const mine = all.subarray(10 * comm.rank, 10 * (comm.rank + 1))
        const apart = comm.allgatherInit(send, recv, options)
        const inPlace = comm.allgatherInit(mine, all, options)
        for (let start = 0; start < starts; start++) {
          send.fill(comm.rank + start)
          mine.fill(comm.rank + start)
          await Promise.all([apart.start(), inPlace.start()])
          const expected = Float64Array.from(recv, (_, i) => Math.floor(i / 10) + start)
          expect(recv).toEqual(expected)
          expect(all).toEqual(expected)
        }
      })
    },
  )

  it.each([{}, { algorithm: 'bcast-chain', segments: 3 }])(
    'bcastInit sends what the buffer of the root holds at each start: %j',
    async (options) => {
      await onLayouts(world, async (comm) => {
        const root = comm.size - 1
        const buffer = new Uint8Array(100)
        const request = comm.bcastInit(buffer, root, options)
        for (let start = 0; start < starts; start++) {
          buffer.fill(comm.rank === root ? start + 1 : 0)
          await request.start()
          expect(buffer).toEqual(new Uint8Array(100).fill(start + 1))
        }
      })
    },
  )

  it.each([{}, { algorithm: 'barrier-linear' }])(
    'barrierInit waits for all ranks at each start: %j',
    async (options) => {
      let entered = 0
      await onLayouts(world, async (comm) => {
        const request = comm.barrierInit(options)
        for (let start = 0; start < starts; start++) {
          entered++
          await request.start()
          expect(entered % comm.size).toBe(0)
          await comm.barrier()
        }
      })
    },
  )
})

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
