import { medianOf, smallestOf } from '../base/search.js'
import { canPublish } from '../calls/program/publication.js'
import type { Communicator } from '../comm/communicator.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../neighborhood/strategies/strategy-text.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { TimedComparison } from '../topology-communicator/execute/timed-comparison.js'
import type { TopologyCommunicator } from '../topology-communicator/topology-communicator.js'
import { secondsOfTurn } from './product-times.js'
import {
  allgatherExchange,
  type BlockExchange,
  neighborExchange,
  type SparseProduct,
  sharedExchange,
} from './sparse-product.js'
import { strategiesToTry } from './strategies-to-try.js'

/** An exchange that was tried. */
export interface TriedExchange {
  /** A strategy's line of text, `shared memory` or `ordinary allgather`. */
  readonly name: string
  /** Of one product by it, between two barriers: measured. */
  readonly seconds: number
}

/** What was found to be fastest. */
export interface FastestExchange {
  /** As it was tried. */
  readonly name: string
  readonly exchange: BlockExchange
  /** Null for an ordinary allgather. */
  readonly graph: TopologyCommunicator | null
  /** Fastest first. */
  readonly tried: readonly TriedExchange[]
}

/** An exchange that is being tried, and a product by it. */
interface Candidate {
  readonly name: string
  readonly exchange: BlockExchange
  readonly graph: TopologyCommunicator | null
  readonly product: SparseProduct
}

/** In times and predictions. The strategy `allgather` is another thing: a route of a neighbor allgather. */
export const ordinaryName = 'ordinary allgather'

/** In times: direct, but neighbors read blocks where they are. */
export const sharedName = 'shared memory'

const warmUps = 3
/** Products are repeated until those of a turn take this long. */
const turnSeconds = 0.003
const mostRepeats = 1000
/** Slower than the fastest by this factor after the warm-up, a candidate takes no further part. */
const hopeless = 4
const leastRounds = 9
const mostRounds = 41
/** More rounds than the least take no longer than this together. */
const mostSeconds = 2
/** Medians as close as this are a tie, which the simpler exchange wins. */
const tie = 1.03
/**
 * The simpler exchange also wins unless the other wins 7 of 9 rounds, or 26 of 41: one of two equal ones does
 * so in 9% and 6% of trials.
 */
const lead = 1.65

/**
 * The product of zeros that exchanges are tried with: of the rank's part of A, and with as many columns as
 * are exchanged at once.
 */
export interface ProductOnTrial {
  by(exchange: BlockExchange): SparseProduct
  readonly b: Float64Array
  readonly into: Float64Array
}

/**
 * Multiplies with direct sends, blocks that are read in shared memory where there is such memory, an ordinary
 * allgather and, where processes have many peers, strategies that combine messages, in turn, and returns what
 * is fastest. The times are those of the slowest rank, agreed on by all, so all choose the same. Ends when
 * the times are apart, or after 41 rounds, and after at least 9 when those took 2 seconds; what combines has
 * to be faster by 3%, and in clearly more than half of the rounds. Collective.
 *
 * Costs the plans of up to six strategies. Memory: that of a product by each.
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
