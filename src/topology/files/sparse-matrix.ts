import { isCount, requireOptions } from '../../base/known-options.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { rowStarts } from '../compressed-rows.js'

/** The positions of a matrix's stored entries as compressed rows; columns ascend within a row, without repetition. */
export interface SparsePattern {
  readonly rows: number
  readonly cols: number
  /** Length `rows + 1`. */
  readonly rowStart: Int32Array
  readonly colIndex: Int32Array
}

/** A sparse matrix, 0-based. Immutable. */
export interface SparseMatrix extends SparsePattern {
  /** The value of each stored entry; of a complex matrix its real part. */
  readonly values: Float64Array
  /** The imaginary parts, or null for a real matrix. */
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

/**
 * Compresses triplets to rows. Repeated entries are summed in the order given; explicit zeros are stored. Needs 12
 * bytes per entry (complex 20) in addition to its input.
 *
 * @throws ERR_ARGUMENT unless there are arrays of rows, columns and values, each of at least `count` elements, and for
 *   entries outside the matrix
 */
export function compressTriplets(triplets: Triplets): SparseMatrix {
  requireTriplets(triplets)
  const { rows, count, cols, row, col, values, imag } = triplets
  const rowStart = rowStarts(rows, row.subarray(0, count))
  const next = rowStart.slice(0, rows)
  const entries: RowEntries = {
    col: new Int32Array(count),
    re: new Float64Array(count),
    im: imag === null ? null : new Float64Array(count),
  }
  for (let e = 0; e < count; e++) {
    const at = next[row[e]]++
    entries.col[at] = col[e]
    entries.re[at] = values[e]
    if (entries.im !== null) entries.im[at] = imag![e]
  }
  let size = 0
  for (let r = 0; r < rows; r++) {
    const from = rowStart[r]
    const to = rowStart[r + 1]
    sortRow(entries, from, to)
    rowStart[r] = size
    size = sumRepeated(entries, from, to, size)
  }
  rowStart[rows] = size
  return {
    rows,
    cols,
    rowStart,
    colIndex: size === count ? entries.col : entries.col.slice(0, size),
    values: size === count ? entries.re : entries.re.slice(0, size),
    imag: entries.im === null || size === count ? entries.im : entries.im.slice(0, size),
  }
}

function requireTriplets(triplets: Triplets): void {
  requireOptions('compressTriplets', triplets)
  const { rows, cols, count, row, col, values, imag } = triplets
  const areCounts = [rows, cols, count].every((each) => isCount(each) && each <= largestIndex)
  const areColumns =
    [row, col].every((each) => each instanceof Int32Array && each.length >= count) &&
    [values, imag ?? values].every((each) => each instanceof Float64Array && each.length >= count)
  if (!areCounts || !areColumns || imag === undefined)
    throw wrongValue('ERR_ARGUMENT', 'compressTriplets: expected triplets', triplets)
  for (let e = 0; e < count; e++) {
    if (row[e] >= 0 && row[e] < rows && col[e] >= 0 && col[e] < cols) continue
    const message = `compressTriplets: expected entries of a ${rows} x ${cols} matrix, got entry ${e} in row ${row[e]}, column ${col[e]}`
    throw new RankweaveError('ERR_ARGUMENT', message, { details: { entry: e } })
  }
}

/** Indices of rows and columns are 32-bit. */
const largestIndex = 2 ** 31 - 1

interface RowEntries {
  readonly col: Int32Array
  readonly re: Float64Array
  readonly im: Float64Array | null
}

/** Sorts entries `from` to `to - 1` by column, stably. */
function sortRow({ col, re, im }: RowEntries, from: number, to: number): void {
  let e = from + 1
  while (e < to && col[e] >= col[e - 1]) e++
  if (e >= to) return
  if (to - from <= longestInsertion) insertionSort({ col, re, im }, from, to)
  else sortByKeys({ col, re, im }, from, to)
}

/** Insertion sort is faster for rows of at most this length; most rows are short. */
const longestInsertion = 48

function insertionSort({ col, re, im }: RowEntries, from: number, to: number): void {
  for (let e = from + 1; e < to; e++) {
    const c = col[e]
    const x = re[e]
    const y = im === null ? 0 : im[e]
    let at = e
    for (; at > from && col[at - 1] > c; at--) {
      col[at] = col[at - 1]
      re[at] = re[at - 1]
      if (im !== null) im[at] = im[at - 1]
    }
    col[at] = c
    re[at] = x
    if (im !== null) im[at] = y
  }
}

/** Sorts by distinct keys below 2^53, in order of (column, place), so that the sort of numbers is stable on columns. */
function sortByKeys({ col, re, im }: RowEntries, from: number, to: number): void {
  const length = to - from
  const keys = Float64Array.from({ length }, (_, i) => col[from + i] * length + i).sort()
  const places = Int32Array.from(keys, (key) => key % length)
  const permute = (array: Int32Array | Float64Array) => {
    const before = array.slice(from, to)
    for (let i = 0; i < length; i++) array[from + i] = before[places[i]]
  }
  permute(col)
  permute(re)
  if (im !== null) permute(im)
}

/** Moves a sorted row down to `size` and sums the entries of each column. Returns the start of the next row. */
function sumRepeated({ col, re, im }: RowEntries, from: number, to: number, size: number): number {
  let last = size - 1
  for (let e = from; e < to; e++) {
    if (last >= size && col[last] === col[e]) {
      re[last] += re[e]
      if (im !== null) im[last] += im[e]
      continue
    }
    last++
    col[last] = col[e]
    re[last] = re[e]
    if (im !== null) im[last] = im[e]
  }
  return last + 1
}
