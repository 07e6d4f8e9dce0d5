// Persistent neighbor allgathers, one after the other.
import type { Communicator } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { buildTopology } from 'rankweave/topology'
import { type Effort, expectEqual, timed } from './timing.js'

export interface ExchangeCase extends Effort {
  readonly key: string
  readonly topology: string
  readonly strategy: Strategy
  /** Of every block; a multiple of 4. */
  readonly bytes: number
}

/** Microseconds by key: of the second time, when what the cases share has been compiled. */
export default async function main(world: Communicator, cases: readonly ExchangeCase[]) {
  await measure(world, cases)
  return measure(world, cases)
}

async function measure(world: Communicator, cases: readonly ExchangeCase[]): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const { key, topology, strategy, bytes, ...effort } of cases) {
    const comm = await world.createTopology(buildTopology(topology), { strategy })
    const { sources } = comm
    const length = bytes / 4
    const mine = new Int32Array(length)
    const into = new Int32Array(sources.length * length)
    const request = comm.neighborAllgatherInit(mine, into)
    const operations = async (iterations: number): Promise<void> => {
      for (let i = 0; i < iterations; i++) await request.start()
    }
    for (let i = 0; i < 3; i++) {
      mine.fill(comm.rank * 1000 + i)
      await operations(1)
      for (const [s, source] of sources.entries()) {
        for (const at of [s * length, (s + 1) * length - 1])
          expectEqual(into[at], source * 1000 + i, 'neighbor allgather')
      }
    }
    figures[key] = await timed(world, operations, effort)
    await comm.free()
  }
  return figures
}
