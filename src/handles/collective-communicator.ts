import * as collectives from '../calls/collectives/collectives.js'
import { blocking, started } from '../calls/collectives/collectives.js'
import { boundCall } from '../calls/collectives/inits.js'
import type {
  ArrayOperation,
  BlockPlaces,
  BlocksOptions,
  Elements,
  MovementOptions,
  ReductionOptions,
  ScalarReductionOptions,
  ValueOptions,
} from '../calls/collectives/options.js'
import type { MethodOptions, OrderOptions } from '../calls/plan/method.js'
import type { PersistentRequest } from '../calls/program/planned-call.js'
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
 *
 * **Persistent collectives** (MPI-4.1 §6.13) are bound once to their buffers and started often. An init is a
 * collective itself: every rank calls it, in the same order as all collectives; it returns at once. Starts are matched
 * among those of one request: all ranks start the same requests equally often.
 *
 * Shapes are those of the method without `Init`, in typed arrays. `recv` may be `send`, or overlap it. Both are
 * borrowed while a start is active.
 *
 * The init throws errors of the arguments before anything is sent, and ERR_TRUNCATE, too, if `counts` gives the
 * lengths. ERR_COLLECTIVE_MISMATCH comes from `start`, or from the init of another rank of the process, when ranks
 * bound different types, lengths, operations or methods.
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

  /**
   * A persistent `barrier`.
   *
   * @throws ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  barrierInit(options?: MethodOptions): PersistentRequest {
    const bound = boundCall('barrierInit', this, {}, options)
    return collectives.barrier(bound.form, this, bound.options)
  }

  /**
   * A persistent `bcast`: every start fills `buffer`, of the same type and length on all ranks, with that of
   * `root`.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  bcastInit<T extends TypedArray>(buffer: T, root = 0, options?: MethodOptions): PersistentRequest {
    const bound = boundCall('bcastInit', this, { recv: buffer }, options)
    return collectives.bcast(bound.form, this, buffer, root, bound.options)
  }

  /**
   * A persistent `allgather` of arrays of one length. `send` may be its own block of `recv`.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  allgatherInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    options?: MethodOptions,
  ): PersistentRequest {
    const bound = boundCall('allgatherInit', this, { send, recv }, options)
    return collectives.gather(bound.form, this, 'allgather', send, null, bound.options)
  }

  /**
   * A persistent `allreduce` of arrays. `recv` may be `send`.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  allreduceInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    op: ArrayOperation<T>,
    options?: OrderOptions,
  ): PersistentRequest {
    const bound = boundCall('allreduceInit', this, { send, recv }, options)
    return collectives.allreduce(bound.form, this, send, op, bound.options)
  }

  /**
   * A persistent `scatter` of blocks as long as `recv`; `send` is null on other ranks than the root.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_TYPE_MISMATCH, ERR_COUNT, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  scatterInit<T extends TypedArray>(
    send: T | null,
    recv: SameElements<T>,
    root = 0,
    options?: MethodOptions,
  ): PersistentRequest {
    const bound = boundCall('scatterInit', this, this.rank === root ? { send, recv } : { recv }, options)
    return collectives.scatter(bound.form, this, 'scatter', send, null, root, bound.options)
  }

  /**
   * A persistent `scatterv`: rank r gets `counts[r]` elements from `displs[r]` (default: packed) of `send` at
   * the start of `recv`. `send` and `counts` are null on other ranks than the root.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_TYPE_MISMATCH, ERR_COUNT, ERR_ARGUMENT, ERR_ALGORITHM; a start:
   *   ERR_TRUNCATE
   * @see MPI-4.1 §6.13
   */
  scattervInit<T extends TypedArray>(
    send: T | null,
    counts: ArrayLike<number> | null,
    recv: SameElements<T>,
    root = 0,
    options?: MethodOptions & { readonly displs?: ArrayLike<number> },
  ): PersistentRequest {
    const bound = boundCall('scattervInit', this, this.rank === root ? { send, recv } : { recv }, options)
    return collectives.scatter(bound.form, this, 'scatterv', send, counts, root, bound.options)
  }

  /**
   * A persistent `gather` of arrays of one length; `recv` is null on other ranks than the root.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  gatherInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T> | null,
    root = 0,
    options?: MethodOptions,
  ): PersistentRequest {
    const bound = boundCall('gatherInit', this, this.rank === root ? { send, recv } : { send }, options)
    return collectives.gather(bound.form, this, 'gather', send, root, bound.options)
  }

  /**
   * A persistent `gatherv`: `recv` is null on other ranks than the root; lengths travel with every start.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_TYPE_MISMATCH, ERR_ARGUMENT, ERR_ALGORITHM; ERR_COUNT, ERR_TRUNCATE if `counts` is
   *   given; a start: ERR_COUNT, ERR_TRUNCATE
   * @see MPI-4.1 §6.13
   */
  gathervInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T> | null,
    root = 0,
    options?: BlockPlaces,
  ): PersistentRequest {
    const bound = boundCall('gathervInit', this, this.rank === root ? { send, recv } : { send }, options)
    return collectives.gather(bound.form, this, 'gatherv', send, root, bound.options)
  }

  /**
   * A persistent `allgatherv`; lengths travel with every start.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_ARGUMENT, ERR_ALGORITHM; ERR_COUNT, ERR_TRUNCATE if `counts` is given; a
   *   start: ERR_COUNT, ERR_TRUNCATE
   * @see MPI-4.1 §6.13
   */
  allgathervInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    options?: BlockPlaces,
  ): PersistentRequest {
    const bound = boundCall('allgathervInit', this, { send, recv }, options)
    return collectives.gather(bound.form, this, 'allgatherv', send, null, bound.options)
  }

  /**
   * A persistent `alltoallv`: `sendCounts` and `sendDispls` are those of the init, lengths travel with every start.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_COUNT, ERR_ARGUMENT, ERR_ALGORITHM; ERR_TRUNCATE if `counts` is given; a
   *   start: ERR_COUNT, ERR_TRUNCATE
   * @see MPI-4.1 §6.13
   */
  alltoallvInit<T extends TypedArray>(
    send: T,
    sendCounts: ArrayLike<number>,
    recv: SameElements<T>,
    options?: BlockPlaces & { readonly sendDispls?: ArrayLike<number> },
  ): PersistentRequest {
    const bound = boundCall('alltoallvInit', this, { send, recv }, options)
    return collectives.alltoall(bound.form, this, 'alltoallv', send, sendCounts, bound.options)
  }

  /**
   * A persistent `alltoall`.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  alltoallInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    options?: MethodOptions,
  ): PersistentRequest {
    const bound = boundCall('alltoallInit', this, { send, recv }, options)
    return collectives.alltoall(bound.form, this, 'alltoall', send, null, bound.options)
  }

  /**
   * A persistent `reduce` of arrays; `recv` is null on other ranks than the root.
   *
   * @throws ERR_RANK, ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  reduceInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T> | null,
    op: ArrayOperation<T>,
    root = 0,
    options?: OrderOptions,
  ): PersistentRequest {
    const bound = boundCall('reduceInit', this, this.rank === root ? { send, recv } : { send }, options)
    return collectives.reduce(bound.form, this, send, op, root, bound.options)
  }

  /**
   * A persistent `reduceScatter`.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  reduceScatterInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    op: ArrayOperation<T>,
    options?: OrderOptions & { readonly counts?: ArrayLike<number> },
  ): PersistentRequest {
    const bound = boundCall('reduceScatterInit', this, { send, recv }, options)
    return collectives.reduceScatter(bound.form, this, send, op, bound.options)
  }

  /**
   * A persistent `scan` of arrays.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  scanInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    op: ArrayOperation<T>,
    options?: OrderOptions,
  ): PersistentRequest {
    const bound = boundCall('scanInit', this, { send, recv }, options)
    return collectives.scan(bound.form, this, 'scan', send, op, bound.options)
  }

  /**
   * A persistent `exscan` of arrays; `recv` of rank 0 stays unchanged.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM
   * @see MPI-4.1 §6.13
   */
  exscanInit<T extends TypedArray>(
    send: T,
    recv: SameElements<T>,
    op: ArrayOperation<T>,
    options?: OrderOptions,
  ): PersistentRequest {
    const bound = boundCall('exscanInit', this, { send, recv }, options)
    return collectives.scan(bound.form, this, 'exscan', send, op, bound.options)
  }
}
