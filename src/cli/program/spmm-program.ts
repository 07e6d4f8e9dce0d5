import { mulberry32 } from '../../base/random.js'
import type { Communicator } from '../../handles/communicator.js'
import { type DenseRows, randomRows, toDenseRows } from '../../spmm/dense-matrix.js'
import { type MatrixRows, rowsOfMatrix } from '../../spmm/matrix-rows.js'
import type { SpmmOptions } from '../../spmm/prepared-product.js'
import { readMatrixRows } from '../../spmm/read-rows.js'
import { checkProblem, type SpmmShare, spmm } from '../../spmm/spmm.js'
import type { SparseMatrix } from '../../topology/files/sparse-matrix.js'
import { openInput } from '../input/open-input.js'

/** The product of `rankweave spmm`. */
export interface SpmmJob extends SpmmOptions {
  /** A Matrix Market file, or a generated matrix. */
  readonly a: string | MeshlessStencil
  /** A Matrix Market file, or seeded numbers. */
  readonly b: string | { readonly cols: number; readonly seed: number }
  readonly compare: boolean
  /** The number of times each product is timed. Default: as in {@link spmm}. */
  readonly turns?: number
  /** Whether ranks return their rows of A and B, so that the product can be checked. */
  readonly returnRows: boolean
}

export interface SpmmResult extends SpmmShare {
  readonly a: MatrixRows | null
  readonly b: DenseRows | null
  readonly shape: { readonly rows: number; readonly cols: number; readonly entries: number }
  readonly width: number
}

/** The last generated matrix: all ranks of a thread take their rows from the same one. */
let sample: { readonly key: string; readonly matrix: SparseMatrix } | null = null

function sampleOf(stencil: MeshlessStencil): SparseMatrix {
  const key = JSON.stringify(stencil)
  if (sample?.key !== key) sample = { key, matrix: stencilMatrix(stencil) }
  return sample.matrix
}

/** Runs `rankweave spmm` in each thread of its world. */
export default async function main(world: Communicator, job: SpmmJob): Promise<SpmmResult> {
  const open = openInput
  const a =
    typeof job.a === 'string'
      ? await readMatrixRows(world, job.a, { open })
      : rowsOfMatrix(world, sampleOf(job.a))
  const b =
    typeof job.b === 'string'
      ? toDenseRows(await readMatrixRows(world, job.b, { open }))
      : randomRows(world, { rows: a.cols, ...job.b })
  const { returnRows, ...options } = job
  const problem = { ...options, a, b }
  checkProblem(problem)
  const share = await spmm(world, problem)
  const entries = await world.allreduce(a.block.values.length, 'sum')
  return {
    ...share,
    a: returnRows ? a : null,
    b: returnRows ? b : null,
    shape: { rows: a.rows, cols: a.cols, entries },
    width: b.cols,
  }
}

interface MeshlessStencil {
  /** The side of the grid of `side * side` points, one row of the matrix each. */
  readonly side: number
  /** The distance, in both directions, within which points may be coupled. */
  readonly radius: number
  /** The fraction of these couplings that exist. */
  readonly density: number
  readonly seed: number
}

/**
 * Makes an irregular stencil, as from a mesh-free discretisation: every point of a square grid is coupled with itself
 * and with a seeded choice of the points around it. Neighboring row blocks need nearly the same columns, so combining
 * messages pays off.
 */
export function stencilMatrix({ side, radius, density, seed }: MeshlessStencil): SparseMatrix {
  const random = mulberry32(seed)
  const share = Math.floor(density * 2 ** 32)
  const rows = side * side
  const rowStart = new Int32Array(rows + 1)
  const colIndex: number[] = []
  const values: number[] = []
  for (let row = 0; row < rows; row++) {
    const [y, x] = [Math.floor(row / side), row % side]
    for (let v = Math.max(0, y - radius); v <= Math.min(side - 1, y + radius); v++) {
      for (let u = Math.max(0, x - radius); u <= Math.min(side - 1, x + radius); u++) {
        const isDiagonal = v === y && u === x
        if (!isDiagonal && random() >= share) continue
        colIndex.push(v * side + u)
        values.push(isDiagonal ? 4 : unit(random))
      }
    }
    rowStart[row + 1] = colIndex.length
  }
  return {
    rows,
    cols: rows,
    rowStart,
    colIndex: Int32Array.from(colIndex),
    values: Float64Array.from(values),
    imag: null,
  }
}

/** Returns a seeded number in [-1, 1). */
function unit(random: () => number): number {
  return random() / 2 ** 31 - 1
}
