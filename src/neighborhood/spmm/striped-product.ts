import type { Communicator } from '../../comm/communicator.js'
import type { TopologyCommunicator } from '../topology-communicator.js'
import { type DenseMatrix, packColumns } from './dense-matrix.js'
import { type LocalBlock, multiplyInto } from './local-block.js'

/** An exchange bound to its buffers: `start` fills the halo from the rows of the other ranks. */
export interface BoundExchange {
  start(): Promise<void>
  free(): void
}

/** Binds an exchange: `counts[s]` elements of the halo come from the s-th source. Collective. */
export type BindExchange = (own: Float64Array, halo: Float64Array, counts: Int32Array) => BoundExchange

/** Receives rows of B from the ranks that have a row this rank needs: a neighbor allgather. */
export function fromNeighborAllgather(graph: TopologyCommunicator): BindExchange {
  return (own, halo, counts) => graph.neighborAllgathervInit(own, halo, { counts })
}

/** Receives the rows of B of every rank, needed or not: an ordinary allgather, the baseline. */
export function fromAllgather(comm: Communicator): BindExchange {
  return (own, halo, counts) => ({
    start: async () => void (await comm.allgatherv(own, { into: halo, counts })),
    free: () => {},
  })
}

/**
 * This rank's rows of C = A x B. `columnsAtOnce` columns of B are processed at a time: one exchange, one local product.
 * Collective.
 *
 * @param block this rank's rows of A
 * @param own this rank's rows of B
 * @returns `block.rows` rows of `own.cols` columns, one row after another
 * @see Ghazimirsaeed 2019 §7.6.3
 */
export async function stripedProduct(
  block: LocalBlock,
  own: DenseMatrix,
  columnsAtOnce: number,
  bind: BindExchange,
): Promise<Float64Array> {
  const product = new Float64Array(block.rows * own.cols)
  let from = 0
  while (from < own.cols) {
    // The last batch may have fewer columns: it gets buffers of that width.
    const width = Math.min(columnsAtOnce, own.cols - from)
    const operand = new Float64Array((block.ownRows + block.haloRows) * width)
    const mine = operand.subarray(0, block.ownRows * width)
    const halo = operand.subarray(mine.length)
    const exchange = bind(
      mine,
      halo,
      block.haloCounts.map((rows) => rows * width),
    )
    for (; from + width <= own.cols; from += width) {
      packColumns(own, from, from + width, mine)
      await exchange.start()
      multiplyInto(block, operand, width, product, own.cols, from)
    }
    exchange.free()
  }
  return product
}
