/**
 * Sparse matrix times dense matrix, rows distributed over the ranks: the messages are planned from the
 * matrix.
 *
 *   rankweave run examples/spmm.ts -n 16
 *   rankweave run examples/spmm.ts -n 16 -- A.mtx
 *
 * C = A x B. A rank needs the rows of B that its part of A has columns for, so the pattern of A determines
 * who sends to whom: that is the process topology. Ranks with many destinations in common combine what they
 * send.
 */
import type { Communicator } from 'rankweave'
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
  const a = args.length > 0 ? readMatrixMarket(args[0]) : band(200, 30)
  const topology = topologyFromMatrix(a, { ranks: world.size })
  const graph = await world.createTopology(topology, {
    strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
  })

  // My rows of A and C, my rows of B: both distributed as evenly as possible.
  const rowsOfA = blockBounds(a.rows, world.size)
  const rowsOfB = blockBounds(a.cols, world.size)
  const [firstRow, endRow] = [rowsOfA[world.rank], rowsOfA[world.rank + 1]]
  const mine = rowsOf(rowsOfB, world.rank, (row, column) => entryOfB(row, column))

  // One collective: the rows of B go where they are needed. Block s of the result is from graph.sources[s].
  const { data, displs } = await graph.neighborAllgatherv(mine)

  // Where each row of B is stored that I have: in my own block, or in the one from its owner.
  const rowOfB = new Map<number, Float64Array>()
  const remember = (owner: number, block: Float64Array) => {
    for (let row = rowsOfB[owner], at = 0; row < rowsOfB[owner + 1]; row++, at += width) {
      rowOfB.set(row, block.subarray(at, at + width))
    }
  }
  remember(world.rank, mine)
  for (const [s, source] of graph.sources.entries()) remember(source, data.subarray(displs[s]))

  const product = new Float64Array((endRow - firstRow) * width)
  for (let row = firstRow; row < endRow; row++) {
    for (let entry = a.rowStart[row]; entry < a.rowStart[row + 1]; entry++) {
      const factors = rowOfB.get(a.colIndex[entry])
      if (factors === undefined) throw new Error(`no rank sent row ${a.colIndex[entry]} of B`)
      for (let c = 0; c < width; c++) product[(row - firstRow) * width + c] += a.values[entry] * factors[c]
    }
  }

  const whole = await world.gatherv(product)
  if (whole === null) return null
  const { groups } = await graph.plan()
  const serial = serialProduct(a)
  const differing = serial.filter((value, i) => value !== whole.data[i]).length
  return { product: whole.data, differing, edges: topology.outRank.length, friendGroups: groups?.count ?? 0 }
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
