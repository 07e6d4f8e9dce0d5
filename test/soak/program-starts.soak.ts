import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Communicator } from '../../src/handles/communicator.js'
import { run } from '../../src/launch/run.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { demanded } from '../support/soak.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const starts = demanded(1_000_000, 100_000)
/** Friends 0 and 1 with the common neighbors 2 and 3: frames of two rounds. */
const pairs = [2, 3].flatMap((common) => [0, 1].map((friend) => [friend, common] as const))
const topology = topologyFromEdges(4, {
  sources: pairs.map(([source]) => source),
  destinations: pairs.map(([, destination]) => destination),
})

interface Request {
  start(): Promise<unknown>
}

const requests: Readonly<Record<string, (world: Communicator) => Promise<Request>>> = {
  async neighborAllgatherInit(world) {
    const strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 } as const
    const graph = await world.createTopology(topology, { strategy })
    const received = new Float64Array(graph.sources.length)
    return graph.neighborAllgatherInit(Float64Array.of(world.rank), received)
  },
  async barrierInit(world) {
    return world.barrierInit()
  },
  async allreduceInit(world) {
    return world.allreduceInit(Float64Array.of(world.rank), new Float64Array(1), 'sum')
  },
}

const cases = Object.keys(requests).flatMap((call) =>
  [1, 2, 4].map((processes) => [call, processes] as const),
)

it.each(cases)('starts of %s on %i processes retain nothing', async (call, processes) => {
  let growthBytes = 0
  const main = async (world: Communicator) => {
    const request = await requests[call](world)
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
  }
  await run(main, { ranks: 4, processes })
  console.log(JSON.stringify({ call, processes, starts, growthBytes }))
  // Less than a byte per start: what code and caches that warm up may take.
  expect(growthBytes).toBeLessThan(2 ** 20)
})
