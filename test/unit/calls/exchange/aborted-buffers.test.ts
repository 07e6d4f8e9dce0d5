import { setImmediate as turn } from 'node:timers/promises'
import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { sendingAhead } from '../../../support/sending-ahead.js'

type Call = (world: Communicator, data: Float64Array, options: object) => Promise<unknown>

/** Calls that fill `into` on rank 0 with what rank 1 sends. */
const calls: Record<string, Call> = {
  bcast: (world, data, options) => world.bcast(world.rank === 1 ? data : null, 1, options),
  gather: (world, data, options) => world.gather(data, 0, options),
  gatherv: (world, data, options) => world.gatherv(data, 0, options),
  allgather: (world, data, options) => world.allgather(data, options),
  scatter: (world, data, options) => world.scatter(world.rank === 1 ? data : null, 1, options),
  alltoall: (world, data, options) => world.alltoall(data, options),
  alltoallv: (world, data, options) =>
    world.alltoallv(data, Int32Array.of(data.length / 2, data.length / 2), options),
  reduce: (world, data, options) => world.reduce(data, 'sum', 0, options),
  allreduce: (world, data, options) => world.allreduce(data, 'sum', options),
  scan: (world, data, options) => world.scan(data, 'sum', options),
}

const untouched = -7

describe.each(Object.keys(calls))('an aborted %s', (name) => {
  // Before, while and after the payload arrives; short, in several frames, offered, with bulk transfers, and
  // sent ahead.
  it.each([
    [10, false, 0],
    [4000, false, 0],
    [40_000, false, 0],
    [40_000, true, 0],
    [40_000, false, 2 ** 20],
  ])(
    'never writes into its buffer after its rejection, %i elements, bulk %s, ahead %i',
    async (length, bulk, space) => {
      for (const wait of [0, 1, 2, 3, 5, 8]) {
        await run(
          async (world: Communicator) => {
            const data = new Float64Array(length).fill(world.rank + 1)
            const call = calls[name]
            if (world.rank === 1) {
              await call(world, data, {}).catch(() => {})
              return
            }
            const into = new Float64Array(2 * length).fill(untouched)
            const controller = new AbortController()
            // With an odd number the payload may have arrived before the call.
            if (wait % 2 === 1) for (let i = 0; i < wait; i++) await turn()
            const called = call(world, data, { into, signal: controller.signal })
            if (wait % 2 === 0) for (let i = 0; i < wait / 2; i++) await turn()
            controller.abort()
            const isRejected = await called.then(
              () => false,
              () => true,
            )
            if (!isRejected) return
            into.fill(untouched)
            for (let i = 0; i < 12; i++) await turn()
            expect(into.every((element) => element === untouched)).toBe(true)
          },
          {
            ranks: 2,
            fabric: sendingAhead(local({ processes: 2, seed: wait, maxPayloadBytes: 16_384, bulk }), space),
          },
        ).catch((error) => {
          if (error?.code === undefined) throw error
        })
      }
    },
  )
})
