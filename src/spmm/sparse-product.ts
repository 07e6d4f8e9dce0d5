import { PersistentRequest } from '../calls/program/persistent-request.js'
import { RankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { isDetached } from '../messages/datatype/elements.js'
import { type DenseMatrix, packColumns, zeros } from './dense-matrix.js'
import { type LocalBlock, localBlock, type RowOwners } from './local-block.js'
import type { MatrixRows } from './matrix-rows.js'
import { multiplyRows } from './multiply.js'

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
