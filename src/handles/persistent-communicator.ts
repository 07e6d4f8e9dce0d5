import * as collectives from '../calls/collectives/collectives.js'
import { boundCall } from '../calls/collectives/inits.js'
import type { ArrayOperation, BlockPlaces } from '../calls/collectives/options.js'
import type { MethodOptions, OrderOptions } from '../calls/plan/method.js'
import type { PersistentRequest } from '../calls/program/persistent-request.js'
import type { SameElements, TypedArray } from '../messages/datatype/elements.js'

import { CollectiveCommunicator } from './collective-communicator.js'

/**
 * Collectives that are bound once to their buffers and started often (MPI-4.1 §6.13). An init is a collective itself:
 * every rank calls it, in the same order as all collectives; it returns at once. Starts are matched among those of one
 * request: all ranks start the same requests equally often.
 *
 * Shapes are those of the method without `Init`, in typed arrays. `recv` may be `send`, or overlap it. Both are
 * borrowed while a start is active.
 *
 * The init throws errors of the arguments before anything is sent, and ERR_TRUNCATE, too, if `counts` gives the
 * lengths. ERR_COLLECTIVE_MISMATCH comes from `start`, or from the init of another rank of the process, when ranks
 * bound different types, lengths, operations or methods.
 */
export abstract class PersistentCommunicator extends CollectiveCommunicator {
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
