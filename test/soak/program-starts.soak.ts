import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Communicator } from '../../src/comm/communicator.js'
import { run } from '../../src/launch/run.js'
import { installNeighborhood } from '../../src/neighborhood/install.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'

installNeighborhood()
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const starts = 1_000_000
/** Friends 0 and 1 with the common neighbors 2 and 3: frames of two rounds. */
const pairs = [2, 3].flatMap((common) => [0, 1].map((friend) => [friend, common] as const))
const topology = topologyFromEdges(4, {
  sources: pairs.map(([source]) => source),
  destinations: pairs.map(([, destination]) => destination),
})

it.each([1, 2, 4])(
  'a million starts of a persistent request on %i processes retain nothing',
  async (processes) => {
    let growthBytes = 0
    await run(
      async (world: Communicator) => {
        const graph = await world.createTopology(topology, {
          strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 },
        })
        const request = graph.neighborAllgatherInit(
          Float64Array.of(world.rank),
          new Float64Array(graph.sources.length),
        )
        let before = 0
        for (let start = 0; start < starts; start++) {
          if (start === 1_000 && world.rank === 0) {
            collectGarbage()
            before = process.memoryUsage().heapUsed
          }
          await request.start()
        }
        await world.barrier()
        if (world.rank > 0) return
        collectGarbage()
        growthBytes = process.memoryUsage().heapUsed - before
      },
      { ranks: 4, processes },
    )
    console.log(JSON.stringify({ processes, starts, growthBytes }))
    // A quarter of a byte per start: what code and caches that warm up may take.
    expect(growthBytes).toBeLessThan(2 ** 18)
  },
)
