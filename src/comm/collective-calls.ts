import * as collectives from '../calls/collectives/collectives.js'
import { blocking, type Form, type Handle, type Returned, type Started } from '../calls/collectives/form.js'
import { started } from '../calls/collectives/started-form.js'
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
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { BigintOperation, NumberOperation, Operation } from '../messages/datatype/operation.js'
import type { SendableValue } from '../messages/datatype/payload.js'
import type { StridedView } from '../messages/datatype/strided-view.js'

/**
 * Collectives of a communicator (MPI-4.1 §6): every rank calls them in the same order; they may be started
 * concurrently.
 *
 * Typed arrays and strided views arrive as fresh arrays of their element type, or in `into`, which the call then
 * returns. Any other value travels as a structured clone.
 *
 * The arrays that a rank passes are borrowed until its promise settles. Until then `data` must not change, and `into`
 * has no defined content. `into` may be `data`, or overlap it.
 *
 * `W` is the form of the call: what it returns at once.
 */
export interface CollectiveCalls<W extends keyof Returned<unknown>> {
  /** Resolves when every rank has called it. @see MPI-4.1 §6.3 */
  barrier(options?: ValueOptions): Returned<void>[W]

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
  ): Returned<T | I>[W]
  bcast<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: StridedView<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Returned<StridedView<T> | I>[W]
  bcast<T>(data: (T & SendableValue) | null, root?: number, options?: ValueOptions): Returned<T>[W]

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
  ): Returned<number | null>[W]
  reduce(
    data: bigint,
    op: BigintOperation,
    root?: number,
    options?: ScalarReductionOptions,
  ): Returned<bigint | null>[W]
  reduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    root?: number,
    options?: ReductionOptions<I>,
  ): Returned<I | null>[W]
  reduce<T>(
    data: T & SendableValue,
    op: Operation<T>,
    root?: number,
    options?: ScalarReductionOptions,
  ): Returned<T | null>[W]

  /**
   * Reduces like `reduce`, with the result on every rank.
   *
   * @see MPI-4.1 §6.9.6
   */
  allreduce(data: number, op: NumberOperation, options?: ScalarReductionOptions): Returned<number>[W]
  allreduce(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Returned<bigint>[W]
  allreduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Returned<I>[W]
  allreduce<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Returned<T>[W]

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
  ): Returned<I | null>[W]
  gather<T>(data: T & SendableValue, root?: number, options?: ValueOptions): Returned<T[] | null>[W]

  /**
   * Gathers like `gather`, for arrays of any lengths; their counts travel along.
   *
   * @see MPI-4.1 §6.5
   */
  gatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root?: number,
    options?: BlocksOptions<I>,
  ): Returned<Gathered<I> | null>[W]

  /**
   * Sends block r of the root's array to rank r; its length must be a multiple of `size`.
   * @see MPI-4.1 §6.6
   */
  scatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Returned<I>[W]
  scatter<T>(
    data: readonly (T & SendableValue)[] | null,
    root?: number,
    options?: ValueOptions,
  ): Returned<T>[W]

  /**
   * Sends `counts[r]` elements from `displs[r]` (default: packed) of the root's array to rank r.
   * @see MPI-4.1 §6.6
   */
  scatterv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    counts: ArrayLike<number> | null,
    root?: number,
    options?: MovementOptions<I> & { readonly displs?: ArrayLike<number> },
  ): Returned<I>[W]

  /**
   * Gathers like `gather`, with the result on every rank.
   *
   * @see MPI-4.1 §6.7
   */
  allgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Returned<I>[W]
  allgather<T>(data: T & SendableValue, options?: ValueOptions): Returned<T[]>[W]

  /**
   * Gathers like `gatherv`, with the result on every rank.
   *
   * @see MPI-4.1 §6.7
   */
  allgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: BlocksOptions<I>,
  ): Returned<Gathered<I>>[W]

  /**
   * Sends block j to rank j, where it is block `rank` of the result; all blocks have one length.
   * @see MPI-4.1 §6.8
   */
  alltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Returned<I>[W]
  alltoall<T>(data: readonly (T & SendableValue)[], options?: ValueOptions): Returned<T[]>[W]

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
  ): Returned<Gathered<I>>[W]

  /**
   * Reduces like `reduce`; block r of the result, `counts[r]` elements (default: equal blocks), goes to rank r.
   *
   * @see MPI-4.1 §6.10
   */
  reduceScatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I> & { readonly counts?: ArrayLike<number> },
  ): Returned<I>[W]

  /** Reduces over the ranks from 0 to this one. @see MPI-4.1 §6.11.1 */
  scan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Returned<number>[W]
  scan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Returned<bigint>[W]
  scan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Returned<I>[W]
  scan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Returned<T>[W]

  /**
   * Reduces over the ranks below this one; null on rank 0, where MPI leaves it undefined.
   * @see MPI-4.1 §6.11.2
   */
  exscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Returned<number | null>[W]
  exscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Returned<bigint | null>[W]
  exscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Returned<I | null>[W]
  exscan<T>(
    data: T & SendableValue,
    op: Operation<T>,
    options?: ScalarReductionOptions,
  ): Returned<T | null>[W]
}

/**
 * Collectives that a rank starts and waits for later (MPI-4.1 §6.12): `iallreduce` starts an `allreduce`, and so on.
 * Arguments, results and ownership of arrays are those of the method without the `i`, until the request has completed.
 *
 * The request may be waited for and tested together with those of messages. It cannot be cancelled (ERR_REQUEST). The
 * `signal` in the options aborts the collective, which revokes the communicator; that of a wait ends the wait only.
 *
 * Ranks start collectives in the same order; a rank may start a call that another one makes without the `i`. Wrong
 * arguments throw.
 */
export interface StartedCalls extends Started<CollectiveCalls<'started'>> {}

/** Each call with its defaults, in either form. */
type CallTable = Record<keyof CollectiveCalls<'blocking'>, (this: Handle, ...args: never) => unknown>

export function callsIn(form: Form<unknown>): CallTable {
  return {
    barrier(options?: ValueOptions) {
      return collectives.barrier(form, this, options)
    },
    bcast(data: unknown, root = 0, options?: MovementOptions) {
      return collectives.bcast(form, this, data, root, options)
    },
    reduce(data: unknown, op: unknown, root = 0, options?: ReductionOptions) {
      return collectives.reduce(form, this, data, op, root, options)
    },
    allreduce(data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.allreduce(form, this, data, op, options)
    },
    gather(data: unknown, root = 0, options?: MovementOptions) {
      return collectives.gather(form, this, 'gather', data, root, options)
    },
    gatherv(data: unknown, root = 0, options?: BlocksOptions) {
      return collectives.gather(form, this, 'gatherv', data, root, options)
    },
    scatter(data: unknown, root = 0, options?: MovementOptions) {
      return collectives.scatter(form, this, 'scatter', data, null, root, options)
    },
    scatterv(
      data: unknown,
      counts: ArrayLike<number> | null,
      root = 0,
      options?: MovementOptions & { readonly displs?: ArrayLike<number> },
    ) {
      return collectives.scatter(form, this, 'scatterv', data, counts, root, options)
    },
    allgather(data: unknown, options?: MovementOptions) {
      return collectives.gather(form, this, 'allgather', data, null, options)
    },
    allgatherv(data: unknown, options?: BlocksOptions) {
      return collectives.gather(form, this, 'allgatherv', data, null, options)
    },
    alltoall(data: unknown, options?: MovementOptions) {
      return collectives.alltoall(form, this, 'alltoall', data, null, options)
    },
    alltoallv(
      data: unknown,
      sendCounts: ArrayLike<number>,
      options?: BlocksOptions & { readonly sendDispls?: ArrayLike<number> },
    ) {
      return collectives.alltoall(form, this, 'alltoallv', data, sendCounts, options)
    },
    reduceScatter(
      data: unknown,
      op: unknown,
      options?: ReductionOptions & { readonly counts?: ArrayLike<number> },
    ) {
      return collectives.reduceScatter(form, this, data, op, options)
    },
    scan(data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.scan(form, this, 'scan', data, op, options)
    },
    exscan(data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.scan(form, this, 'exscan', data, op, options)
    },
  }
}

export const blockingCalls = callsIn(blocking)
export const startedCalls = callsIn(started)
