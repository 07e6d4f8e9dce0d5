// One large array per operation: a copy in memory, a send from rank 0 to rank 1, and the collectives that
// should be as fast.
import type { Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

export interface Large {
  readonly sizeBytes: number
  readonly repeats: number
  /** Only these operations. Default: all. */
  readonly operations?: readonly string[]
  /** How `allreduceSum` may associate, where the library knows this option. */
  readonly order?: 'any'
}

/** Microseconds by operation: the median over the repeats, from a barrier until every rank has its data. */
export default async function main(
  world: Communicator,
  { sizeBytes, repeats, operations: only, order }: Large,
) {
  const count = sizeBytes / 8
  const mine = new Float64Array(count)
  const into = new Float64Array(count)
  const all = new Float64Array(count * world.size)
  const isRoot = world.rank === 0
  const sumOptions = { into, ...(order === undefined ? {} : { order }) }
  const operations: Readonly<Record<string, () => Promise<Float64Array | undefined>>> = {
    copy: async () => {
      into.set(mine)
      return isRoot ? into : undefined
    },
    send: async () => {
      if (world.rank > 1) return
      if (isRoot) return void (await world.send(mine, 1))
      await world.recv(0, 0, { into })
      return into
    },
    bcast: () => (isRoot ? world.bcast(mine) : world.bcast<Float64Array, Float64Array>(null, 0, { into })),
    allgather: async () => (await world.allgather(mine, { into: all })).subarray(0, count),
    allreduce: () => world.allreduce(mine, 'max', { into }),
    allreduceSum: () => world.allreduce(mine, 'sum', sumOptions),
  }
  const figures: Record<string, number> = {}
  for (const [name, operation] of Object.entries(operations)) {
    if (only?.includes(name) === false) continue
    const others = name === 'allreduceSum' ? world.size - 1 : 0
    const samples: number[] = []
    for (let i = 0; i < repeats; i++) {
      // The values of rank 0 are the larger ones, so that every operation delivers them.
      mine.fill(isRoot ? i + 2 : 1)
      into.fill(0)
      await world.barrier()
      const begin = performance.now()
      const got = await operation()
      await world.barrier()
      samples.push((performance.now() - begin) * 1000)
      if (got !== undefined)
        for (const at of [0, count >> 1, count - 1])
          expectEqual(got[at], i + 2 + others, `${name} of ${sizeBytes} B`)
    }
    samples.sort((a, b) => a - b)
    figures[name] = samples[samples.length >> 1]
  }
  return figures
}
