import * as collectives from '../calls/collectives/collectives.js'
import { blocking } from '../calls/collectives/form.js'
import type {
  ArrayOperation,
  BlocksOptions,
  Elements,
  MovementOptions,
  ReductionOptions,
  ScalarReductionOptions,
  ValueOptions,
} from '../calls/collectives/options.js'
import { started } from '../calls/collectives/started-form.js'
import type { Gathered } from '../calls/values/placement.js'
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { BigintOperation, NumberOperation, Operation } from '../messages/datatype/operation.js'
import type { SendableValue } from '../messages/datatype/payload.js'
import type { StridedView } from '../messages/datatype/strided-view.js'

import type { Request } from '../messages/p2p/request.js'
import { RankCommunicator } from './rank-communicator.js'

/**
 * The collectives of a communicator (MPI-4.1 §6): every rank calls them in the same order; they may be started
 * concurrently.
 *
 * Typed arrays and strided views arrive as fresh arrays of their element type, or in `into`, which the call then
 * returns. Any other value travels as a structured clone.
 *
 * The arrays that a rank passes are borrowed until its promise settles. Until then `data` must not change, and `into`
 * has no defined content. `into` may be `data`, or overlap it.
 *
 * **Started collectives** (MPI-4.1 §6.12): `iallreduce` starts an `allreduce`, for which the rank waits later.
 * Arguments, results and ownership of arrays are those of the method without the `i`, until the request has completed.
 * The request may be waited for and tested together with those of messages. It cannot be cancelled (ERR_REQUEST). The
 * `signal` in the options aborts the collective, which revokes the communicator; that of a wait ends the wait only.
 * Ranks start collectives in the same order; a rank may start a call that another one makes without the `i`. Wrong
 * arguments throw.
 */
export abstract class CollectiveCommunicator extends RankCommunicator {
  /** Resolves when every rank has called it. @see MPI-4.1 §6.3 */
  barrier(options?: ValueOptions): Promise<void> {
    return collectives.barrier(blocking, this, options)
  }

  /**
   * Sends `data` of `root` to every rank. The root gets its own data back, the others a fresh copy or `into`; the
   * `data` of other ranks are ignored.
   *
   * @throws ERR_TRUNCATE, ERR_TYPE_MISMATCH when `into` does not fit
   * @see MPI-4.1 §6.4
   */
  bcast<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: T | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Promise<T | I>
  bcast<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: StridedView<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Promise<StridedView<T> | I>
  bcast<T>(data: (T & SendableValue) | null, root?: number, options?: ValueOptions): Promise<T>
  bcast(data: unknown, root = 0, options?: MovementOptions): Promise<unknown> {
    return collectives.bcast(blocking, this, data, root, options)
  }

  /**
   * Reduces to `root`, arrays element by element; null elsewhere. Every rank passes the same type and length,
   * and gets the same type back. The order of combination depends on rank order and size only, so
   * floating-point results have the same bits on every layout; operations need to be associative, not
   * commutative.
   *
   * Numbers, bigints and typed arrays have the built-in operations; other values need one of
   * `createOperation`.
   *
   * @throws ERR_OP for an operation that the type of `data` does not have, before anything is sent
   * @see MPI-4.1 §6.9
   */
  reduce(
    data: number,
    op: NumberOperation,
    root?: number,
    options?: ScalarReductionOptions,
  ): Promise<number | null>
  reduce(
    data: bigint,
    op: BigintOperation,
    root?: number,
    options?: ScalarReductionOptions,
  ): Promise<bigint | null>
  reduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    root?: number,
    options?: ReductionOptions<I>,
  ): Promise<I | null>
  reduce<T>(
    data: T & SendableValue,
    op: Operation<T>,
    root?: number,
    options?: ScalarReductionOptions,
  ): Promise<T | null>
  reduce(data: unknown, op: unknown, root = 0, options?: ReductionOptions): Promise<unknown> {
    return collectives.reduce(blocking, this, data, op, root, options)
  }

  /**
   * Reduces like `reduce`, with the result on every rank.
   *
   * @see MPI-4.1 §6.9.6
   */
  allreduce(data: number, op: NumberOperation, options?: ScalarReductionOptions): Promise<number>
  allreduce(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Promise<bigint>
  allreduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Promise<I>
  allreduce<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Promise<T>
  allreduce(data: unknown, op: unknown, options?: ReductionOptions): Promise<unknown> {
    return collectives.allreduce(blocking, this, data, op, options)
  }

  /**
   * Gathers arrays of one length, concatenated in rank order, at `root`; null elsewhere. Other values come as
   * an array of `size` values.
   *
   * @see MPI-4.1 §6.5
   */
  gather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root?: number,
    options?: MovementOptions<I>,
  ): Promise<I | null>
  gather<T>(data: T & SendableValue, root?: number, options?: ValueOptions): Promise<T[] | null>
  gather(data: unknown, root = 0, options?: MovementOptions): Promise<unknown> {
    return collectives.gather(blocking, this, 'gather', data, root, options)
  }

  /**
   * Gathers like `gather`, for arrays of any lengths; their counts travel along.
   *
   * @see MPI-4.1 §6.5
   */
  gatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root = 0,
    options?: BlocksOptions<I>,
  ): Promise<Gathered<I> | null> {
    return collectives.gather(blocking, this, 'gatherv', data, root, options)
  }

  /**
   * Sends block r of the root's array to rank r; its length must be a multiple of `size`.
   * @see MPI-4.1 §6.6
   */
  scatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Promise<I>
  scatter<T>(data: readonly (T & SendableValue)[] | null, root?: number, options?: ValueOptions): Promise<T>
  scatter(data: unknown, root = 0, options?: MovementOptions): Promise<unknown> {
    return collectives.scatter(blocking, this, 'scatter', data, null, root, options)
  }

  /**
   * Sends `counts[r]` elements from `displs[r]` (default: packed) of the root's array to rank r.
   * @see MPI-4.1 §6.6
   */
  scatterv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    counts: ArrayLike<number> | null,
    root = 0,
    options?: MovementOptions<I> & { readonly displs?: ArrayLike<number> },
  ): Promise<I> {
    return collectives.scatter(blocking, this, 'scatterv', data, counts, root, options)
  }

  /**
   * Gathers like `gather`, with the result on every rank.
   *
   * @see MPI-4.1 §6.7
   */
  allgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Promise<I>
  allgather<T>(data: T & SendableValue, options?: ValueOptions): Promise<T[]>
  allgather(data: unknown, options?: MovementOptions): Promise<unknown> {
    return collectives.gather(blocking, this, 'allgather', data, null, options)
  }

  /**
   * Gathers like `gatherv`, with the result on every rank.
   *
   * @see MPI-4.1 §6.7
   */
  allgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: BlocksOptions<I>,
  ): Promise<Gathered<I>> {
    return collectives.gather(blocking, this, 'allgatherv', data, null, options)
  }

  /**
   * Sends block j to rank j, where it is block `rank` of the result; all blocks have one length.
   * @see MPI-4.1 §6.8
   */
  alltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Promise<I>
  alltoall<T>(data: readonly (T & SendableValue)[], options?: ValueOptions): Promise<T[]>
  alltoall(data: unknown, options?: MovementOptions): Promise<unknown> {
    return collectives.alltoall(blocking, this, 'alltoall', data, null, options)
  }

  /**
   * Sends `sendCounts[j]` elements from `sendDispls[j]` (default: packed) to rank j. Receive counts travel
   * along; those given in `counts` are checked (ERR_COUNT).
   *
   * @see MPI-4.1 §6.8
   */
  alltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: BlocksOptions<I> & { readonly sendDispls?: ArrayLike<number> },
  ): Promise<Gathered<I>> {
    return collectives.alltoall(blocking, this, 'alltoallv', data, sendCounts, options)
  }

  /**
   * Reduces like `reduce`; block r of the result, `counts[r]` elements (default: equal blocks), goes to rank r.
   *
   * @see MPI-4.1 §6.10
   */
  reduceScatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I> & { readonly counts?: ArrayLike<number> },
  ): Promise<I> {
    return collectives.reduceScatter(blocking, this, data, op, options)
  }

  /** Reduces over the ranks from 0 to this one. @see MPI-4.1 §6.11.1 */
  scan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Promise<number>
  scan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Promise<bigint>
  scan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Promise<I>
  scan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Promise<T>
  scan(data: unknown, op: unknown, options?: ReductionOptions): Promise<unknown> {
    return collectives.scan(blocking, this, 'scan', data, op, options)
  }

  /**
   * Reduces over the ranks below this one; null on rank 0, where MPI leaves it undefined.
   * @see MPI-4.1 §6.11.2
   */
  exscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Promise<number | null>
  exscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Promise<bigint | null>
  exscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Promise<I | null>
  exscan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Promise<T | null>
  exscan(data: unknown, op: unknown, options?: ReductionOptions): Promise<unknown> {
    return collectives.scan(blocking, this, 'exscan', data, op, options)
  }

  /** Starts a {@link barrier}. */
  ibarrier(options?: ValueOptions): Request<void> {
    return collectives.barrier(started, this, options)
  }

  /** Starts a {@link bcast}. */
  ibcast<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: T | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<T | I>
  ibcast<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: StridedView<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<StridedView<T> | I>
  ibcast<T>(data: (T & SendableValue) | null, root?: number, options?: ValueOptions): Request<T>
  ibcast(data: unknown, root = 0, options?: MovementOptions): Request<unknown> {
    return collectives.bcast(started, this, data, root, options)
  }

  /** Starts a {@link reduce}. */
  ireduce(
    data: number,
    op: NumberOperation,
    root?: number,
    options?: ScalarReductionOptions,
  ): Request<number | null>
  ireduce(
    data: bigint,
    op: BigintOperation,
    root?: number,
    options?: ScalarReductionOptions,
  ): Request<bigint | null>
  ireduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    root?: number,
    options?: ReductionOptions<I>,
  ): Request<I | null>
  ireduce<T>(
    data: T & SendableValue,
    op: Operation<T>,
    root?: number,
    options?: ScalarReductionOptions,
  ): Request<T | null>
  ireduce(data: unknown, op: unknown, root = 0, options?: ReductionOptions): Request<unknown> {
    return collectives.reduce(started, this, data, op, root, options)
  }

  /** Starts an {@link allreduce}. */
  iallreduce(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number>
  iallreduce(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint>
  iallreduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I>
  iallreduce<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T>
  iallreduce(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.allreduce(started, this, data, op, options)
  }

  /** Starts a {@link gather}. */
  igather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<I | null>
  igather<T>(data: T & SendableValue, root?: number, options?: ValueOptions): Request<T[] | null>
  igather(data: unknown, root = 0, options?: MovementOptions): Request<unknown> {
    return collectives.gather(started, this, 'gather', data, root, options)
  }

  /** Starts a {@link gatherv}. */
  igatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root = 0,
    options?: BlocksOptions<I>,
  ): Request<Gathered<I> | null> {
    return collectives.gather(started, this, 'gatherv', data, root, options)
  }

  /** Starts a {@link scatter}. */
  iscatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<I>
  iscatter<T>(data: readonly (T & SendableValue)[] | null, root?: number, options?: ValueOptions): Request<T>
  iscatter(data: unknown, root = 0, options?: MovementOptions): Request<unknown> {
    return collectives.scatter(started, this, 'scatter', data, null, root, options)
  }

  /** Starts a {@link scatterv}. */
  iscatterv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    counts: ArrayLike<number> | null,
    root = 0,
    options?: MovementOptions<I> & { readonly displs?: ArrayLike<number> },
  ): Request<I> {
    return collectives.scatter(started, this, 'scatterv', data, counts, root, options)
  }

  /** Starts an {@link allgather}. */
  iallgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Request<I>
  iallgather<T>(data: T & SendableValue, options?: ValueOptions): Request<T[]>
  iallgather(data: unknown, options?: MovementOptions): Request<unknown> {
    return collectives.gather(started, this, 'allgather', data, null, options)
  }

  /** Starts an {@link allgatherv}. */
  iallgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: BlocksOptions<I>,
  ): Request<Gathered<I>> {
    return collectives.gather(started, this, 'allgatherv', data, null, options)
  }

  /** Starts an {@link alltoall}. */
  ialltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Request<I>
  ialltoall<T>(data: readonly (T & SendableValue)[], options?: ValueOptions): Request<T[]>
  ialltoall(data: unknown, options?: MovementOptions): Request<unknown> {
    return collectives.alltoall(started, this, 'alltoall', data, null, options)
  }

  /** Starts an {@link alltoallv}. */
  ialltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: BlocksOptions<I> & { readonly sendDispls?: ArrayLike<number> },
  ): Request<Gathered<I>> {
    return collectives.alltoall(started, this, 'alltoallv', data, sendCounts, options)
  }

  /** Starts a {@link reduceScatter}. */
  ireduceScatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I> & { readonly counts?: ArrayLike<number> },
  ): Request<I> {
    return collectives.reduceScatter(started, this, data, op, options)
  }

  /** Starts a {@link scan}. */
  iscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number>
  iscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint>
  iscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I>
  iscan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T>
  iscan(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.scan(started, this, 'scan', data, op, options)
  }

  /** Starts an {@link exscan}. */
  iexscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number | null>
  iexscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint | null>
  iexscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I | null>
  iexscan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T | null>
  iexscan(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.scan(started, this, 'exscan', data, op, options)
  }
}
