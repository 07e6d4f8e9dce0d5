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
} from '../calls/plan/options.js'
import type { Gathered } from '../calls/plan/placement.js'
import type { FreshArray, SameElements } from '../messages/datatype/array-types.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { Operation } from '../messages/datatype/operation.js'
import type { BigintOperation, NumberOperation } from '../messages/datatype/operation-names.js'
import type { SendableValue } from '../messages/datatype/payload.js'
import type { StridedView } from '../messages/datatype/strided-view.js'
import { MessageCommunicator } from './message-communicator.js'

/**
 * Collectives of a communicator (MPI-4.1 §6): every rank calls them in the same order; they may be started
 * concurrently.
 *
 * Typed arrays and strided views come back as fresh arrays of their element type, or in `into`, which is then
 * what is returned. Any other value travels as a structured clone.
 *
 * The arrays that a rank passes are borrowed until its promise settles, either way: until then `data` must
 * not change, and `into` has no defined content. `into` may be `data`, or overlap it.
 */
export abstract class CollectiveCommunicator extends MessageCommunicator {
  /** Resolves when every rank has called it. @see MPI-4.1 §6.3 */
  barrier(options?: ValueOptions): Promise<void> {
    return collectives.barrier(blocking, this, options) as Promise<void>
  }

  /**
   * Sends `data` of `root` to every rank. The root gets what it passed, the others a fresh copy or `into`;
   * what they pass as `data` is ignored.
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

  /** `reduce` with the result on every rank. @see MPI-4.1 §6.9.6 */
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
    return collectives.gather(blocking, this, data, root, options)
  }

  /** `gather` of arrays of any lengths; their counts travel along. @see MPI-4.1 §6.5 */
  gatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root = 0,
    options?: BlocksOptions<I>,
  ): Promise<Gathered<I> | null> {
    return collectives.gatherv(blocking, this, data, root, options) as Promise<Gathered<I> | null>
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
    return collectives.scatter(blocking, this, data, root, options)
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
    return collectives.scatterv(blocking, this, data, counts, root, options) as Promise<I>
  }

  /** `gather` with the result on every rank. @see MPI-4.1 §6.7 */
  allgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Promise<I>
  allgather<T>(data: T & SendableValue, options?: ValueOptions): Promise<T[]>
  allgather(data: unknown, options?: MovementOptions): Promise<unknown> {
    return collectives.allgather(blocking, this, data, options)
  }

  /** `gatherv` with the result on every rank. @see MPI-4.1 §6.7 */
  allgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: BlocksOptions<I>,
  ): Promise<Gathered<I>> {
    return collectives.allgatherv(blocking, this, data, options) as Promise<Gathered<I>>
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
    return collectives.alltoall(blocking, this, data, options)
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
    return collectives.alltoallv(blocking, this, data, sendCounts, options) as Promise<Gathered<I>>
  }

  /**
   * `reduce` whose block r, `counts[r]` elements (default: equal blocks), goes to rank r.
   * @see MPI-4.1 §6.10
   */
  reduceScatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I> & { readonly counts?: ArrayLike<number> },
  ): Promise<I> {
    return collectives.reduceScatter(blocking, this, data, op, options) as Promise<I>
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
    return collectives.scan(blocking, this, data, op, options)
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
    return collectives.exscan(blocking, this, data, op, options)
  }
}
