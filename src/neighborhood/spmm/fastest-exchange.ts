import type { Communicator } from '../../comm/communicator.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { createTopology } from '../constructors.js'
import type { Strategy } from '../plan/strategy.js'
import { formatStrategy } from '../plan/strategy-text.js'
import type { TopologyCommunicator } from '../topology-communicator.js'
import { allgatherExchange, type BlockExchange, neighborExchange } from './sparse-product.js'

/** An exchange that was tried. */
export interface Trial {
  /** A strategy's line of text, or `ordinary allgather`. */
  readonly name: string
  /** Of one exchange, of the slowest rank: measured. */
  readonly seconds: number
}

/** What was found to be fastest. */
export interface FastestExchange {
  /** As of its trial. */
  readonly name: string
  readonly exchange: BlockExchange
  /** Null for an ordinary allgather. */
  readonly graph: TopologyCommunicator | null
  readonly trials: readonly Trial[]
}

/** An exchange under trial. */
interface Candidate {
  readonly name: string
  readonly exchange: BlockExchange
  readonly graph: TopologyCommunicator | null
  readonly start: () => Promise<void>
  /** Frees the request that was on trial. Local. */
  readonly release: () => void
  readonly samples: number[]
}

/** In trials, times and predictions. The strategy `allgather` is another thing: a route of a neighbor allgather. */
export const ordinaryName = 'ordinary allgather'

/** More edges than this are not searched for friend groups on trial. */
const mostEdges = 2 ** 18
const warmUps = 3
const rounds = 7
const turnSeconds = 0.002
const mostStarts = 20
/** Slower than the fastest by this factor after the warm-up, a candidate takes no further part. */
const hopeless = 4
/** A later candidate must be faster than an earlier, simpler one by this. */
const clearly = 0.9

/**
 * Tries direct sends, an ordinary allgather and some strategies that combine messages, with blocks of the length to come,
 * and returns the fastest. The times are those of the slowest rank, agreed on by all, so all choose the same. Collective.
 *
 * Costs the plans of up to six strategies, and of each exchange 3 starts and, unless it is hopeless, 7 to 140 more.
 *
 * @param topology the same on all ranks
 * @param blockElems doubles of a block
 */
export async function fastestExchange(
  world: Communicator,
  topology: ProcessTopology,
  blockElems: number,
): Promise<FastestExchange> {
  const mine = new Float64Array(blockElems)
  const candidates: Candidate[] = []
  const add = (name: string, exchange: BlockExchange, graph: TopologyCommunicator | null) => {
    const request = exchange.bind(mine, new Float64Array(exchange.sources.length * blockElems))
    const [start, release] = [() => request.start(), () => request.free()]
    candidates.push({ name, exchange, graph, start, release, samples: [] })
  }
  for (const strategy of strategiesToTry(world.size, topology.outRank.length)) {
    const graph = await createTopology(world, topology, { strategy })
    add(formatStrategy(strategy), neighborExchange(graph), graph)
    if (strategy.kind === 'direct') add(ordinaryName, allgatherExchange(world), null)
  }
  const first: number[] = []
  for (const { start } of candidates) first.push(await lastOf(world, start))
  const best = first.reduce((least, seconds) => Math.min(least, seconds))
  const hopeful = candidates.filter((_, i) => first[i] <= hopeless * best)
  const starts = Math.max(1, Math.min(mostStarts, Math.ceil(turnSeconds / best)))
  for (let round = 0; round < rounds; round++) {
    for (const { start, samples } of hopeful) samples.push(await secondsOf(world, start, starts))
  }
  const seconds = candidates.map(({ samples }, i) => (samples.length === 0 ? first[i] : median(samples)))
  let fastest = 0
  for (let i = 1; i < candidates.length; i++) if (seconds[i] < clearly * seconds[fastest]) fastest = i
  const { name: fastestName, exchange, graph } = candidates[fastest]
  for (const [i, { graph: tried, release }] of candidates.entries()) {
    release()
    if (i !== fastest && tried !== null) await tried.free()
  }
  const trials = candidates.map(({ name }, i) => ({ name, seconds: seconds[i] }))
  return { name: fastestName, exchange, graph, trials: trials.sort((a, b) => a.seconds - b.seconds) }
}

/** Direct sends first; the others where there is something to combine. */
function strategiesToTry(ranks: number, edges: number): readonly Strategy[] {
  const direct: Strategy = { kind: 'direct' }
  if (ranks < 4 || edges <= ranks) return [direct]
  const near = Math.ceil(Math.sqrt(ranks))
  const friends: readonly Strategy[] =
    edges > mostEdges
      ? []
      : [
          { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
          { kind: 'common-neighbor', k: 4, mode: 'agnostic' },
        ]
  return [
    direct,
    { kind: 'routed' },
    { kind: 'routed', radices: [near, near] },
    { kind: 'allgather' },
    ...friends,
  ]
}

/** Seconds of the last of some starts, after which everything is compiled and planned. */
async function lastOf(world: Communicator, start: () => Promise<void>): Promise<number> {
  for (let i = 1; i < warmUps; i++) await start()
  return secondsOf(world, start, 1)
}

/** Seconds per start of the slowest rank. */
async function secondsOf(world: Communicator, start: () => Promise<void>, starts: number): Promise<number> {
  await world.barrier()
  const begin = performance.now()
  for (let i = 0; i < starts; i++) await start()
  return world.allreduce((performance.now() - begin) / 1000 / starts, 'max')
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]
}
