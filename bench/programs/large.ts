// One large array per operation between two processes: a send, and the collectives that should be as fast.
import type { Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

export interface Large {
  readonly sizeBytes: number
  readonly repeats: number
}

/** Microseconds by operation: the median over the repeats, from a barrier until every rank has its data. */
export default async function main(world: Communicator, { sizeBytes, repeats }: Large) {
  const count = sizeBytes / 8
  const mine = new Float64Array(count)
  const into = new Float64Array(count)
  const all = new Float64Array(count * world.size)
  const isRoot = world.rank === 0
  const operations: Readonly<Record<string, () => Promise<Float64Array | undefined>>> = {
    send: async () => {
      if (isRoot) return void (await world.send(mine, 1))
      await world.recv(0, 0, { into })
      return into
    },
    bcast: () => (isRoot ? world.bcast(mine) : world.bcast<Float64Array, Float64Array>(null, 0, { into })),
    allgather: async () => (await world.allgather(mine, { into: all })).subarray(0, count),
    allreduce: () => world.allreduce(mine, 'max', { into }),
  }
  const figures: Record<string, number> = {}
  for (const [name, operation] of Object.entries(operations)) {
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
        for (const at of [0, count >> 1, count - 1]) expectEqual(got[at], i + 2, `${name} of ${sizeBytes} B`)
    }
    samples.sort((a, b) => a - b)
    figures[name] = samples[samples.length >> 1]!
  }
  return figures
}
