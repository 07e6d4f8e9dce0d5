// One case in its own process, so that the first run is a cold one. Prints one JSON object.

import { local } from '../src/fabric/local/local.js'
import { run } from '../src/launch/run.js'
import { nodeOf as nodesOfMachine } from '../src/machine/machine.js'
import { parseMachine } from '../src/machine/machine-text.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { groupFriends } from '../src/topology/grouping/group-friends.js'
import { inNeighbors, outNeighbors } from '../src/topology/neighbors.js'

const [how, spec, machine, k, runs, processes] = process.argv.slice(2)
const topology = buildTopology(spec)

if (how === 'plan') {
  const nodeOf = machine === '' ? null : nodesOfMachine(parseMachine(machine), topology.ranks)
  const options = { k: Number(k), mode: nodeOf === null ? 'agnostic' : 'aware', nodeOf } as const
  const seconds: number[] = []
  let found = groupFriends(topology, options)
  seconds.push(found.timeMs / 1000)
  while (seconds.length <= Number(runs)) {
    found = groupFriends(topology, options)
    seconds.push(found.timeMs / 1000)
  }
  const { count, steps, weight } = found
  const peakGiB = process.resourceUsage().maxRSS / 2 ** 20
  console.log(JSON.stringify({ ranks: topology.ranks, seconds, groups: count, steps, weight, peakGiB }))
} else {
  const results: unknown[] = []
  for (let i = 0; i <= Number(runs); i++) {
    await run(
      async (world) => {
        await world.barrier()
        const begin = performance.now()
        const graph = await world.createDistGraphAdjacent({
          sources: inNeighbors(topology, world.rank),
          destinations: outNeighbors(topology, world.rank),
          strategy: { kind: 'common-neighbor', k: Number(k), mode: 'aware', engine: 'distributed' },
          machine: parseMachine(machine),
        })
        await world.barrier()
        const seconds = (performance.now() - begin) / 1000
        if (world.rank !== 0) return
        const { groups } = await graph.plan()
        results.push({
          seconds,
          messages: groups?.messages,
          weight: groups?.weight,
          steps: groups?.steps,
          waves: groups?.waves,
        })
      },
      { ranks: topology.ranks, fabric: local({ processes: Number(processes) }) },
    )
  }
  console.log(JSON.stringify({ ranks: topology.ranks, results }))
}
