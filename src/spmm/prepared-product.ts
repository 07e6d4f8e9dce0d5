import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { wrongValue } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import type { Machine } from '../machine/machine.js'
import { type AutoStrategy, isAuto, parseAuto } from '../neighborhood/choose/auto.js'
import { formatStrategy, parseStrategyBeside, type Strategy } from '../neighborhood/strategies/strategies.js'
import { blockBounds } from '../topology/compressed-rows.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { machineOfWorld } from '../topology-communicator/create.js'
import { requireReal, zeros } from './dense-matrix.js'
import { fastestExchange, type TriedExchange } from './fastest-exchange.js'
import { type MatrixRows, requireCommunicator, requireMatrixRows } from './matrix-rows.js'
import {
  type BlockExchange,
  longestBlock,
  neighborExchange,
  SparseProduct,
  sourcesOf,
} from './sparse-product.js'

/** The options of the exchange of rows of B. */
export interface SpmmOptions {
  /**
   * The strategy, or `auto`. Without a machine, `auto` calls {@link fastestExchange}, which tries direct sends, an
   * ordinary allgather and candidates that might be faster. With a machine that has a profile, the simulator chooses.
   * The machine of the world is the default.
   */
  readonly strategy: Strategy | AutoStrategy
  readonly machine?: Machine
  /** The number of columns of B per exchange, at least 1. */
  readonly columnsAtOnce: number
}

/** Parses a strategy's line of text, `auto` included. @throws ERR_STRATEGY */
export function parseSpmmStrategy(text: string): Strategy | AutoStrategy {
  return parseAuto(text) ?? parseStrategyBeside(['auto'], text)
}

/** A product that is ready to be computed often, and the exchange that it uses. */
export interface PreparedProduct {
  readonly product: SparseProduct
  /** The graph, which the caller frees after the product; null if an ordinary allgather was chosen. */
  readonly graph: TopologyCommunicator | null
  /** The strategy's line of text, `shared memory` or `ordinary allgather`. */
  readonly exchange: string
  /** The topology of senders and receivers. */
  readonly topology: ProcessTopology
  /** The exchanges that `auto` without a machine tried, fastest first; null otherwise. */
  readonly tried: readonly TriedExchange[] | null
  readonly blockBytes: number
}

const knownOptions: OptionTable<SpmmOptions> = uncheckedOptions('strategy', 'machine', 'columnsAtOnce')

/**
 * Prepares products of A with any number of B of `width` columns: finds which ranks need rows of which others, plans,
 * and binds persistent requests. Row-wise block-striped: each rank receives the blocks of B that its columns of A need.
 * Every process gathers the edges between ranks, but not the matrix. Collective.
 *
 * @throws ERR_ARGUMENT for a complex matrix and columnsAtOnce < 1, before anything is sent, and for blocks that memory
 *   cannot hold; ERR_STRATEGY, ERR_MACHINE
 * @see Ghazimirsaeed 2019 §7.6.3, Figure 7.13
 */
export async function prepareProduct(
  world: Communicator,
  a: MatrixRows,
  width: number,
  options: SpmmOptions,
): Promise<PreparedProduct> {
  requireCommunicator('prepareProduct', world)
  requireMatrixRows('prepareProduct', a)
  requireKnownOptions('prepareProduct', options, knownOptions)
  if (!Number.isSafeInteger(width) || width < 0)
    throw wrongValue('ERR_ARGUMENT', 'prepareProduct: expected columns of B', width)
  const { strategy, machine, columnsAtOnce } = options
  requireReal(a.block, 'A')
  requireColumns(columnsAtOnce)
  const owners = blockBounds(a.cols, world.size)
  const columns = Math.min(columnsAtOnce, width)
  const needed = sourcesOf(a.block, owners, world.rank)
  const edges = {
    sources: needed,
    degrees: needed.map(() => 1),
    destinations: needed.map(() => world.rank),
  }
  const hasProfile = (machineOfWorld(world)?.profile ?? null) !== null
  const isMeasured = isAuto(strategy) && machine === undefined && !hasProfile
  const graph = await world.createDistGraph({
    ...edges,
    strategy: isMeasured ? { kind: 'direct' } : strategy,
    ...(machine === undefined ? {} : { machine }),
  })
  const bytes = 8 * longestBlock(owners) * columns
  const prepared = { blockBytes: bytes, topology: graph.topology }
  const productOf = (of: number, exchange: BlockExchange) =>
    new SparseProduct(a, owners, world.rank, of, columnsAtOnce, exchange)
  if (!isMeasured) {
    // Plan here, so that the product's time does not include it.
    await graph.plan({ bytes })
    // A given strategy leaves no choice to read.
    const chosen = graph.choice({ bytes })
    const exchange = chosen?.chosen.strategy ?? formatStrategy(strategy as Strategy)
    return { ...prepared, product: productOf(width, neighborExchange(graph)), graph, exchange, tried: null }
  }
  // The graph has determined which rows are needed; the exchanges that are tried make their own graphs.
  await graph.free()
  const found = await fastestExchange(world, prepared.topology, {
    by: (exchange) => productOf(columns, exchange),
    b: zeros('B', owners[world.rank + 1] - owners[world.rank], columns),
    into: zeros('the product', a.block.rows, columns),
  })
  return {
    ...prepared,
    product: productOf(width, found.exchange),
    graph: found.graph,
    exchange: found.name,
    tried: found.tried,
  }
}

/** @throws ERR_ARGUMENT unless the number of columns per exchange is an integer of at least 1 */
export function requireColumns(columnsAtOnce: number): void {
  if (Number.isSafeInteger(columnsAtOnce) && columnsAtOnce >= 1) return
  throw wrongValue('ERR_ARGUMENT', 'expected at least 1 column per exchange', columnsAtOnce)
}
