/**
 * Sparse matrix times dense matrix, rows distributed over the ranks: the messages are planned from the
 * matrix.
 *
 *   rankweave run examples/spmm.ts -n 16
 *   rankweave run examples/spmm.ts -n 16 -- A.mtx
 *
 * C = A x B. A rank needs the rows of B that its part of A has columns for, so the pattern of A determines
 * who sends to whom: that is the process topology. Ranks with many destinations in common combine what they
 * send. It has two forms: `main` runs once per rank, `hosted` once per process for all ranks there.
 */
import { type Communicator, type Gathered, type TopologyCommunicator, together } from 'rankweave'
import {
  blockBounds,
  readMatrixMarket,
  type SparseMatrix,
  sourceOf,
  topologyFromMatrix,
} from 'rankweave/topology'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 3, 8, 16]

/** Columns of B. */
const width = 3

const entryOfB = (row: number, column: number) => Math.cos(row + 2 * column)

export default async function main(world: Communicator, args: readonly string[] = []) {
  const own = await Share.of(world, args)
  // A single collective sends the rows of B where they are needed.
  const arrived = await own.graph.neighborAllgatherv(own.rowsOfB)
  return own.result(await world.gatherv(own.multiply(arrived)))
}

/** Runs once per process: it makes one call for all of its ranks. */
export async function hosted(worlds: readonly Communicator[], args: readonly string[] = []) {
  const own = await Promise.all(worlds.map((world) => Share.of(world, args)))
  const graphs = own.map(({ graph }) => graph)
  const arrived = await together(graphs, (graph, n) => graph.neighborAllgatherv(own[n].rowsOfB))
  const whole = await together(worlds, (world, n) => world.gatherv(own[n].multiply(arrived[n])))
  return Promise.all(own.map((share, n) => share.result(whole[n])))
}

/** A rank's rows of A, B and C. A and B are distributed as evenly as possible. */
class Share {
  readonly a: SparseMatrix
  readonly graph: TopologyCommunicator
  readonly rowsOfB: Float64Array
  readonly #owners: Int32Array

  private constructor(a: SparseMatrix, graph: TopologyCommunicator) {
    this.a = a
    this.graph = graph
    this.#owners = blockBounds(a.cols, graph.size)
    this.rowsOfB = rowsOf(this.#owners, graph.rank, entryOfB)
  }

  static async of(world: Communicator, args: readonly string[]): Promise<Share> {
    const a = args.length > 0 ? readMatrixMarket(args[0]) : band(200, 30)
    const graph = await world.createTopology(topologyFromMatrix(a, { ranks: world.size }), {
      strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
    })
    return new Share(a, graph)
  }

  /** My rows of C. Block s of `arrived` is from `graph.sources[s]`. */
  multiply({ data, displs }: Gathered<Float64Array>): Float64Array {
    const { a, graph } = this
    // Each row of B that I have is stored in my own block, or in the one from its owner.
    const rowOfB = new Map<number, Float64Array>()
    const remember = (owner: number, block: Float64Array) => {
      for (let row = this.#owners[owner], at = 0; row < this.#owners[owner + 1]; row++, at += width) {
        rowOfB.set(row, block.subarray(at, at + width))
      }
    }
    remember(graph.rank, this.rowsOfB)
    for (const [s, source] of graph.sources.entries()) remember(source, data.subarray(displs[s]))

    const bounds = blockBounds(a.rows, graph.size)
    const [firstRow, endRow] = [bounds[graph.rank], bounds[graph.rank + 1]]
    const product = new Float64Array((endRow - firstRow) * width)
    for (let row = firstRow; row < endRow; row++) {
      for (let entry = a.rowStart[row]; entry < a.rowStart[row + 1]; entry++) {
        const factors = rowOfB.get(a.colIndex[entry])
        if (factors === undefined) throw new Error(`no rank sent row ${a.colIndex[entry]} of B`)
        for (let c = 0; c < width; c++) product[(row - firstRow) * width + c] += a.values[entry] * factors[c]
      }
    }
    return product
  }

  /** Returns the result on the rank that gathered the product; null on the others. */
  async result(whole: Gathered<Float64Array> | null) {
    if (whole === null) return null
    const { groups } = await this.graph.plan()
    const serial = serialProduct(this.a)
    const differing = serial.filter((value, i) => value !== whole.data[i]).length
    const edges = this.graph.topology.outRank.length
    return { product: whole.data, differing, edges, friendGroups: groups?.count ?? 0 }
  }
}

function rowsOf(bounds: Int32Array, rank: number, entry: (row: number, column: number) => number) {
  const rows = bounds[rank + 1] - bounds[rank]
  return Float64Array.from({ length: rows * width }, (_, i) =>
    entry(bounds[rank] + Math.floor(i / width), i % width),
  )
}

/** The product by its definition. */
function serialProduct(a: SparseMatrix): Float64Array {
  const product = new Float64Array(a.rows * width)
  for (let row = 0; row < a.rows; row++) {
    for (let entry = a.rowStart[row]; entry < a.rowStart[row + 1]; entry++) {
      for (let c = 0; c < width; c++) {
        product[row * width + c] += a.values[entry] * entryOfB(a.colIndex[entry], c)
      }
    }
  }
  return product
}

/** A banded matrix, in the text form that a file would have. */
function band(size: number, halfWidth: number): SparseMatrix {
  const lines: string[] = []
  for (let row = 1; row <= size; row++) {
    for (let column = Math.max(1, row - halfWidth); column <= Math.min(size, row + halfWidth); column++) {
      if ((row * column) % 3 !== 0) lines.push(`${row} ${column} ${Math.sin(row * column)}`)
    }
  }
  const header = `%%MatrixMarket matrix coordinate real general\n${size} ${size} ${lines.length}\n`
  return readMatrixMarket(sourceOf(header + lines.join('\n')))
}
