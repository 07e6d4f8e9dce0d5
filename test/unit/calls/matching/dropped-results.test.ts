import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Communicator, run } from 'rankweave'
import { expect, it } from 'vitest'

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

it('what the program has dropped after a call is collected', async () => {
  const dropped = async (world: Communicator) => {
    const refs: [string, WeakRef<ArrayBufferLike>][] = []
    for (const [name, call] of Object.entries(calls)) {
      const data = new Float64Array(3000)
      const result = await call(world, data)
      refs.push([`data of ${name}`, new WeakRef(data.buffer)], [name, new WeakRef(result.buffer)])
    }
    return refs
  }
  const left = await run(
    async (world) => {
      const arrays = await dropped(await world.dup())
      await world.barrier()
      // A weak reference holds its object until the turn in which it was made or read has ended. A
      // collection that V8 had begun before may retain what it had marked: only a later one frees that.
      const left = () => arrays.filter(([, array]) => array.deref() !== undefined).map(([name]) => name)
      for (let collections = 0; collections < 5; collections += 1) {
        await turn()
        await turn()
        collectGarbage()
        if (left().length === 0) break
      }
      return left()
    },
    { ranks: 2, processes: 2 },
  )
  expect(left).toEqual([[], []])
})
