import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import type { Communicator } from '../comm/communicator.js'
import { wrongValue } from '../errors.js'
import type { Machine } from '../machine/machine.js'
import { type AutoStrategy, isAuto, parseAuto } from '../neighborhood/choose/auto.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { formatStrategy, parseStrategyBeside } from '../neighborhood/strategies/strategy-text.js'
import { blockBounds } from '../topology/compressed-rows.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { machineOfWorld } from '../topology-communicator/create.js'
import { installNeighborhood } from '../topology-communicator/install.js'
import type { TopologyCommunicator } from '../topology-communicator/topology-communicator.js'
import { requireReal, zeros } from './dense-matrix.js'
import { fastestExchange, type TriedExchange } from './fastest-exchange.js'
import { longestBlock, sourcesOf } from './local-block.js'
import { type MatrixRows, requireCommunicator, requireMatrixRows } from './matrix-rows.js'
import { type BlockExchange, neighborExchange, SparseProduct } from './sparse-product.js'

/** How rows of B are exchanged. */
export interface SpmmOptions {
  /**
   * `auto` without a machine: {@link fastestExchange} tries direct sends, an ordinary allgather and what
   * might be faster; with a machine that has a profile: the simulator's choice for it. The machine of the world
   * counts where none is given.
   */
  readonly strategy: Strategy | AutoStrategy
  readonly machine?: Machine
  /** Columns of B per exchange, at least 1. */
  readonly columnsAtOnce: number
}

/** A strategy from its line of text, `auto` included. @throws ERR_STRATEGY */
export function parseSpmmStrategy(text: string): Strategy | AutoStrategy {
  return parseAuto(text) ?? parseStrategyBeside(['auto'], text)
}

/** A product that is ready to be computed often, and how its rows travel. */
export interface PreparedProduct {
  readonly product: SparseProduct
  /** The caller frees it after the product. Null where an ordinary allgather was chosen. */
  readonly graph: TopologyCommunicator | null
  /** The strategy's line of text, `shared memory` or `ordinary allgather`. */
  readonly exchange: string
  /** Who sends to whom. */
  readonly topology: ProcessTopology
  /** What `auto` without a machine tried, fastest first; null otherwise. */
  readonly tried: readonly TriedExchange[] | null
  readonly blockBytes: number
}

const knownOptions: OptionTable<SpmmOptions> = uncheckedOptions('strategy', 'machine', 'columnsAtOnce')

/**
 * Prepares products of A with any number of B of `width` columns: finds out who needs rows of whom, plans,
 * and binds persistent requests. Row-wise block-striped: each rank receives the blocks of B that its columns
 * of A need. The edges between ranks are gathered on every process; the matrix is not. Collective.
 *
 * @throws ERR_ARGUMENT for a complex matrix and columnsAtOnce < 1, before anything is sent, and for blocks
 *   that memory cannot hold; ERR_STRATEGY, ERR_MACHINE
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
  installNeighborhood()
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
    // Planned here, so that the product's time does not include it.
    await graph.plan({ bytes })
    // A strategy that was given is not chosen.
    const chosen = graph.choice({ bytes })
    const exchange = chosen?.chosen.strategy ?? formatStrategy(strategy as Strategy)
    return { ...prepared, product: productOf(width, neighborExchange(graph)), graph, exchange, tried: null }
  }
  // The graph determined who needs whose rows; the exchanges that are tried make their own graphs.
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

/** @throws ERR_ARGUMENT for columns per exchange that are no integer of at least 1 */
export function requireColumns(columnsAtOnce: number): void {
  if (Number.isSafeInteger(columnsAtOnce) && columnsAtOnce >= 1) return
  throw wrongValue('ERR_ARGUMENT', 'expected at least 1 column per exchange', columnsAtOnce)
}
