import { blocking, type Form, type Returned, type Started } from '../calls/collectives/form.js'
import { started } from '../calls/collectives/started-form.js'
import type { ArrayOperation, Elements, IntoOptions } from '../calls/plan/options.js'
import type { Gathered } from '../calls/plan/placement.js'
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import {
  type GatheringHandle,
  type NeighborBlocksOptions,
  neighborAllgather,
  neighborAllgatherv,
} from './exchanges/neighbor-allgather.js'
import { type EdgeBlocksOptions, neighborAlltoall, neighborAlltoallv } from './exchanges/neighbor-alltoall.js'
import { type EdgeBuffersOptions, type EdgeData, neighborAlltoallw } from './exchanges/neighbor-alltoallw.js'
import { type NeighborReduceOptions, neighborReduce } from './exchanges/neighbor-reduce.js'

/**
 * Collectives over a topology (MPI-4.1 §8.6). Ownership: the call borrows its arguments until the promise settles or
 * the request has completed.
 *
 * `W` is the form of the call, which decides what it returns.
 */
export interface NeighborCalls<W extends keyof Returned<unknown>> {
  /**
   * Sends `data` to every destination and receives the blocks of all sources, in their order. Shapes: the
   * same number of elements on all ranks, one block per source in the result. A rank that is listed several
   * times fills several blocks. Sources and destinations need not be the same ranks; either list may be
   * empty.
   *
   * Ownership: without `into` every call allocates its result, which costs more than moving a few small
   * blocks. Small arrays are retained until the next call, so that a loop over the same ones is checked once.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, before anything is sent
   * @throws ERR_COLLECTIVE_MISMATCH when neighbors pass different counts or types
   * @see MPI-4.1 §8.6.1
   */
  neighborAllgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Returned<I>[W]

  /**
   * Gathers blocks of varying lengths, as `neighborAllgather` does those of one length. Lengths are sent with the
   * blocks; those given in `counts` are checked. Blocks are packed in the order of the sources unless `displs` places
   * them.
   *
   * @throws ERR_COUNT for `counts` or `displs` without one integer from 0 to 2^31 - 1 per source, before anything is
   *   sent
   * @throws ERR_COUNT when `counts` do not fit what arrives, ERR_TRUNCATE when `into` is too small: on this rank only,
   *   after the exchange
   * @see MPI-4.1 §8.6.1
   */
  neighborAllgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: NeighborBlocksOptions<I>,
  ): Returned<Gathered<I>>[W]

  /**
   * Sends block j of `data` to the j-th destination, and receives a block from every source, in their order. Shapes:
   * the same number of elements in every block on all ranks; `data` has one block per destination, the result one per
   * source. On a grid both have two per dimension; those beyond a border are neither sent nor written. Parallel edges
   * are paired in the order of the lists; on a grid block s arrives as block `s ^ 1`.
   *
   * @throws ERR_TYPE, ERR_COUNT, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, before anything is sent; ERR_TRUNCATE on a
   *   rank without destinations, which learns the length of blocks when they arrive, after the exchange
   * @throws ERR_COLLECTIVE_MISMATCH when neighbors pass blocks of different lengths or types; of different lengths any
   *   two ranks, not only neighbors, if the library chooses the strategy by the length
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Returned<I>[W]

  /**
   * Exchanges blocks of any lengths: `sendCounts[j]` elements from `sendDispls[j]` (default: side by side) go to the
   * j-th destination. Lengths are sent with the blocks; those given in `counts` are checked. Blocks are packed in the
   * order of the sources unless `displs` places them.
   *
   * @throws ERR_TYPE, ERR_COUNT for the data, and ERR_COUNT for `counts` or `displs` without one integer from 0 to 2^31
   *   - 1 per source, before anything is sent
   * @throws ERR_COUNT when `counts` do not fit what arrives, ERR_TRUNCATE when `into` is too small: on this rank only,
   *   after the exchange
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: EdgeBlocksOptions<I>,
  ): Returned<Gathered<I>>[W]

  /**
   * Exchanges blocks of any lengths and types: `data[j]`, a typed array or a strided view, goes to the j-th
   * destination. The block of the l-th source fills `into[l]`, of the same type and length, or comes in a fresh array
   * of its type. On a grid both lists have two entries per dimension; those beyond a border are not read, and null in
   * the result unless `into` has a buffer there. The type travels as one byte in front of each block.
   *
   * @throws ERR_COUNT for lists of other lengths, ERR_TYPE for data that are not elements, before anything is sent
   * @throws ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT when a block does not fit its buffer: on this rank only, after
   *   the exchange
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoallw(
    data: readonly EdgeData[],
    options?: EdgeBuffersOptions,
  ): Returned<(ReceiveBuffer | null)[]>[W]

  /**
   * Reduces the blocks of the sources, element by element. Every rank sends `data` to all its destinations, and gets
   * the combination of the blocks of its sources, each as often as it is listed; its own only if it is its own source.
   * Not in MPI. A rank without sources gets null, and `into` is not written. Shapes: as many elements as `data` has,
   * the same number on all ranks.
   *
   * By default floating-point numbers, and operations that are not commutative, are combined in the order of the
   * sources, from first to last: the same bits on every layout and by every strategy. Integers, and with `order: 'any'`
   * all commutative operations, are combined on the way if the strategy combines messages.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, ERR_OP for an operation that they do not have, before
   *   anything is sent
   * @throws ERR_COLLECTIVE_MISMATCH when neighbors pass different counts, types, operations or orders
   */
  neighborReduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: NeighborReduceOptions<I>,
  ): Returned<I | null>[W]
}

/**
 * Collectives over a topology that a rank starts and waits for later (MPI-4.1 §8.7): `ineighborAllgather`
 * starts a `neighborAllgather`, and so on.
 */
export interface StartedNeighborCalls extends Started<NeighborCalls<'started'>> {}

type CallTable = Record<keyof NeighborCalls<'blocking'>, (this: GatheringHandle, ...args: never) => unknown>

export function neighborCallsIn(form: Form<unknown>): CallTable {
  return {
    neighborAllgather(data: unknown, options?: IntoOptions) {
      return neighborAllgather(form, this, data, options)
    },
    neighborAllgatherv(data: unknown, options?: NeighborBlocksOptions) {
      return neighborAllgatherv(form, this, this.neighborhood, data, options)
    },
    neighborAlltoall(data: unknown, options?: IntoOptions) {
      return neighborAlltoall(form, this, this.neighborhood, data, options)
    },
    neighborAlltoallv(data: unknown, sendCounts: ArrayLike<number>, options?: EdgeBlocksOptions) {
      return neighborAlltoallv(form, this, this.neighborhood, data, sendCounts, options)
    },
    neighborAlltoallw(data: readonly EdgeData[], options?: EdgeBuffersOptions) {
      return neighborAlltoallw(form, this, this.neighborhood, data, options)
    },
    neighborReduce(data: unknown, op: unknown, options?: NeighborReduceOptions) {
      return neighborReduce(form, this, this.neighborhood, data, op, options)
    },
  }
}

export const blockingNeighborCalls = neighborCallsIn(blocking)
export const startedNeighborCalls = neighborCallsIn(started)
