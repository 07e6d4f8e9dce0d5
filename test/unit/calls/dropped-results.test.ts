import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import { run } from '../../../src/launch/run.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

type Call = (world: Communicator, data: Float64Array) => Promise<Float64Array>

const calls: Readonly<Record<string, Call>> = {
  allgather: (world, data) => world.allgather(data),
  'allgather into an array': (world, data) =>
    world.allgather(data, { into: new Float64Array(world.size * data.length) }),
  allreduce: (world, data) => world.allreduce(data, 'sum'),
  'allreduce along the tree': (world, data) => world.allreduce(data, 'sum', { algorithm: 'allreduce-tree' }),
  bcast: (world, data) => world.bcast(world.rank === 0 ? data : null, 0) as Promise<Float64Array>,
  alltoallv: async (world, data) => (await world.alltoallv(data, [1000, 2000])).data,
  scan: (world, data) => world.scan(data, 'sum'),
}

describe('what the program has dropped after a call is collected', () => {
  it.each(Object.entries(calls))('%s', async (_, call) => {
    const dropped = async (world: Communicator) => {
      const data = new Float64Array(3000)
      const result = await call(world, data)
      return [new WeakRef(data.buffer), new WeakRef(result.buffer)]
    }
    const left = await run(
      async (world) => {
        const arrays = await dropped(await world.dup())
        await world.barrier()
        // A weak reference holds its object until the turn in which it was made or read has ended. A
        // collection that V8 had begun before may retain what it had marked: only a later one frees that.
        const isLeft = () => arrays.map((array) => array.deref() !== undefined)
        for (let collections = 0; collections < 5; collections += 1) {
          await turn()
          await turn()
          collectGarbage()
          if (!isLeft().includes(true)) break
        }
        return isLeft()
      },
      { ranks: 2, processes: 2 },
    )
    expect(left).toEqual([
      [false, false],
      [false, false],
    ])
  })
})
