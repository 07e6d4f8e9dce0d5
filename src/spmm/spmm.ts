import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { givenOptions } from '../base/option-table.js'
import { RankweaveError, wrongValue } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import { type Machine, nodeOf } from '../machine/machine.js'
import type { PlanStatistics } from '../neighborhood/plan/plan.js'
import { planStatistics } from '../neighborhood/plan/plan.js'
import { blockBounds } from '../topology/compressed-rows.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { type NeighborTraffic, noTraffic } from '../topology-communicator/plan/neighbor-program.js'
import { type DenseRows, requireDense, requireReal } from './dense-matrix.js'
import { ordinaryName, type TriedExchange } from './fastest-exchange.js'
import { type MatrixRows, requireCommunicator, requireMatrixRows } from './matrix-rows.js'
import { type PreparedProduct, prepareProduct, requireColumns, type SpmmOptions } from './prepared-product.js'
import { type ProductTime, timeProducts } from './product-times.js'
import { allgatherExchange, neighborExchange, SparseProduct } from './sparse-product.js'

/** A rank's arguments of C = A x B; `blockBounds` distributes the rows of A, B and C. */
export interface SpmmProblem extends SpmmOptions {
  readonly a: MatrixRows
  readonly b: DenseRows
  /** Whether to multiply with direct sends and with an ordinary allgather as well, for comparison. */
  readonly compare: boolean
  /** The number of times that each product is timed, at least 1. Default: up to 9, fewer if all would take over 2 s. */
  readonly turns?: number
}

/** A rank's result of the product. */
export interface SpmmShare {
  /** The rows of C of this rank, one after another. */
  readonly product: Float64Array
  /** The facts on rank 0; null on the others. */
  readonly facts: SpmmFacts | null
  readonly process: number
  /** The traffic that this rank's process sent in the neighbor allgathers of the first product. */
  readonly traffic: Readonly<NeighborTraffic>
}

/** The facts that are the same for all ranks. */
export interface SpmmFacts {
  /** The topology of senders and receivers. */
  readonly topology: ProcessTopology
  /** The plan; null if an ordinary allgather was chosen. */
  readonly plan: (PlanStatistics & { readonly planMs: number }) | null
  /** The strategy that was used, as its line of text, `shared memory` or `ordinary allgather`. */
  readonly exchange: string
  /** The bytes of every block of an exchange. */
  readonly blockBytes: number
  /** The exchanges that `auto` without a machine tried, fastest first; null otherwise. */
  readonly tried: readonly TriedExchange[] | null
  /** The times of the product first, then, with a comparison, those of direct sends and of an ordinary allgather. */
  readonly times: readonly ProductTime[]
}

const knownOptions: OptionTable<SpmmProblem> = uncheckedOptions(
  'a',
  'b',
  'strategy',
  'machine',
  'columnsAtOnce',
  'compare',
  'turns',
)

/** @throws ERR_ARGUMENT for complex matrices, A and B that do not fit, columnsAtOnce < 1 and turns < 1 */
export function checkProblem(problem: Pick<SpmmProblem, 'a' | 'b' | 'columnsAtOnce' | 'turns'>): void {
  requireKnownOptions('spmm', problem, knownOptions)
  const { a, b, columnsAtOnce, turns } = problem
  requireMatrixRows('spmm: a', a)
  requireDense('spmm: b', b, 'values')
  requireReal(a.block, 'A')
  if (a.cols !== b.rows) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `A is ${a.rows} x ${a.cols}: expected B to have ${a.cols} rows, it is ${b.rows} x ${b.cols}`,
      { details: { rowsOfA: a.rows, colsOfA: a.cols, rowsOfB: b.rows, colsOfB: b.cols } },
    )
  }
  requireColumns(columnsAtOnce)
  if (turns !== undefined && (!Number.isSafeInteger(turns) || turns < 1))
    throw wrongValue('ERR_ARGUMENT', 'spmm: expected at least 1 turn', turns)
}

/**
 * Computes and times the product, row-wise block-striped sparse times dense. Collective. Frees all that it creates.
 *
 * @throws ERR_ARGUMENT see {@link checkProblem}; ERR_STRATEGY, ERR_MACHINE; ERR_COUNT for rows of B of another length
 * @see Ghazimirsaeed 2019 §7.6.3, Figure 7.13
 */
export async function spmm(world: Communicator, problem: SpmmProblem): Promise<SpmmShare> {
  requireCommunicator('spmm', world)
  checkProblem(problem)
  const { a, b, strategy, machine, columnsAtOnce, compare, turns } = problem
  const prepared = await prepareProduct(world, a, b.cols, {
    strategy,
    columnsAtOnce,
    ...givenOptions({ machine }),
  })
  const { graph, topology } = prepared
  const first = await prepared.product.multiply(b.values)
  const traffic = { ...noTraffic(), ...graph?.traffic }
  const products = [{ name: 'planned', product: prepared.product }]
  const graphs = graph === null ? [] : [graph]
  if (compare) {
    const owners = blockBounds(a.cols, world.size)
    const direct = await world.createTopology(topology, { strategy: { kind: 'direct' } })
    graphs.push(direct)
    for (const [name, exchange] of [
      ['direct', neighborExchange(direct)],
      [ordinaryName, allgatherExchange(world)],
    ] as const) {
      const product = new SparseProduct(a, owners, world.rank, b.cols, columnsAtOnce, exchange)
      products.push({ name, product })
    }
  }
  const times = await timeProducts(world, products, b.values, first, turns)
  const facts = world.rank === 0 ? await factsOf(prepared, machine, times) : null
  for (const { product } of products) product.free()
  for (const each of graphs) await each.free()
  return { product: first, facts, process: world.location.process, traffic }
}

async function factsOf(
  { graph, topology, exchange, tried, blockBytes }: PreparedProduct,
  machine: Machine | undefined,
  times: readonly ProductTime[],
): Promise<SpmmFacts> {
  const plan = graph === null ? null : await graph.plan({ bytes: blockBytes })
  const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
  return {
    topology,
    plan: plan === null ? null : { ...planStatistics(plan, nodes), planMs: plan.planMs },
    exchange,
    blockBytes,
    tried,
    times,
  }
}
