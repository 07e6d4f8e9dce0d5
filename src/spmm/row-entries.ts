import { addToList } from '../base/maps.js'
import { rangeAt } from '../base/search.js'
import { type MatrixMarketHeader, type TakeEntry, withMirrorImage } from '../topology/files/matrix-market.js'
import { compressTriplets, type SparseMatrix } from '../topology/files/sparse-matrix.js'

/** The count of numbers per entry in flight: row, column, value, and the imaginary part of a complex one. */
const wordsOf = ({ field }: MatrixMarketHeader) => (field === 'complex' ? 4 : 3)

/**
 * A buffer of entries for the owners of their rows. An entry of one triangle also goes to the owner of its mirror
 * image, once if both ranks are the same.
 */
export class OutgoingEntries {
  readonly #header: MatrixMarketHeader
  readonly #bounds: Int32Array
  readonly #words: number
  readonly #entries: Float64Array
  #count = 0

  /** @param bounds the rows that each rank owns @param most entries between two calls of `take` */
  constructor(header: MatrixMarketHeader, bounds: Int32Array, most: number) {
    this.#header = header
    this.#bounds = bounds
    this.#words = wordsOf(header)
    this.#entries = new Float64Array(most * this.#words)
  }

  readonly add: TakeEntry = (row, col, re, im) => {
    const at = this.#count++ * this.#words
    const entries = this.#entries
    entries[at] = row
    entries[at + 1] = col
    entries[at + 2] = re
    if (this.#words === 4) entries[at + 3] = im
  }

  /** Returns the entries added since the last call, packed by destination, each in order. */
  take(): { readonly data: Float64Array; readonly counts: Int32Array } {
    const ranks = this.#bounds.length - 1
    const words = this.#words
    const isGeneral = this.#header.symmetry === 'general'
    const owners = new Int32Array(this.#count)
    const mirrors = new Int32Array(isGeneral ? 0 : this.#count)
    const counts = new Int32Array(ranks)
    for (let e = 0; e < this.#count; e++) {
      owners[e] = rangeAt(this.#bounds, this.#entries[e * words])
      counts[owners[e]] += words
      if (isGeneral) continue
      mirrors[e] = rangeAt(this.#bounds, this.#entries[e * words + 1])
      if (mirrors[e] !== owners[e]) counts[mirrors[e]] += words
    }
    const next = new Int32Array(ranks)
    for (let rank = 1; rank < ranks; rank++) next[rank] = next[rank - 1] + counts[rank - 1]
    const data = new Float64Array(next[ranks - 1] + counts[ranks - 1])
    const put = (rank: number, e: number) => {
      for (let word = 0; word < words; word++) data[next[rank]++] = this.#entries[e * words + word]
    }
    for (let e = 0; e < this.#count; e++) {
      put(owners[e], e)
      if (!isGeneral && mirrors[e] !== owners[e]) put(mirrors[e], e)
    }
    this.#count = 0
    return { data, counts }
  }
}

/** Some entries of the own rows; rows count from the first own row. */
interface Piece {
  readonly row: Int32Array
  readonly col: Int32Array
  readonly re: Float64Array
  readonly im: Float64Array | null
}

/** The entries of one rank's rows, as they arrive. */
export class RowEntries {
  readonly #header: MatrixMarketHeader
  readonly #first: number
  readonly #end: number
  /** The entries by sender, each in the order of the file. */
  readonly #pieces = new Map<number, Piece[]>()

  /** @param first the first own row @param end the row after the last */
  constructor(header: MatrixMarketHeader, first: number, end: number) {
    this.#header = header
    this.#first = first
    this.#end = end
  }

  /** Adds the entries that a rank has packed for this one, and the mirror images that lie in its rows. */
  add(sender: number, packed: Float64Array): void {
    if (packed.length === 0) return
    const words = wordsOf(this.#header)
    const most = (packed.length / words) * (this.#header.symmetry === 'general' ? 1 : 2)
    const row = new Int32Array(most)
    const col = new Int32Array(most)
    const re = new Float64Array(most)
    const im = words === 4 ? new Float64Array(most) : null
    let count = 0
    const take = withMirrorImage(this.#header, (i, j, x, y) => {
      if (i < this.#first || i >= this.#end) return
      row[count] = i - this.#first
      col[count] = j
      re[count] = x
      if (im !== null) im[count] = y
      count++
    })
    for (let at = 0; at < packed.length; at += words)
      take(packed[at], packed[at + 1], packed[at + 2], words === 4 ? packed[at + 3] : 0)
    const piece = {
      row: row.slice(0, count),
      col: col.slice(0, count),
      re: re.slice(0, count),
      im: im?.slice(0, count) ?? null,
    }
    addToList(this.#pieces, sender, piece)
  }

  /**
   * Returns compressed rows. Repeated entries are summed in the order of the file, which senders read in ascending
   * order.
   */
  toMatrix(): SparseMatrix {
    const pieces = [...this.#pieces].sort(([a], [b]) => a - b).flatMap(([, ofSender]) => ofSender)
    const count = pieces.reduce((sum, { row }) => sum + row.length, 0)
    const row = new Int32Array(count)
    const col = new Int32Array(count)
    const values = new Float64Array(count)
    const imag = this.#header.field === 'complex' ? new Float64Array(count) : null
    let at = 0
    for (const piece of pieces) {
      row.set(piece.row, at)
      col.set(piece.col, at)
      values.set(piece.re, at)
      imag?.set(piece.im!, at)
      at += piece.row.length
    }
    this.#pieces.clear()
    const { cols } = this.#header
    return compressTriplets({ rows: this.#end - this.#first, cols, count, row, col, values, imag })
  }
}
