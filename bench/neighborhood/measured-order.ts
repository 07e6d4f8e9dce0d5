import { simulate } from '../../src/cost/simulate/simulate.js'
import { local } from '../../src/fabric/local/local.js'
import { VirtualTime } from '../../src/fabric/local/virtual-time.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { run } from '../../src/launch/run.js'
import { simgridSlow } from '../../src/machine/built-in-profiles.js'
import type { Machine } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatStrategy, parseStrategy, type Strategy } from '../../src/neighborhood/strategies/strategies.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { type BenchOptions, type Figure, ownFigure } from '../bench.js'

const [ranks, nodes] = [64, 4]
const cores = ranks / nodes

/** One or two of every kind. Radices of a kind differ less than what virtual time leaves out. */
const strategies = [
  ...['direct', 'common-neighbor:k=4,mode=aware', 'routed:radices=2.2.2.2.2.2', 'routed:radices=8.8'],
  ...['hierarchical:between=4,inside=2.2.2.2', 'hierarchical:between=4,inside=16'],
  ...['lanes:radices=2.2.2.2', 'allgather:radices=2.2.2.2.2.2'],
].map(parseStrategy)
const onGrids = ['cartesian:windows=5/2.3', 'pipelined:steps=1.1,inside=16'].map(parseStrategy)

/**
 * Persistent neighbor allgathers of 64 ranks on 4 nodes of `local`, whose frames take as long as on the slow
 * network, executed with their data; the order of strategies is compared with the simulator's. Virtual links
 * are not shared and packing takes no time, so the blocks are short.
 */
export async function* measuredOrder({ quick = false }: BenchOptions): AsyncIterable<Figure> {
  const topologies = quick ? ['moore:8x8:r=2'] : ['moore:8x8:r=2', 'er:64:d=0.2:seed=1']
  const machine = parseMachine(`cluster:nodes=${nodes},cores=${cores},profile=simgrid-slow`)
  for (const name of topologies) {
    const topology = buildTopology(name)
    const pairs: { readonly strategy: string; readonly measured: number; readonly predicted: number }[] = []
    for (const strategy of name.startsWith('moore') ? [...strategies, ...onGrids] : strategies) {
      const measured = await exchange(name, strategy, machine)
      const predicted = simulate(plan(topology, strategy, { machine }).schedule, machine, { bytes: 4 }).timeUs
      const text = formatStrategy(strategy)
      pairs.push({ strategy: text, measured, predicted })
      yield {
        case: `${name} ${text}, 64 ranks on 4 nodes of local: virtual time, baseline predicted`,
        ...{ unit: 'us', ours: measured, peer: predicted, ratio: measured / predicted },
        ...{ target: null, met: null, runs: 1 },
      }
    }
    let apart = 0
    const swapped: string[] = []
    for (const a of pairs) {
      for (const b of pairs) {
        if (!(b.measured > 1.1 * a.measured)) continue
        apart++
        if (a.predicted >= b.predicted) swapped.push(`${a.strategy} < ${b.strategy}`)
      }
    }
    const figure = ownFigure(
      `${name}: pairs > 10% apart, predicted in another order`,
      'pairs',
      [swapped.length],
      0,
    )
    yield { ...figure, apart, ...(swapped.length > 0 ? { shown: swapped.join('; ') } : {}) }
  }
}

/** Virtual microseconds of one exchange, begun by all ranks at the same time. */
async function exchange(name: string, strategy: Strategy, machine: Machine): Promise<number> {
  const { node, network } = simgridSlow.levels
  const time = new VirtualTime({ node, network })
  const fabric = local({ processes: ranks, nodes, virtualTime: time })
  const together = meeting(() => {
    const now = Math.max(...Array.from({ length: ranks }, (_, process) => time.nowNs(process)))
    for (let process = 0; process < ranks; process++) time.compute(process, now - time.nowNs(process))
    return now
  })
  const main = async (world: Communicator): Promise<number> => {
    const comm = await world.createTopology(buildTopology(name), { strategy, machine })
    const into = new Int32Array(comm.sources.length)
    const request = comm.neighborAllgatherInit(Int32Array.of(comm.rank + 1), into)
    await request.start()
    await world.barrier()
    const begin = await together()
    await request.start()
    const took = time.nowNs(world.rank) - begin
    if (comm.sources.some((source, s) => into[s] !== source + 1)) throw new Error(`${name}: wrong data`)
    await together()
    await comm.free()
    return took
  }
  const times = await run(main, { ranks, fabric })
  return Math.max(...times) / 1000
}

/** Waits for all ranks without a message, then runs an action once; meets any number of times. */
function meeting(action: () => number): () => Promise<number> {
  let waiting: ((value: number) => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length < ranks) return
      const all = waiting
      waiting = []
      const value = action()
      for (const each of all) each(value)
    })
}
