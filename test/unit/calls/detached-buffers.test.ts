import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import type { RankweaveError } from '../../../src/errors.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import { sendingAhead } from '../../support/sending-ahead.js'

type Call = (comm: Communicator, data: Uint8Array, other: Uint8Array) => Promise<unknown>

type Way = 'bulk' | 'frames' | 'ahead'

function fabricOf(way: Way, seed: number) {
  const fabric = local({ processes: 2, seed, maxPayloadBytes: 16_384, bulk: way === 'bulk' })
  return way === 'ahead' ? sendingAhead(fabric, 2 ** 20) : fabric
}

/** The outcomes on both ranks of calls whose first buffer on rank `who` is detached after so many turns. */
async function outcomes(call: Call, who: number, way: Way): Promise<Set<string>> {
  const found = new Set<string>()
  for (const wait of [0, 1, 2, 4, 7]) {
    await run(
      async (world: Communicator) => {
        const comm = await world.dup()
        const data = new Uint8Array(300_000)
        const ended = call(comm, data, new Uint8Array(150_000)).then(
          () => found.add('done'),
          (error: RankweaveError) => found.add(`${error.code} ${error.message}`),
        )
        for (let i = 0; i < wait; i++) await turn()
        if (world.rank === who) structuredClone(data.buffer, { transfer: [data.buffer] })
        await ended
      },
      { ranks: 2, fabric: fabricOf(way, wait) },
    )
  }
  return found
}

const bcast: Call = (comm, data) => comm.bcast(data, 1, comm.rank === 0 ? { into: data } : {})

const calls: Readonly<Record<string, Call>> = {
  'bcast(root 1)': bcast,
  'bcast(root 1, bcast-binomial:segments=2)': (comm, data) =>
    comm.bcast(data, 1, {
      algorithm: 'bcast-binomial',
      segments: 2,
      ...(comm.rank === 0 ? { into: data } : {}),
    }),
  allgatherv: (comm, data, other) => comm.allgatherv(other, { into: data }),
  'gather of what is detached': (comm, data) => comm.gather(data, 0),
  allgather: (comm, data, other) => comm.allgather(other, { into: data }),
  alltoall: (comm, data, other) => comm.alltoall(other, { into: data.subarray(0, 150_000) }),
  'scatter(root 1)': (comm, data, other) => comm.scatter(comm.rank === 1 ? data : null, 1, { into: other }),
  allreduce: (comm, data) => comm.allreduce(data, 'sum', { into: data }),
}

describe.each(Object.entries(calls))('%s', (name, call) => {
  it.each([
    [0, 'bulk'],
    [0, 'frames'],
    [0, 'ahead'],
    [1, 'bulk'],
    [1, 'frames'],
    [1, 'ahead'],
  ] as const)(
    'a buffer of rank %i that is detached before it completes is ERR_TYPE, %s',
    async (who, way) => {
      const found = await outcomes(call, who, way)
      found.delete('done')
      // Where the message finds no buffer, only its rank fails.
      found.delete('ERR_TYPE into was detached before its message had arrived')
      for (const outcome of found) {
        expect(outcome).toMatch(
          new RegExp(
            `^ERR_TYPE ${name.split(/\W/)[0]}.*: a buffer was detached on process ${who} before it completed$`,
          ),
        )
      }
      // What goes ahead is all there before a buffer can be detached.
      if (call === bcast && way !== 'ahead') expect(found.size).toBe(1)
    },
  )
})
