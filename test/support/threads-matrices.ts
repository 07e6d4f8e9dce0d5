import type { Communicator } from 'rankweave'
import { parseStrategy } from 'rankweave/schedule'
import { rowsOfDense, rowsOfMatrix, spmm } from 'rankweave/spmm'
import { readMatrix } from './matrices.js'

/** The arguments of every rank: names of matrices, and how to multiply. */
export interface Products {
  readonly names: readonly string[]
  readonly strategies: readonly string[]
  readonly columns: number
}

/** The dense factor: every element differs from the others. */
export function denseFor(rows: number, columns: number) {
  const values = Float64Array.from({ length: rows * columns }, (_, i) => Math.sin(i + 1))
  return { rows, cols: columns, values }
}

/** Every product by every strategy; a rank returns its rows of each. */
export default async function main(world: Communicator, { names, strategies, columns }: Products) {
  const products: Float64Array[] = []
  for (const name of names) {
    const a = readMatrix(name)
    for (const text of strategies) {
      const { product } = await spmm(world, {
        a: rowsOfMatrix(world, a),
        b: rowsOfDense(world, denseFor(a.cols, columns)),
        strategy: parseStrategy(text),
        columnsAtOnce: 3,
        compare: false,
        turns: 1,
      })
      products.push(product)
    }
  }
  return products
}
