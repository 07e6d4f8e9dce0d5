import type { Communicator } from 'rankweave'
import { rowsOfDense, rowsOfMatrix, spmm } from 'rankweave/spmm'
import { blockBounds } from 'rankweave/topology'
import haloExchange from '../../examples/halo-exchange.js'
import splitGrid from '../../examples/split-grid.js'
import spmmExample from '../../examples/spmm.js'
import { serialProduct } from '../../src/spmm/dense-matrix.js'
import { matrixNames, readMatrix } from './matrices.js'

/**
 * All examples and real matrices on one world; of a matrix, how many elements of my rows differ from a serial
 * product.
 */
export default async function main(world: Communicator) {
  const halo = await haloExchange(world)
  const grid = await splitGrid(world)
  const product = await spmmExample(world)
  const differing: Record<string, number> = {}
  for (const name of matrixNames) differing[name] = await differences(world, name)
  return { halo, grid, product, differing }
}

const columns = 2

async function differences(world: Communicator, name: string): Promise<number> {
  const a = readMatrix(name)
  const values = Float64Array.from({ length: a.cols * columns }, (_, i) => Math.cos(i))
  const share = await spmm(world, {
    a: rowsOfMatrix(world, a),
    b: rowsOfDense(world, { rows: a.cols, cols: columns, values }),
    strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
    columnsAtOnce: 1,
    compare: false,
    turns: 1,
  })
  const rows = blockBounds(a.rows, world.size)
  const expected = serialProduct(a, values, columns).subarray(
    rows[world.rank] * columns,
    rows[world.rank + 1] * columns,
  )
  if (expected.length !== share.product.length) return Number.POSITIVE_INFINITY
  return expected.reduce((count, value, i) => count + (value === share.product[i] ? 0 : 1), 0)
}

/** Typed arrays as the command prints them. */
export function plain(_: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? [...(value as Float64Array)] : value
}
