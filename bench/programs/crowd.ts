// Every rank awaits a barrier and returns; with `weigh`, the first rank of each process measures the memory
// in between.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Communicator } from 'rankweave'

export interface Crowd {
  readonly weigh: boolean
  readonly processes: number
}

/** Bytes on the heaps of all threads, while every other rank waits. */
export default async function main(world: Communicator, { weigh, processes }: Crowd) {
  if (!weigh) {
    await world.barrier()
    return null
  }
  await world.barrier()
  let bytes = 0
  if (world.rank % Math.ceil(world.size / processes) === 0) bytes = bytesInUse()
  await world.barrier()
  const all = await world.reduce(Float64Array.of(bytes), 'sum')
  return all === null ? null : { bytes: all[0] }
}

function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
