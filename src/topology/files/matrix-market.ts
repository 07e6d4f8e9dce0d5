import { requireKnownOptions } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { asSource, type ByteSource } from '../../text/byte-source.js'
import { type OpenSource, type ReadProgress, withSource } from '../../text/source-file.js'
import { readEntries, type TakeEntry } from './matrix-market-entries.js'
import type { MatrixMarketHeader } from './matrix-market-header.js'
import { compressTriplets, type SparseMatrix, type Triplets } from './sparse-matrix.js'

/**
 * Reads Matrix Market text, as {@link readMatrixMarket} reads a file. Explicit zeros of a coordinate file are
 * stored, zeros of an array are not. One entry per line; blank lines and `%` comments may occur anywhere. The
 * entries of a size line are allocated only if the text is long enough to hold them.
 *
 * @param file name in messages
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
export function parseMatrixMarket(source: string | Uint8Array | ByteSource, file = 'matrix'): SparseMatrix {
  const entries = new Entries()
  readEntries(source, file, (header, sizeKnown) => entries.begin(header, sizeKnown))
  return compressTriplets(entries.triplets())
}

const knownOptions = uncheckedOptions('onProgress', 'open', 'file')

/**
 * Reads a Matrix Market file, piece by piece: coordinate or array; real, integer, unsigned-integer, pattern
 * (entries are 1) or complex; general, symmetric, skew-symmetric or hermitian, expanded to both triangles. Repeated entries are
 * summed in file order. A gzip file is expanded on the way. Memory: 28 bytes per entry at most, complex 44.
 *
 * @param from the path of a file; or its bytes, or a source, which is closed (of a text: `sourceOf(text)`)
 * @throws ERR_FILE, ERR_MATRIX_MARKET with file, line and column
 * @see NIST, The Matrix Market Exchange Formats (NISTIR 5935)
 */
export function readMatrixMarket(
  from: string | Uint8Array | ByteSource,
  options: {
    /** Receives the progress of the read. */
    readonly onProgress?: ReadProgress
    /** Opens the path. Default: a file on disk. */
    readonly open?: OpenSource
    /** The name in messages. Default: the path. */
    readonly file?: string
  } = {},
): SparseMatrix {
  requireKnownOptions('readMatrixMarket', options, knownOptions)
  if (typeof from === 'string')
    return withSource(from, (source) => parseMatrixMarket(source, options.file ?? from), options)
  const { file = 'matrix' } = options
  return withSource(file, (source) => parseMatrixMarket(source, file), {
    ...options,
    open: () => asSource(from),
  })
}

/** Collects entries in arrays that grow if the size of the file is unknown. */
class Entries {
  #shape: Pick<MatrixMarketHeader, 'rows' | 'cols'> = { rows: 0, cols: 0 }
  #row = new Int32Array(0)
  #col = new Int32Array(0)
  #re = new Float64Array(0)
  #im: Float64Array | null = null
  #count = 0

  begin(header: MatrixMarketHeader, sizeKnown: boolean): TakeEntry {
    const { declared, field, symmetry } = header
    const all = symmetry === 'general' ? declared : 2 * declared
    const capacity = sizeKnown ? all : Math.min(all, 1 << 16)
    this.#shape = header
    this.#im = field === 'complex' ? new Float64Array(0) : null
    this.#resize(capacity)
    return (i, j, re, im) => {
      if (this.#count === this.#row.length) this.#resize(Math.min(all, 2 * this.#count))
      const e = this.#count++
      this.#row[e] = i
      this.#col[e] = j
      this.#re[e] = re
      if (this.#im !== null) this.#im[e] = im
    }
  }

  #resize(capacity: number): void {
    const grown = <T extends Int32Array | Float64Array>(array: T, larger: T): T => {
      larger.set(array)
      return larger
    }
    this.#row = grown(this.#row, new Int32Array(capacity))
    this.#col = grown(this.#col, new Int32Array(capacity))
    this.#re = grown(this.#re, new Float64Array(capacity))
    if (this.#im !== null) this.#im = grown(this.#im, new Float64Array(capacity))
  }

  triplets(): Triplets {
    const { rows, cols } = this.#shape
    return {
      rows,
      cols,
      count: this.#count,
      row: this.#row,
      col: this.#col,
      values: this.#re,
      imag: this.#im,
    }
  }
}
