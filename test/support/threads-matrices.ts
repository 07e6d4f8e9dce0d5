import { type Communicator, parseStrategy, readMatrixMarket, spmm, topologyFromMatrix } from 'rankweave'

/** What every rank is told: files of matrices, and how to multiply. */
export interface Products {
  readonly files: readonly string[]
  readonly strategies: readonly string[]
  readonly columns: number
}

/** The dense factor: every element tells where it stands. */
export function denseFor(rows: number, columns: number) {
  const values = Float64Array.from({ length: rows * columns }, (_, i) => Math.sin(i + 1))
  return { rows, cols: columns, values }
}

/** Every product by every strategy; a rank returns its rows of each. */
export default async function main(world: Communicator, { files, strategies, columns }: Products) {
  const products: Float64Array[] = []
  for (const file of files) {
    const a = readMatrixMarket(file)
    for (const text of strategies) {
      const { product } = await spmm(world, {
        a,
        b: denseFor(a.cols, columns),
        topology: topologyFromMatrix(a, { ranks: world.size }),
        strategy: parseStrategy(text),
        columnsAtOnce: 3,
        compare: false,
      })
      products.push(product)
    }
  }
  return products
}
