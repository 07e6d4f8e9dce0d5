import { medianOf, smallestOf } from '../base/search.js'
import { canPublish } from '../calls/program/publication.js'
import { fastestAllgather, mostAllgatherRanks } from '../cost/choose/choose-algorithm.js'
import { simulate } from '../cost/simulate/simulate.js'
import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import type { Machine } from '../machine/machine.js'
import { chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
import { plan } from '../neighborhood/plan/plan.js'
import { formatStrategy, type Strategy } from '../neighborhood/strategies/strategies.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { TimedComparison } from '../topology-communicator/collectives/timed-comparison.js'
import { secondsOfTurn } from './product-times.js'
import {
  allgatherExchange,
  type BlockExchange,
  neighborExchange,
  type SparseProduct,
  sharedExchange,
} from './sparse-product.js'

export interface TriedExchange {
  /** The strategy's line of text, `shared memory` or `ordinary allgather`. */
  readonly name: string
  /** The measured time of one product, between two barriers. */
  readonly seconds: number
}

/** The fastest exchange that trials found. */
interface FastestExchange {
  /** The name under which it was tried. */
  readonly name: string
  readonly exchange: BlockExchange
  /** The graph of the exchange; null for an ordinary allgather. */
  readonly graph: TopologyCommunicator | null
  /** All exchanges that were tried, fastest first. */
  readonly tried: readonly TriedExchange[]
}

/** An exchange that is being tried, and a product that uses it. */
interface Candidate {
  readonly name: string
  readonly exchange: BlockExchange
  readonly graph: TopologyCommunicator | null
  readonly product: SparseProduct
}

/** The name in lists of times and predictions. It is not the strategy `allgather`, a route of a neighbor allgather. */
export const ordinaryName = 'ordinary allgather'

/** The name in lists of times for direct exchanges in which neighbors read blocks in place. */
const sharedName = 'shared memory'

const warmUps = 3
/** Products are repeated until those of a turn take this many seconds. */
const turnSeconds = 0.003
const mostRepeats = 1000
/** A candidate that is slower than the fastest by this factor after the warm-up leaves the trial. */
const hopeless = 4
const leastRounds = 9
const mostRounds = 41
/** After this many seconds in total, no further rounds begin beyond the least. */
const mostSeconds = 2
/** Medians as close as this are a tie, which the simpler exchange wins. */
const tie = 1.03
/**
 * The simpler exchange also wins unless the other wins 7 of 9 rounds, or 26 of 41. One of two equal exchanges does so
 * in 9% and 6% of trials.
 */
const lead = 1.65

/** The product of zeros for trials: with the rank's part of A, and with as many columns as one exchange carries. */
interface ProductOnTrial {
  by(exchange: BlockExchange): SparseProduct
  readonly b: Float64Array
  readonly into: Float64Array
}

/**
 * Multiplies with each candidate in turn and returns the fastest. Candidates are direct sends, blocks read in shared
 * memory if there is any, and an ordinary allgather. If processes have many peers, strategies that combine messages
 * follow. The times are those of the slowest rank, agreed on by all, so all choose the same. Ends when the times differ
 * clearly, or after 41 rounds, and after at least 9 if those took 2 seconds. A combining strategy has to be faster by
 * 3%, and in clearly more than half of the rounds. Collective. Costs the plans of up to six strategies. Memory: that of
 * a product by each.
 *
 * @param topology the same on all ranks
 */
export async function fastestExchange(
  world: Communicator,
  topology: ProcessTopology,
  { by, b, into }: ProductOnTrial,
): Promise<FastestExchange> {
  const processOf = await world.allgather(Int32Array.of(world.location.process))
  const planned = async (name: string, strategy: Strategy, exchangeOf = neighborExchange) => {
    const graph = await world.createTopology(topology, { strategy })
    const exchange = exchangeOf(graph)
    return { name, exchange, graph, product: by(exchange) }
  }
  const direct = { kind: 'direct' } as const
  const candidates: Candidate[] = [await planned(formatStrategy(direct), direct)]
  if (canPublish(world.seat().state)) candidates.push(await planned(sharedName, direct, sharedExchange))
  if (topology.outRank.length > 0) {
    const exchange = allgatherExchange(world)
    candidates.push({ name: ordinaryName, exchange, graph: null, product: by(exchange) })
  }
  for (const strategy of strategiesToTry(topology, processOf))
    candidates.push(await planned(formatStrategy(strategy), strategy))

  const first: number[] = []
  for (const { product } of candidates) {
    const seconds: number[] = []
    for (let i = 0; i < warmUps; i++) seconds.push(await secondsOfTurn(world, product, b, into, 1))
    first.push(smallestOf(seconds))
  }
  const best = smallestOf(first)
  const hopeful = [...candidates.keys()].filter((i) => first[i] <= hopeless * best)
  const repeats = Math.min(mostRepeats, Math.max(1, Math.ceil(turnSeconds / best)))
  const roundSeconds = repeats * hopeful.reduce((sum, i) => sum + first[i], 0)
  const rounds = Math.max(leastRounds, Math.min(mostRounds, Math.floor(mostSeconds / roundSeconds)))
  const comparison = new TimedComparison(hopeful.length, { leastRounds, mostRounds: rounds, tie, lead })
  while (comparison.chosen === null) {
    const { product } = candidates[hopeful[comparison.next]]
    comparison.agree(await secondsOfTurn(world, product, b, into, repeats))
  }
  const fastest = candidates[hopeful[comparison.chosen]]
  const tried = candidates.map(({ name }, i) => {
    const samples = comparison.samples[hopeful.indexOf(i)] ?? []
    return { name, seconds: samples.length === 0 ? first[i] : medianOf(samples) }
  })
  for (const { product, graph } of candidates) {
    product.free()
    if (graph !== fastest.graph) await graph?.free()
  }
  const { name, exchange, graph } = fastest
  return { name, exchange, graph, tried: tried.sort((x, y) => x.seconds - y.seconds) }
}

/** The most edges for which trials search friend groups. */
const mostEdges = 2 ** 18

/**
 * Returns strategies that combine messages and may be faster than direct sends; none if there is too little to combine.
 * The result is the same for equal topologies and placements. Combining saves frames between processes: directly, a
 * process sends one to every process that it has data for. Combining needs lg P steps, one after the other, and copies
 * blocks on the way. It is tried only if it could save every second frame of the busiest process.
 *
 * @param processOf the process of every rank
 */
export function strategiesToTry(
  topology: ProcessTopology,
  processOf: ArrayLike<number>,
): readonly Strategy[] {
  const { ranks, outRank } = topology
  const processes = new Set(Array.from(processOf)).size
  if (mostPeers(topology, processOf) <= 2 * Math.ceil(Math.log2(processes))) return []
  const near = Math.ceil(Math.sqrt(ranks))
  return [
    { kind: 'routed' },
    { kind: 'routed', radices: [near, near] },
    { kind: 'allgather' },
    ...(outRank.length > mostEdges
      ? []
      : [2, 4].map((k): Strategy => ({ kind: 'common-neighbor', k, mode: 'agnostic' }))),
  ]
}

/** Returns how many other processes the busiest process sends to, or receives from, if ranks send directly. */
export function mostPeers(topology: ProcessTopology, processOf: ArrayLike<number>): number {
  const { outStart, outRank, inStart, inRank } = topology
  return Math.max(peersOf(outStart, outRank, processOf), peersOf(inStart, inRank, processOf))
}

function peersOf(
  start: ArrayLike<number>,
  neighbor: ArrayLike<number>,
  processOf: ArrayLike<number>,
): number {
  const peers = new Map<number, Set<number>>()
  let most = 0
  for (let rank = 0; rank + 1 < start.length; rank++) {
    const own = processOf[rank]
    const known = peers.get(own) ?? new Set()
    peers.set(own, known)
    for (let edge = start[rank]; edge < start[rank + 1]; edge++) {
      const other = processOf[neighbor[edge]]
      if (other !== own) known.add(other)
    }
    most = Math.max(most, known.size)
  }
  return most
}

/** The predicted time of one exchange. */
interface PredictedExchange {
  /** The name: `planned`, `auto: STRATEGY`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** The time; null for an ordinary allgather of more than {@link mostAllgatherRanks}, which is not simulated. */
  readonly timeUs: number | null
}

/**
 * Simulates one exchange of a product on a machine with one rank per core. Compares the strategy that was used, the
 * library's own choice there, direct sends and the best algorithm of an ordinary allgather, up to {@link
 * mostAllgatherRanks}.
 *
 * @param bytes of every block
 * @param strategy null if an ordinary allgather was used
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 */
export function predictExchanges(
  topology: ProcessTopology,
  machine: Machine,
  bytes: number,
  strategy: Strategy | null,
): readonly PredictedExchange[] {
  const { ranks } = topology
  const planned = (by: Strategy) =>
    simulate(plan(topology, by, { machine }).schedule, machine, { bytes }).timeUs
  const ordinary =
    ranks > mostAllgatherRanks ? null : fastestAllgather(ranks, machine, bytes).simulation.timeUs
  const { chosen } = chooseStrategy(topology, machine, { bytes })
  return [
    ...(strategy === null ? [] : [{ name: 'planned', timeUs: planned(strategy) }]),
    { name: `auto: ${chosen.strategy}`, timeUs: chosen.timeUs },
    { name: 'direct', timeUs: planned({ kind: 'direct' }) },
    { name: ordinaryName, timeUs: ordinary },
  ]
}
