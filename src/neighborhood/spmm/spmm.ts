import type { Communicator } from '../../comm/communicator.js'
import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { blockBounds } from '../../topology/block-bounds.js'
import type { SparseMatrix } from '../../topology/matrix/sparse-matrix.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { createTopology } from '../constructors.js'
import type { NeighborTraffic } from '../execute/neighbor-traffic.js'
import type { Strategy } from '../plan/strategy.js'
import { type DenseMatrix, requireReal, sliceDense } from './dense-matrix.js'
import { localBlock } from './local-block.js'
import { rowsOfMatrix } from './matrix-rows.js'
import { fromAllgather, fromNeighborAllgather, stripedProduct } from './striped-product.js'

/** C = A x B. Every rank is given all of A and B, and reads only its own rows. */
export interface SpmmProblem {
  readonly a: SparseMatrix
  readonly b: DenseMatrix
  /** Which ranks need rows of B of which ranks: `topologyFromMatrix(a, { ranks })`. */
  readonly topology: ProcessTopology
  readonly strategy: Strategy
  readonly machine?: Machine
  /** Columns of B per exchange, at least 1. */
  readonly columnsAtOnce: number
  /** Also multiply with an ordinary allgather, for comparison. */
  readonly compare: boolean
}

/**
 * What one rank has when the product is done. Seconds between two barriers; with a comparison both sides run once to warm
 * up and then alternate, and the seconds are medians.
 */
export interface SpmmShare {
  /** This rank's rows of C, one after another. */
  readonly product: Float64Array
  /** The same with an ordinary allgather; null without a comparison. */
  readonly ordinary: Float64Array | null
  readonly seconds: { readonly neighbor: number; readonly ordinary: number | null }
  readonly process: number
  /** What this rank's process sent in the neighbor allgathers of the product. */
  readonly traffic: Readonly<NeighborTraffic>
}

/** @throws ERR_ARGUMENT complex matrices; A and B that do not fit; columnsAtOnce < 1 */
export function checkProblem({ a, b, columnsAtOnce }: SpmmProblem): void {
  requireReal(a, 'A')
  if (a.cols !== b.rows) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `A is ${a.rows} x ${a.cols}: expected B to have ${a.cols} rows, it is ${b.rows} x ${b.cols}`,
      { details: { rowsOfA: a.rows, colsOfA: a.cols, rowsOfB: b.rows, colsOfB: b.cols } },
    )
  }
  if (!Number.isSafeInteger(columnsAtOnce) || columnsAtOnce < 1) {
    throw new RankweaveError('ERR_ARGUMENT', `expected at least 1 column per exchange, got ${columnsAtOnce}`)
  }
}

/**
 * Row-wise block-striped sparse times dense: the rows of A, B and C are distributed in one block per rank; each rank
 * receives the rows of B that its columns of A need from its neighbors. Collective.
 *
 * @throws ERR_ARGUMENT see {@link checkProblem}
 * @see Ghazimirsaeed 2019 §7.6.3, Figure 7.13
 */
export async function spmm(world: Communicator, problem: SpmmProblem): Promise<SpmmShare> {
  checkProblem(problem)
  const { a, b, topology, strategy, machine, columnsAtOnce, compare } = problem
  const { rank, size } = world
  const graph = await createTopology(world, topology, {
    strategy,
    ...(machine === undefined ? {} : { machine }),
  })
  const rowsOfB = blockBounds(b.rows, size)
  const rows = rowsOfMatrix(world, a).block
  const own = sliceDense(b, rowsOfB[rank], rowsOfB[rank + 1])

  // Planned here, so that the product's time does not include it.
  await graph.plan()
  const block = localBlock(rows, rowsOfB, rank, graph.sources)
  const byNeighbors = () => stripedProduct(block, own, columnsAtOnce, fromNeighborAllgather(graph))
  const [product, first] = await timed(world, byNeighbors)
  const share = { product, process: world.location.process, traffic: { ...graph.traffic } }
  if (!compare) return { ...share, ordinary: null, seconds: { neighbor: first, ordinary: null } }

  const allRanks = Int32Array.from({ length: size }, (_, r) => r)
  const wholeBlock = localBlock(rows, rowsOfB, rank, allRanks)
  const byAllgather = () => stripedProduct(wholeBlock, own, columnsAtOnce, fromAllgather(world))
  const [ordinary, second] = await timed(world, byAllgather)
  const took = { neighbor: [] as number[], ordinary: [] as number[] }
  const turns = await world.bcast(turnsOf(first + second))
  for (let turn = 0; turn < turns; turn++) {
    took.neighbor.push((await timed(world, byNeighbors))[1])
    took.ordinary.push((await timed(world, byAllgather))[1])
  }
  return { ...share, ordinary, seconds: { neighbor: median(took.neighbor), ordinary: median(took.ordinary) } }
}

/** Repetitions of a comparison that took this long: odd, so that the median is a measured time. */
function turnsOf(bothSeconds: number): number {
  const fitting = Math.floor(comparisonSeconds / bothSeconds)
  return Math.max(1, Math.min(9, fitting % 2 === 0 ? fitting - 1 : fitting))
}

const comparisonSeconds = 2

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]
}

/** Seconds between two barriers. */
async function timed<T>(world: Communicator, operation: () => Promise<T>): Promise<[T, number]> {
  await world.barrier()
  const begin = performance.now()
  const result = await operation()
  await world.barrier()
  return [result, (performance.now() - begin) / 1000]
}
