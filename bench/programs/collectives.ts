// Collectives over all ranks, one after the other.
import type { Communicator, TopologyCommunicator } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { buildTopology } from 'rankweave/topology'
import { type Effort, expectEqual, timed } from './timing.js'

export interface CollectiveCase extends Effort {
  readonly key: string
  readonly kind: 'barrier' | 'allreduce' | 'neighbor' | 'persistent'
  /** For `neighbor` and `persistent`. */
  readonly topology?: string
  /** For `neighbor` and `persistent`; default: the library's. */
  readonly strategy?: Strategy
}

/** Microseconds by key. */
export default async function main(world: Communicator, cases: readonly CollectiveCase[]) {
  const figures: Record<string, number> = {}
  for (const one of cases) {
    figures[one.key] = await timed(world, await prepare(world, one), one)
  }
  return figures
}

type Operations = (iterations: number) => Promise<void>

/** The operation in a loop, after its result has been checked. */
async function prepare(
  world: Communicator,
  { kind, topology = '', strategy }: CollectiveCase,
): Promise<Operations> {
  if (kind === 'barrier') {
    return async (iterations) => {
      for (let i = 0; i < iterations; i++) await world.barrier()
    }
  }
  if (kind === 'allreduce') return prepareAllreduce(world)
  const comm = await world.createTopology(buildTopology(topology), strategy === undefined ? {} : { strategy })
  return prepareNeighbor(comm, kind === 'persistent')
}

async function prepareAllreduce(world: Communicator): Promise<Operations> {
  const mine = new Float64Array(1)
  const options = { into: new Float64Array(1) }
  const operations: Operations = async (iterations) => {
    for (let i = 0; i < iterations; i++) await world.allreduce(mine, 'sum', options)
  }
  for (let i = 0; i < 3; i++) {
    mine[0] = world.rank + i
    await operations(1)
    expectEqual(options.into[0], (world.size * (world.size - 1)) / 2 + i * world.size, 'allreduce')
  }
  return operations
}

async function prepareNeighbor(comm: TopologyCommunicator, persistent: boolean): Promise<Operations> {
  const { sources } = comm
  const mine = new Int32Array(1)
  const into = new Int32Array(sources.length)
  const request = persistent ? comm.neighborAllgatherInit(mine, into) : undefined
  const options = { into }
  const operations: Operations =
    request === undefined
      ? async (iterations) => {
          for (let i = 0; i < iterations; i++) await comm.neighborAllgather(mine, options)
        }
      : async (iterations) => {
          for (let i = 0; i < iterations; i++) await request.start()
        }
  for (let i = 0; i < 3; i++) {
    mine[0] = comm.rank * 1000 + i
    await operations(1)
    for (const [s, source] of sources.entries()) expectEqual(into[s], source * 1000 + i, 'neighbor allgather')
  }
  return operations
}
