import type { Communicator } from 'rankweave'
import { parseMachine } from 'rankweave/machine'
import { formatSchedule, parseStrategy, plan, type Strategy } from 'rankweave/schedule'
import { buildTopology, inNeighbors, outNeighbors } from 'rankweave/topology'

/**
 * Topologies of 24 ranks and how their ranks are grouped: with the nodes of a machine and with those of the
 * world.
 */
export const groupingCases: readonly { topology: string; strategy: string; machine?: string }[] = [
  { topology: 'moore:4x6:r=1', strategy: 'common-neighbor:k=2,mode=agnostic,theta=1' },
  { topology: 'er:24:d=0.5:seed=3', strategy: 'common-neighbor:k=3,mode=agnostic,theta=2' },
  {
    topology: 'er:24:d=0.7:seed=4',
    strategy: 'common-neighbor:k=2,mode=aware,theta=1',
    machine: 'cluster:nodes=3,cores=8',
  },
  {
    topology: 'er:24:d=0.6:seed=5',
    strategy: 'common-neighbor:k=4,mode=aware,theta=2,dedupe=false,elide=false,labels=9',
    machine: 'cluster:nodes=2,cores=12',
  },
  { topology: 'er:24:d=0.5:seed=6', strategy: 'common-neighbor:k=2,mode=aware' },
  // No rank has friends.
  { topology: 'er:24:d=0.1:seed=7', strategy: 'common-neighbor:k=3,mode=agnostic' },
]

/**
 * Ranks that know only their own neighbors group themselves. Rank 0 reports for every case whether their
 * plan's file is that of the planner, byte for byte; every rank whether its blocks arrived, and how many
 * groups there are.
 */
export default async function main(world: Communicator): Promise<string[]> {
  const said: string[] = []
  for (const { topology: spec, strategy: text, machine } of groupingCases) {
    const topology = buildTopology(spec)
    const strategy = parseStrategy(text) as Extract<Strategy, { kind: 'common-neighbor' }>
    const where = machine === undefined ? {} : { machine: parseMachine(machine) }
    const graph = await world.createDistGraphAdjacent({
      sources: inNeighbors(topology, world.rank),
      destinations: outNeighbors(topology, world.rank),
      strategy: { ...strategy, engine: 'distributed' },
      ...where,
    })
    const lines = await graph.planLines(0)
    const { groups } = await graph.plan()
    const blocks = await graph.neighborAllgather(Int32Array.of(world.rank, -world.rank))
    const arrived = Array.from(inNeighbors(topology, world.rank), (source) => [source, -source]).flat()
    const isRight = blocks.join() === Int32Array.from(arrived).join()

    const nodeOf = Int32Array.from(await world.allgather(Int32Array.of(world.location.node)))
    let isSame = true
    if (lines !== null) {
      const planned = plan(topology, strategy, machine === undefined ? { nodeOf } : where)
      isSame = lines.join('\n') === [...formatSchedule(planned.schedule)].join('\n')
      if (planned.groups?.weight !== groups?.weight || planned.groups?.steps !== groups?.steps) isSame = false
    }
    said.push(`${isSame ? 'same' : 'other'} plan, ${isRight ? 'right' : 'wrong'} blocks`)
    await graph.free()
  }
  return said
}
