import { rangeAt } from '../base/search.js'
import { PersistentRequest } from '../calls/program/planned-call.js'
import { RankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { isDetached } from '../messages/datatype/elements.js'
import type { SparseMatrix } from '../topology/files/sparse-matrix.js'
import { type DenseMatrix, packColumns, zeros } from './dense-matrix.js'
import type { MatrixRows } from './matrix-rows.js'

/** A way for blocks of B to reach the ranks that need them. */
export interface BlockExchange {
  /** The ranks whose blocks arrive, in their order in the receive buffer. */
  readonly sources: Int32Array
  /** Binds an exchange to its buffers: a block, and one per source. Collective. */
  bind(mine: Float64Array, halo: Float64Array): PersistentRequest
  /** Fails the exchanges of all ranks. */
  fail(error: RankweaveError): void
}

/** Exchanges the blocks of the ranks that own needed rows, by a neighbor allgather. */
export function neighborExchange(graph: TopologyCommunicator): BlockExchange {
  return {
    sources: graph.sources,
    bind: (mine, halo) => graph.neighborAllgatherInit(mine, halo, { sharedMemory: false }),
    fail: failing(graph),
  }
}

/** Exchanges the same blocks, but ranks read them in place. All processes must share memory. */
export function sharedExchange(graph: TopologyCommunicator): BlockExchange {
  const bind = (mine: Float64Array, halo: Float64Array) =>
    graph.neighborAllgatherInit(mine, halo, { sharedMemory: true })
  return { sources: graph.sources, bind, fail: failing(graph) }
}

/** Exchanges the blocks of every rank, needed or not, by an ordinary allgather: the baseline. */
export function allgatherExchange(comm: Communicator): BlockExchange {
  return {
    sources: Int32Array.from({ length: comm.size }, (_, rank) => rank),
    bind: (mine, halo) => comm.allgatherInit(mine, halo),
    fail: failing(comm),
  }
}

function failing(comm: Communicator) {
  return (error: RankweaveError) => comm.seat().state.collectives.revoke(error)
}

/** The columns of B that are exchanged and multiplied together, and the request and buffers bound to them. */
interface Batch {
  readonly from: number
  readonly width: number
  readonly operand: Float64Array
  readonly mine: Float64Array
  readonly exchange: PersistentRequest
}

/**
 * A distributed product C = A x B for one A and any number of B of one width: this rank's part, row-wise block-striped.
 * The exchanges are persistent requests, bound once. Rows of A that need only own rows of B are multiplied while the
 * others' are in flight. Memory: 8 bytes x columns per exchange x rows of a block x (1 + sources), twice that if the
 * last exchange has fewer columns.
 *
 * @see Ghazimirsaeed 2019 §7.6.3, Figure 7.13
 */
export class SparseProduct {
  readonly #block: LocalBlock
  readonly #ownRows: number
  readonly #width: number
  readonly #batches: readonly Batch[]
  readonly #fail: BlockExchange['fail']
  #localSeconds = 0
  #running = false

  /**
   * Binds the exchanges. Collective.
   *
   * @param owners the rank that owns each row of B
   * @param width columns of B
   */
  constructor(
    rows: MatrixRows,
    owners: RowOwners,
    rank: number,
    width: number,
    columnsAtOnce: number,
    exchange: BlockExchange,
  ) {
    this.#block = localBlock(rows.block, owners, rank, exchange.sources)
    this.#ownRows = owners[rank + 1] - owners[rank]
    this.#width = width
    const batches: Batch[] = []
    for (let from = 0; from < width; from += columnsAtOnce) {
      const columns = Math.min(columnsAtOnce, width - from)
      const last = batches.at(-1)
      if (last?.width === columns) batches.push({ ...last, from })
      else batches.push({ from, width: columns, ...bound(this.#block, columns, exchange) })
    }
    this.#batches = batches
    this.#fail = exchange.fail
  }

  /** The seconds that this rank has spent multiplying and packing, in all products. */
  get localSeconds(): number {
    return this.#localSeconds
  }

  /**
   * Multiplies. Collective; one product at a time.
   *
   * @param b this rank's rows of B, one after another; read until the promise settles
   * @param into takes this rank's rows of C; default: a fresh array
   * @throws ERR_COUNT for arrays of other lengths, ERR_REQUEST while a product is being computed, before
   *   anything is sent; ERR_TYPE, on all ranks, when one of them detaches an array meanwhile
   */
  async multiply(b: Float64Array, into: Float64Array = this.#zeros()): Promise<Float64Array> {
    this.#begin(b, into)
    try {
      for (const batch of this.#batches) {
        this.#pack(batch, b, into)
        const arrival = batch.exchange.start()
        // A failure before the await below must not count as unhandled: it fails the product.
        arrival.catch(() => {})
        // First every rank of this process starts, so that what they send is in flight.
        await null
        this.#multiplyInner(batch, into)
        await arrival
        this.#multiplyOuter(batch, into)
      }
    } finally {
      this.#running = false
    }
    return into
  }

  /**
   * Computes the products of all ranks of a process, this one among them, with one exchange for all. This is faster
   * than `multiply` of each if a process hosts many ranks. Other processes may call `multiply`. Collective; one product
   * at a time.
   *
   * @param products of all ranks that this process hosts, by one preparation
   * @param bs rows of B of each, as `multiply` takes them
   * @param intos take the rows of C of each; default: fresh arrays
   * @returns the rows of C of each
   * @throws ERR_ARGUMENT unless each rank has one of each, and for products of other ranks; the errors of `multiply`
   */
  async multiplyAll(
    products: readonly SparseProduct[],
    bs: readonly Float64Array[],
    intos: readonly Float64Array[] = products.map((each) => each.#zeros()),
  ): Promise<readonly Float64Array[]> {
    if (bs.length !== products.length || intos.length !== products.length) {
      const message = `multiplyAll: expected B and C of ${products.length} products, got ${bs.length} and ${intos.length}`
      throw new RankweaveError('ERR_ARGUMENT', message)
    }
    if (!products.includes(this)) {
      const message = `multiplyAll: expected this product among the ${products.length}`
      throw new RankweaveError('ERR_ARGUMENT', message)
    }
    const begun: SparseProduct[] = []
    try {
      products.forEach((product, n) => {
        product.#begin(bs[n], intos[n])
        begun.push(product)
      })
      for (let at = 0; at < products[0].#batches.length; at++) {
        for (const [n, each] of products.entries()) each.#pack(each.#batches[at], bs[n], intos[n])
        const arrival = PersistentRequest.startAll(products.map((each) => each.#batches[at].exchange))
        arrival.catch(() => {})
        for (const [n, each] of products.entries()) each.#multiplyInner(each.#batches[at], intos[n])
        await arrival
        for (const [n, each] of products.entries()) each.#multiplyOuter(each.#batches[at], intos[n])
      }
    } finally {
      for (const product of begun) product.#running = false
    }
    return intos
  }

  #zeros(): Float64Array {
    return zeros('the product', this.#block.rows, this.#width)
  }

  /** @throws ERR_COUNT, ERR_REQUEST as `multiply` */
  #begin(b: Float64Array, into: Float64Array): void {
    requireLength('B', b, this.#ownRows, this.#width)
    requireLength('the product', into, this.#block.rows, this.#width)
    if (this.#running)
      throw new RankweaveError('ERR_REQUEST', 'multiply: expected the product before to be complete')
    this.#running = true
  }

  #pack({ from, width, mine }: Batch, b: Float64Array, into: Float64Array): void {
    this.#requireIntact(b, into)
    const own: DenseMatrix = { rows: this.#ownRows, cols: this.#width, values: b }
    this.#locally(() => packColumns(own, from, from + width, mine))
  }

  #multiplyInner(batch: Batch, into: Float64Array): void {
    this.#multiplyRows(this.#block.innerRows, batch, into)
  }

  #multiplyOuter(batch: Batch, into: Float64Array): void {
    this.#multiplyRows(this.#block.outerRows, batch, into)
  }

  #multiplyRows(rows: LocalBlock['innerRows'], { from, width, operand }: Batch, into: Float64Array): void {
    this.#requireIntact(into)
    this.#locally(() => multiplyRows(this.#block, rows, operand, width, into, this.#width, from))
  }

  /**
   * Frees the requests. Local.
   * @throws ERR_REQUEST while a product is being computed, and when it was freed before
   */
  free(): void {
    for (const exchange of new Set(this.#batches.map((batch) => batch.exchange))) exchange.free()
  }

  /** The program may transfer an array while it waits, and no rank continues without this one. */
  #requireIntact(...arrays: readonly Float64Array[]): void {
    if (![this.#block.values, ...arrays].some(isDetached)) return
    const error = new RankweaveError(
      'ERR_TYPE',
      'multiply: an array was detached before the product was complete',
    )
    this.#fail(error)
    throw error
  }

  #locally(work: () => void): void {
    const begin = performance.now()
    work()
    this.#localSeconds += (performance.now() - begin) / 1000
  }
}

function bound({ blockRows, operandRows }: LocalBlock, width: number, exchange: BlockExchange) {
  const operand = zeros('the rows of B that arrive', operandRows, width)
  const mine = operand.subarray(0, blockRows * width)
  return { operand, mine, exchange: exchange.bind(mine, operand.subarray(mine.length)) }
}

function requireLength(what: string, { length }: Float64Array, rows: number, width: number): void {
  if (length === rows * width) return
  const message = `multiply: expected ${what} as ${rows} rows of ${width} numbers, got ${length} numbers`
  throw new RankweaveError('ERR_COUNT', message)
}

/** The part of the operand that should stay in a core's cache while the rows of A pass by. */
const cacheBytes = 1 << 18
/** The width of a cache line of doubles: with narrower panels, lines of the operand would be read more than once. */
const narrowestPanel = 8

/** Returns how many columns of the operand are multiplied in one pass over the rows of A. */
export function panelColumns(operandRows: number, width: number): number {
  const fitting = Math.floor(cacheBytes / (8 * Math.max(1, operandRows)))
  return Math.min(width, Math.max(narrowestPanel, fitting - (fitting % narrowestPanel)))
}

/**
 * Multiplies some rows of the block with an operand of `width` columns. The product goes to columns `at` to `at + width
 * - 1` of `result`, which has `resultWidth` columns. Every sum adds the row's entries in their order, from zero. The
 * bits are therefore those of the serial product, however rows and columns are divided.
 *
 * @param rows the rows of the block, and of the result
 */
export function multiplyRows(
  block: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  const panel = panelColumns(block.operandRows, width)
  for (let from = 0; from < width; from += panel) {
    const to = Math.min(width, from + panel)
    const singles = to - ((to - from) % 4)
    if (singles > from) multiplyFours(block, rows, operand, width, from, singles, result, resultWidth, at)
    for (let column = singles; column < to; column++)
      multiplyOne(block, rows, operand, width, column, result, resultWidth, at)
  }
}

/** Multiplies four columns at a time: each entry of A that is read feeds four sums in registers. */
function multiplyFours(
  { rowStart, operandRow, values }: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  firstColumn: number,
  endColumn: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r]
    const begin = rowStart[row]
    const end = rowStart[row + 1]
    for (let column = firstColumn; column < endColumn; column += 4) {
      let a = 0
      let b = 0
      let c = 0
      let d = 0
      for (let e = begin; e < end; e++) {
        const factor = values[e]
        const from = operandRow[e] * width + column
        a += factor * operand[from]
        b += factor * operand[from + 1]
        c += factor * operand[from + 2]
        d += factor * operand[from + 3]
      }
      const to = row * resultWidth + at + column
      result[to] = a
      result[to + 1] = b
      result[to + 2] = c
      result[to + 3] = d
    }
  }
}

function multiplyOne(
  { rowStart, operandRow, values }: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  column: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r]
    const end = rowStart[row + 1]
    let sum = 0
    for (let e = rowStart[row]; e < end; e++) sum += values[e] * operand[operandRow[e] * width + column]
    result[row * resultWidth + at + column] = sum
  }
}

/**
 * The rows of A of one rank, ready to multiply: every column index points into the operand. The operand holds the
 * rank's own block of B and then, source by source, the blocks that its neighbors send. All blocks have the same number
 * of rows, those of the longest; the last row of a shorter one is not used.
 */
interface LocalBlock {
  readonly rows: number
  readonly rowStart: Int32Array
  /** The row of the operand that each entry multiplies. */
  readonly operandRow: Int32Array
  readonly values: Float64Array
  /** The number of rows of a block of the operand, and of the whole operand. */
  readonly blockRows: number
  readonly operandRows: number
  /** The rows of A that need only own rows of B, and the others. Both ascend. */
  readonly innerRows: Int32Array
  readonly outerRows: Int32Array
}

/** The distribution of the rows of B: rank j owns rows `start[j]` to `start[j + 1] - 1`. */
type RowOwners = Int32Array

export function longestBlock(owners: RowOwners): number {
  let longest = 0
  for (let j = 0; j + 1 < owners.length; j++) longest = Math.max(longest, owners[j + 1] - owners[j])
  return longest
}

/** Returns the other ranks that own rows of B which these rows of A need, ascending. */
export function sourcesOf({ colIndex }: SparseMatrix, owners: RowOwners, rank: number): Int32Array {
  const isNeeded = new Uint8Array(owners.length - 1)
  for (let e = 0; e < colIndex.length; e++) isNeeded[rangeAt(owners, colIndex[e])] = 1
  isNeeded[rank] = 0
  return Int32Array.from(isNeeded.keys()).filter((owner) => isNeeded[owner] === 1)
}

/**
 * @param rows this rank's rows of A, columns numbered as in A
 * @param owners the rank that owns each row of B
 * @param sources the ranks this one receives from, in the topology's order
 * @throws ERR_TOPOLOGY when an entry needs a row of a rank that is not a source
 */
export function localBlock(
  rows: SparseMatrix,
  owners: RowOwners,
  rank: number,
  sources: ArrayLike<number>,
): LocalBlock {
  const { rowStart, values } = rows
  const blockRows = longestBlock(owners)
  // Global row g of rank j is operand row g + shift.get(j).
  const shift = new Map([[rank, -owners[rank]]])
  for (let slot = 0; slot < sources.length; slot++) {
    const source = sources[slot]
    if (!shift.has(source)) shift.set(source, (1 + slot) * blockRows - owners[source])
  }
  const operandRow = rows.colIndex.map((column) => {
    const owner = rangeAt(owners, column)
    const offset = shift.get(owner)
    if (offset !== undefined) return column + offset
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `rank ${rank} needs row ${column} of B, but rank ${owner}, which holds it, is not among its sources`,
      { details: { rank, owner, row: column } },
    )
  })
  const isInner = (row: number) => {
    for (let e = rowStart[row]; e < rowStart[row + 1]; e++) if (operandRow[e] >= blockRows) return false
    return true
  }
  const all = Int32Array.from({ length: rows.rows }, (_, row) => row)
  return {
    rows: rows.rows,
    rowStart,
    operandRow,
    values,
    blockRows,
    operandRows: (1 + sources.length) * blockRows,
    innerRows: all.filter(isInner),
    outerRows: all.filter((row) => !isInner(row)),
  }
}
