import type { Communicator } from '../../handles/communicator.js'
import { type DenseRows, randomRows, toDenseRows } from '../../spmm/dense-matrix.js'
import { type MatrixRows, rowsOfMatrix } from '../../spmm/matrix-rows.js'
import type { SpmmOptions } from '../../spmm/prepared-product.js'
import { readMatrixRows } from '../../spmm/read-rows.js'
import { type MeshlessStencil, stencilMatrix } from '../../spmm/sample-matrices.js'
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
