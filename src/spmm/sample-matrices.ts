import { mulberry32 } from '../base/random.js'
import type { SparseMatrix } from '../topology/files/sparse-matrix.js'

export interface MeshlessStencil {
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
