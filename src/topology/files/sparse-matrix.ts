import { GrowingInt32Array } from '../../base/growing-array.js'
import { isCount, requireKnownOptions, requireOptions } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { blockBounds, rowStarts, transposeRows } from '../compressed-rows.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'

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

/**
 * Checks that a value has the row starts and columns of a matrix, but not what is in them. Takes constant time.
 * @throws ERR_ARGUMENT
 */
function requirePattern(where: string, value: unknown): asserts value is SparsePattern {
  const { rows, cols, rowStart, colIndex } = Object(value) as Partial<SparsePattern>
  if (isCount(rows) && isCount(cols) && colIndex instanceof Int32Array)
    if (rowStart instanceof Int32Array && rowStart.length === rows + 1) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a sparse matrix`, value)
}

/** Checks as {@link requirePattern} does, and that there are as many values as columns. @throws ERR_ARGUMENT */
export function requireMatrix(where: string, value: unknown): asserts value is SparseMatrix {
  requirePattern(where, value)
  const { colIndex, values, imag } = value as Partial<SparseMatrix>
  if (isEach(values, colIndex) && (imag === null || isEach(imag, colIndex))) return
  const expected = `${where}: expected a sparse matrix with a value for each of its ${colIndex!.length} columns`
  throw wrongValue('ERR_ARGUMENT', expected, values)
}

function isEach(values: unknown, of: Int32Array | undefined): boolean {
  return values instanceof Float64Array && values.length === of?.length
}

const topologyOptions = uncheckedOptions('ranks')

/**
 * Returns the topology of C = A x B: which rank needs rows of B from which other rank. The rows of A and C, and those
 * of B, are distributed over the ranks in consecutive blocks ({@link blockBounds}). An edge leads from j to i iff A has
 * an entry in rows of i and columns that are j's rows of B. Receivers follow from A's rows, senders from A's columns,
 * independently. A rank's own block is local: no self loops. Every stored entry counts, even one whose value is zero.
 * With more ranks than rows or columns the last ranks are isolated, or only send or only receive. Sources and
 * destinations ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.3
 */
export function topologyFromMatrix(
  matrix: SparsePattern,
  options: { readonly ranks: number },
): ProcessTopology {
  requirePattern('topologyFromMatrix', matrix)
  requireKnownOptions('topologyFromMatrix', options, topologyOptions)
  const { ranks } = options
  checkTopologySize('topology of a matrix', ranks, 0)
  const rowBounds = blockBounds(matrix.rows, ranks)
  const columnOwner = ownerOf(blockBounds(matrix.cols, ranks))
  const inStart = new Int32Array(ranks + 1)
  const inRank = new GrowingInt32Array()
  const seenBy = new Int32Array(ranks).fill(-1)
  for (let i = 0; i < ranks; i++) {
    const sources: number[] = []
    const to = matrix.rowStart[rowBounds[i + 1]]
    for (let e = matrix.rowStart[rowBounds[i]]; e < to; e++) {
      const j = columnOwner[matrix.colIndex[e]]
      if (j === i || seenBy[j] === i) continue
      seenBy[j] = i
      sources.push(j)
    }
    for (const j of sources.sort((a, b) => a - b)) inRank.push(j)
    checkTopologySize('topology of a matrix', ranks, inRank.length)
    inStart[i + 1] = inRank.length
  }
  const into = { start: inStart, rank: inRank.toArray() }
  return unweightedTopology(transposeRows(ranks, into), into)
}

function ownerOf(bounds: Int32Array): Int32Array {
  const owner = new Int32Array(bounds[bounds.length - 1])
  for (let part = 0; part + 1 < bounds.length; part++) owner.fill(part, bounds[part], bounds[part + 1])
  return owner
}
