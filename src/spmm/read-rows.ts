import { requireKnownOptions, requireText } from '../base/known-options.js'
import { addToList } from '../base/maps.js'
import { uncheckedOptions } from '../base/option.js'
import { rangeAt } from '../base/search.js'
import { isRankweaveError, RankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { OpenSource } from '../text/source-file.js'
import { blockBounds } from '../topology/compressed-rows.js'
import {
  type EntryLines,
  type MatrixMarketHead,
  type MatrixMarketHeader,
  measurePart,
  openMatrixMarket,
  openPart,
  type TakeEntry,
  withMirrorImage,
} from '../topology/files/matrix-market.js'
import { compressTriplets, type SparseMatrix } from '../topology/files/sparse-matrix.js'
import { type MatrixRows, requireCommunicator } from './matrix-rows.js'

/** The number of entries that a process reads before it sends them to the owners of their rows. */
const entriesPerRound = 1 << 15

const knownOptions = uncheckedOptions('open')

/**
 * Reads a Matrix Market file so that no rank ever holds the whole matrix. Every process reads the lines that begin in
 * its part of the bytes, and sends each entry to the rank that owns its row. The owner expands symmetric storage. A
 * gzip file or a pipe can only be read from the front: rank 0 reads it, and holds no more of it than others.
 * Collective; every process opens the same path. The result, and the error of a damaged file, equal those of
 * `readMatrixMarket` bit by bit. Repeated entries are summed in the order of the file, and all ranks report the first
 * fault by line and column. Memory of a rank: 44 bytes per entry of its rows (complex 60), of which 12 (20) remain, and
 * 4 bytes per rank. A rank that reads takes 4 MiB more. A file is read twice, first to count its lines.
 *
 * @param options.open opens the file that rank 0 reads first; readers open files again, by path
 * @throws ERR_FILE, ERR_MATRIX_MARKET on all ranks alike; ERR_ARGUMENT before anything is sent
 */
export async function readMatrixRows(
  world: Communicator,
  path: string,
  options: { readonly open?: OpenSource } = {},
): Promise<MatrixRows> {
  requireCommunicator('readMatrixRows', world)
  requireText('readMatrixRows: path', path)
  requireKnownOptions('readMatrixRows', options, knownOptions)
  const { open } = options
  const readers = await readingRanks(world)
  const opened = world.rank === 0 ? attempt(() => openMatrixMarket(path, open)) : null
  const whole = opened?.value ?? null
  try {
    await failTogether(world, opened?.error ?? null)
    const head = await world.bcast<MatrixMarketHead>(whole?.head ?? null)
    const { rows, cols } = head.header
    const bounds = blockBounds(rows, world.size)
    const mine = new RowEntries(head.header, bounds[world.rank], bounds[world.rank + 1])
    const outgoing = new OutgoingEntries(
      head.header,
      bounds,
      readers.includes(world.rank) ? entriesPerRound : 0,
    )
    const source =
      head.bytes === null || readers.length === 1
        ? whole && { entries: whole.entries(outgoing.add), close: () => {} }
        : await ownPart(world, path, head, readers, outgoing)
    try {
      await exchangeEntries(world, source?.entries ?? null, outgoing, mine)
    } finally {
      source?.close()
    }
    return { rows, cols, first: bounds[world.rank], block: mine.toMatrix() }
  } finally {
    whole?.close()
  }
}

/** Returns the first rank of every process, rank 0 among them. */
async function readingRanks(world: Communicator): Promise<readonly number[]> {
  const processes = await world.allgather(Int32Array.of(world.location.process))
  const seen = new Set<number>()
  const first: number[] = []
  processes.forEach((process, rank) => {
    if (seen.has(process)) return
    seen.add(process)
    first.push(rank)
  })
  return first
}

/**
 * Opens the part of this rank's process, behind those of the readers before; null on ranks that do not read.
 * Collective.
 */
async function ownPart(
  world: Communicator,
  path: string,
  { header, lines, bytes }: MatrixMarketHead,
  readers: readonly number[],
  { add: take }: OutgoingEntries,
): Promise<{ readonly entries: EntryLines; close(): void } | null> {
  const reader = readers.indexOf(world.rank)
  const byte = (part: number) =>
    bytes!.head + Math.floor((part * (bytes!.file - bytes!.head)) / readers.length)
  const part = { fromByte: byte(reader), toByte: byte(reader + 1), fileBytes: bytes!.file }
  const measured = reader < 0 ? null : attempt(() => measurePart(path, part))
  const size = measured?.value ?? { bytes: 0, lines: 0, entries: 0 }
  const sizes = await world.allgather(Float64Array.of(size.bytes, size.lines, size.entries))
  await failTogether(world, measured?.error ?? null)
  const before = { lines, entries: 0 }
  let isLast = true
  for (const [index, rank] of readers.entries()) {
    const [bytesOf, linesOf, entriesOf] = sizes.subarray(3 * rank)
    if (index < reader) {
      before.lines += linesOf
      before.entries += entriesOf
    } else if (index > reader && bytesOf > 0) isLast = false
  }
  const opened =
    reader < 0 || size.bytes === 0
      ? null
      : attempt(() => openPart(path, part, { header, before, isLast, take }))
  try {
    await failTogether(world, opened?.error ?? null)
  } catch (error) {
    opened?.value?.close()
    throw error
  }
  return opened?.value ?? null
}

/** Repeats rounds of reading and sending until every entry has arrived. Collective. */
async function exchangeEntries(
  world: Communicator,
  entries: EntryLines | null,
  outgoing: OutgoingEntries,
  mine: RowEntries,
): Promise<void> {
  let error: Failure | null = null
  let isDone = entries === null
  for (let more = 1; more > 0; ) {
    if (!isDone && entries !== null) {
      const read = attempt(() => entries.read(entriesPerRound))
      error = read.error
      isDone = read.value !== true
    }
    const { data, counts } = outgoing.take()
    const arrived = await world.alltoallv(data, counts)
    for (let rank = 0; rank < world.size; rank++) {
      const from = arrived.displs[rank]
      mine.add(rank, arrived.data.subarray(from, from + arrived.counts[rank]))
    }
    more = await world.allreduce(isDone ? 0 : 1, 'max')
  }
  await failTogether(world, error)
}

/** The fields of an error that ranks send. */
type Failure = { readonly [field in 'code' | 'message' | 'details']: RankweaveError[field] }

/** The result or the error of a call. */
type Attempt<T> =
  | { readonly value: T; readonly error: null }
  | { readonly value: null; readonly error: Failure }

function attempt<T>(call: () => T): Attempt<T> {
  try {
    return { value: call(), error: null }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    const { code, message, details } = error
    return { value: null, error: { code, message, details } }
  }
}

/** Throws the error of the lowest rank that has one, on all ranks. Collective. */
async function failTogether(world: Communicator, error: Failure | null): Promise<void> {
  const failed = await world.allreduce(error === null ? world.size : world.rank, 'min')
  if (failed === world.size) return
  const { code, message, details } = await world.bcast<Failure>(error, failed)
  throw new RankweaveError(code, message, { details })
}

/** The count of numbers per entry in flight: row, column, value, and the imaginary part of a complex one. */
const wordsOf = ({ field }: MatrixMarketHeader) => (field === 'complex' ? 4 : 3)

/**
 * A buffer of entries for the owners of their rows. An entry of one triangle also goes to the owner of its mirror
 * image, once if both ranks are the same.
 */
class OutgoingEntries {
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
class RowEntries {
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
