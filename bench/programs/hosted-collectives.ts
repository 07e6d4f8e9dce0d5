// Collectives of all ranks of a process in one call each, one after the other.
import { Communicator, type TopologyCommunicator, together } from 'rankweave'
import { buildTopology } from 'rankweave/topology'
import type { CollectiveCase } from './collectives.js'
import { expectEqual, timedHosted } from './timing.js'

type Figures = Readonly<Record<string, number>>

/** Where each process hosts one rank. */
export default async function main(world: Communicator, cases: readonly CollectiveCase[]): Promise<Figures> {
  const [figures] = await hosted([world], cases)
  return figures
}

/** Microseconds by key. */
export async function hosted(
  worlds: readonly Communicator[],
  cases: readonly CollectiveCase[],
): Promise<Figures[]> {
  const figures: Record<string, number> = {}
  for (const one of cases) figures[one.key] = await timedHosted(worlds, await prepare(worlds, one), one)
  return worlds.map(() => figures)
}

type Operations = (iterations: number) => Promise<void>

/** The operation in a loop, after its result has been checked. */
async function prepare(
  worlds: readonly Communicator[],
  { kind, topology = '', strategy }: CollectiveCase,
): Promise<Operations> {
  if (kind === 'barrier') {
    return async (iterations) => {
      for (let i = 0; i < iterations; i++) await together(worlds, (world) => world.barrier())
    }
  }
  if (kind === 'allreduce') return prepareAllreduce(worlds)
  const built = buildTopology(topology)
  const options = strategy === undefined ? {} : { strategy }
  const graphs = await Promise.all(worlds.map((world) => world.createTopology(built, options)))
  return prepareNeighbor(graphs, kind === 'persistent')
}

async function prepareAllreduce(worlds: readonly Communicator[]): Promise<Operations> {
  const { size } = worlds[0]
  const mine = worlds.map(() => new Float64Array(1))
  const options = worlds.map(() => ({ into: new Float64Array(1) }))
  const operations: Operations = async (iterations) => {
    for (let i = 0; i < iterations; i++)
      await together(worlds, (world, k) => world.allreduce(mine[k], 'sum', options[k]))
  }
  for (let i = 0; i < 3; i++) {
    for (const [n, { rank }] of worlds.entries()) mine[n][0] = rank + i
    await operations(1)
    for (const { into } of options) expectEqual(into[0], (size * (size - 1)) / 2 + i * size, 'allreduce')
  }
  return operations
}

async function prepareNeighbor(
  graphs: readonly TopologyCommunicator[],
  persistent: boolean,
): Promise<Operations> {
  const mine = graphs.map(() => new Int32Array(1))
  const options = graphs.map(({ sources }) => ({ into: new Int32Array(sources.length) }))
  const requests = graphs.map((graph, n) =>
    persistent ? graph.neighborAllgatherInit(mine[n], options[n].into) : undefined,
  )
  const bound = requests.filter((request) => request !== undefined)
  const operations: Operations = persistent
    ? async (iterations) => {
        for (let i = 0; i < iterations; i++) await Communicator.startAll(bound)
      }
    : async (iterations) => {
        for (let i = 0; i < iterations; i++)
          await together(graphs, (graph, k) => graph.neighborAllgather(mine[k], options[k]))
      }
  for (let i = 0; i < 3; i++) {
    for (const [n, { rank }] of graphs.entries()) mine[n][0] = rank * 1000 + i
    await operations(1)
    for (const [n, { sources }] of graphs.entries())
      for (const [s, source] of sources.entries())
        expectEqual(options[n].into[s], source * 1000 + i, 'neighbor allgather')
  }
  return operations
}
