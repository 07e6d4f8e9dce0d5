/** Which entries of a matrix are stored, as compressed rows; columns ascend within a row, without repetition. */
export interface SparsePattern {
  readonly rows: number
  readonly cols: number
  /** Length `rows + 1`. */
  readonly rowStart: Int32Array
  readonly colIndex: Int32Array
}

/** A sparse matrix, 0-based. Immutable. */
export interface SparseMatrix extends SparsePattern {
  /** One per stored entry, the real part of a complex matrix. */
  readonly values: Float64Array
  /** Imaginary parts, or null for a real matrix. */
  readonly imag: Float64Array | null
}

/** Entries in any order, repetitions allowed; the first `count` elements of each array count. */
export interface Triplets {
  readonly rows: number
  readonly cols: number
  readonly count: number
  readonly row: Int32Array
  readonly col: Int32Array
  readonly values: Float64Array
  readonly imag: Float64Array | null
}

/** Compressed rows of triplets. Repeated entries are summed in the order given; explicit zeros stay stored. */
export function compressTriplets({ rows, cols, count, row, col, values, imag }: Triplets): SparseMatrix {
  const byColumn = countingSort(col, cols, identity(count))
  const order = countingSort(row, rows, byColumn)
  const rowStart = new Int32Array(rows + 1)
  const colIndex = new Int32Array(count)
  const re = new Float64Array(count)
  const im = imag === null ? null : new Float64Array(count)
  let size = 0
  let previousRow = -1
  for (const e of order) {
    const repeats = size > 0 && row[e] === previousRow && col[e] === colIndex[size - 1]
    if (!repeats) colIndex[size++] = col[e]
    // Not 0 + value at first: that would turn -0 into 0.
    re[size - 1] = repeats ? re[size - 1] + values[e] : values[e]
    if (im !== null && imag !== null) im[size - 1] = repeats ? im[size - 1] + imag[e] : imag[e]
    previousRow = row[e]
    rowStart[row[e] + 1] = size
  }
  // Rows without an entry end where the row before ended.
  for (let r = 0; r < rows; r++) rowStart[r + 1] = Math.max(rowStart[r + 1], rowStart[r])
  return {
    rows,
    cols,
    rowStart,
    colIndex: colIndex.slice(0, size),
    values: re.slice(0, size),
    imag: im === null ? null : im.slice(0, size),
  }
}

/** The elements of `order` by key, stable. */
function countingSort(key: Int32Array, keys: number, order: Int32Array): Int32Array {
  const next = new Int32Array(keys + 1)
  for (const e of order) next[key[e] + 1]++
  for (let k = 0; k < keys; k++) next[k + 1] += next[k]
  const sorted = new Int32Array(order.length)
  for (const e of order) sorted[next[key[e]]++] = e
  return sorted
}

function identity(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => i)
}
