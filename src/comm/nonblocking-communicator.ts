import * as collectives from '../calls/collectives/collectives.js'
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
import type { Request } from '../messages/p2p/request.js'
import { CollectiveCommunicator } from './collective-communicator.js'
import { startedBy } from './started-collective.js'

/**
 * Collectives that a rank starts and waits for later (MPI-4.1 §6.12): arguments, results and ownership of
 * arrays are those of the method without the `i`, until the request has completed.
 *
 * The request may be waited for and tested together with those of messages. It cannot be cancelled
 * (ERR_REQUEST): the `signal` in the options aborts the collective, which revokes the communicator; that of a
 * wait ends the wait only.
 *
 * Ranks start collectives in the same order; a rank may start what another one calls without the `i`. Wrong
 * arguments throw.
 */
export abstract class NonblockingCommunicator extends CollectiveCommunicator {
  /** Starts a `barrier`: its request completes when every rank has started it. */
  ibarrier(options?: ValueOptions): Request<void> {
    return collectives.barrier(startedBy(this), this, options) as Request<void>
  }

  /** Starts a `bcast`. */
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
    return collectives.bcast(startedBy(this), this, data, root, options)
  }

  /** Starts a `reduce`. */
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
    return collectives.reduce(startedBy(this), this, data, op, root, options)
  }

  /** Starts an `allreduce`. */
  iallreduce(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number>
  iallreduce(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint>
  iallreduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I>
  iallreduce<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T>
  iallreduce(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.allreduce(startedBy(this), this, data, op, options)
  }

  /** Starts a `gather`. */
  igather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<I | null>
  igather<T>(data: T & SendableValue, root?: number, options?: ValueOptions): Request<T[] | null>
  igather(data: unknown, root = 0, options?: MovementOptions): Request<unknown> {
    return collectives.gather(startedBy(this), this, data, root, options)
  }

  /** Starts a `gatherv`. */
  igatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    root = 0,
    options?: BlocksOptions<I>,
  ): Request<Gathered<I> | null> {
    return collectives.gatherv(startedBy(this), this, data, root, options) as Request<Gathered<I> | null>
  }

  /** Starts a `scatter`. */
  iscatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    root?: number,
    options?: MovementOptions<I>,
  ): Request<I>
  iscatter<T>(data: readonly (T & SendableValue)[] | null, root?: number, options?: ValueOptions): Request<T>
  iscatter(data: unknown, root = 0, options?: MovementOptions): Request<unknown> {
    return collectives.scatter(startedBy(this), this, data, root, options)
  }

  /** Starts a `scatterv`. */
  iscatterv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T> | null,
    counts: ArrayLike<number> | null,
    root = 0,
    options?: MovementOptions<I> & { readonly displs?: ArrayLike<number> },
  ): Request<I> {
    return collectives.scatterv(startedBy(this), this, data, counts, root, options) as Request<I>
  }

  /** Starts an `allgather`. */
  iallgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Request<I>
  iallgather<T>(data: T & SendableValue, options?: ValueOptions): Request<T[]>
  iallgather(data: unknown, options?: MovementOptions): Request<unknown> {
    return collectives.allgather(startedBy(this), this, data, options)
  }

  /** Starts an `allgatherv`. */
  iallgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: BlocksOptions<I>,
  ): Request<Gathered<I>> {
    return collectives.allgatherv(startedBy(this), this, data, options) as Request<Gathered<I>>
  }

  /** Starts an `alltoall`. */
  ialltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: MovementOptions<I>,
  ): Request<I>
  ialltoall<T>(data: readonly (T & SendableValue)[], options?: ValueOptions): Request<T[]>
  ialltoall(data: unknown, options?: MovementOptions): Request<unknown> {
    return collectives.alltoall(startedBy(this), this, data, options)
  }

  /** Starts an `alltoallv`. */
  ialltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: BlocksOptions<I> & { readonly sendDispls?: ArrayLike<number> },
  ): Request<Gathered<I>> {
    return collectives.alltoallv(startedBy(this), this, data, sendCounts, options) as Request<Gathered<I>>
  }

  /** Starts a `reduceScatter`. */
  ireduceScatter<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I> & { readonly counts?: ArrayLike<number> },
  ): Request<I> {
    return collectives.reduceScatter(startedBy(this), this, data, op, options) as Request<I>
  }

  /** Starts a `scan`. */
  iscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number>
  iscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint>
  iscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I>
  iscan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T>
  iscan(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.scan(startedBy(this), this, data, op, options)
  }

  /** Starts an `exscan`. */
  iexscan(data: number, op: NumberOperation, options?: ScalarReductionOptions): Request<number | null>
  iexscan(data: bigint, op: BigintOperation, options?: ScalarReductionOptions): Request<bigint | null>
  iexscan<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: ReductionOptions<I>,
  ): Request<I | null>
  iexscan<T>(data: T & SendableValue, op: Operation<T>, options?: ScalarReductionOptions): Request<T | null>
  iexscan(data: unknown, op: unknown, options?: ReductionOptions): Request<unknown> {
    return collectives.exscan(startedBy(this), this, data, op, options)
  }
}
