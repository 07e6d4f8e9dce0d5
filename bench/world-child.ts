// One world in its own process, so that nothing else is on the heap. Prints samples as one JSON object.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Communicator } from '../src/handles/communicator.js'
import { run } from '../src/launch/run.js'

const [ranks, processes, communicators, runs] = process.argv.slice(2).map(Number)

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function bytesInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const samples = {
  start: [] as number[],
  barrier: [] as number[],
  allreduce: [] as number[],
  split: [] as number[],
  worldBytesPerRank: [] as number[],
  splitBytesPerRank: [] as number[],
}

let begin: number | undefined
let end = 0

const before = bytesInUse()
const started = performance.now()

await run(
  async (world: Communicator) => {
    const isFirst = world.rank === 0
    await world.barrier()
    if (isFirst) {
      samples.start.push((performance.now() - started) / 1000)
      // Every other rank waits in the next barrier: this is the memory of a running world.
      samples.worldBytesPerRank.push((bytesInUse() - before) / ranks)
    }
    await world.barrier()

    /** Seconds from when the first rank begins until the last has its result; all ranks share one clock. */
    const timed = async <T>(into: number[], operation: () => Promise<T>): Promise<T> => {
      await world.barrier()
      begin ??= performance.now()
      const result = await operation()
      end = performance.now()
      await world.barrier()
      if (isFirst) {
        into.push((end - begin) / 1000)
        begin = undefined
      }
      return result
    }

    const split = async (): Promise<Communicator> => {
      const color = world.rank % communicators
      const part = await world.split(color, world.rank)
      const size = Math.floor(ranks / communicators) + (color < ranks % communicators ? 1 : 0)
      if (part.size !== size) throw new Error(`rank ${world.rank}: expected ${size} ranks, got ${part.size}`)
      return part
    }

    for (let round = 0; round < runs; round++) {
      await timed(samples.barrier, () => world.barrier())
      const sum = await timed(samples.allreduce, () => world.allreduce(Float64Array.of(world.rank), 'sum'))
      if (sum[0] !== (ranks * (ranks - 1)) / 2) throw new Error(`allreduce gave ${sum[0]}`)
      await (await timed(samples.split, split)).free()
    }

    // Retained, unlike those above, to measure their memory; the other ranks wait in the same barrier both
    // times.
    await world.barrier()
    const idle = isFirst ? bytesInUse() : 0
    await world.barrier()
    const kept = [await split(), await split(), await split()]
    await world.barrier()
    if (isFirst) samples.splitBytesPerRank.push((bytesInUse() - idle) / ranks / kept.length)
    await world.barrier()
    for (const part of kept) await part.free()
  },
  { ranks, processes },
)

process.stdout.write(`${JSON.stringify(samples)}\n`)
