import { blocking } from '../calls/collectives/form.js'
import { started } from '../calls/collectives/started-form.js'
import type { ArrayOperation, Elements, IntoOptions } from '../calls/plan/options.js'
import type { Gathered } from '../calls/plan/placement.js'
import type { PersistentRequest } from '../calls/program/persistent-request.js'
import { Communicator } from '../comm/communicator.js'
import type { FreshArray, SameElements } from '../messages/datatype/array-types.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import type { Request } from '../messages/p2p/request.js'
import { type EdgeBlocksOptions, neighborAlltoall, neighborAlltoallv } from './exchanges/neighbor-alltoall.js'
import { neighborAlltoallInit, neighborAlltoallvInit } from './exchanges/neighbor-alltoall-inits.js'
import { type EdgeBuffersOptions, type EdgeData, neighborAlltoallw } from './exchanges/neighbor-alltoallw.js'
import { neighborAlltoallwInit } from './exchanges/neighbor-alltoallw-init.js'
import {
  type NeighborReduceOptions,
  neighborReduce,
  neighborReduceInit,
} from './exchanges/neighbor-reduce.js'
import type { NeighborRequest } from './execute/neighbor-request.js'
import type { Neighborhood } from './execute/neighborhood.js'
import type { NeighborInitOptions } from './execute/tune-options.js'

/**
 * Alltoalls and reductions over a topology. Ownership: what is
 * passed is borrowed until the promise settles or the request has completed.
 */
export abstract class ExchangeCommunicator extends Communicator {
  /** @internal */
  protected abstract readonly neighborhood: Neighborhood

  /**
   * Sends block j of `data` to the j-th destination, and receives a block from every source, in their order.
   * Shapes: the same number of elements in every block on all ranks; `data` has one block per destination,
   * the result one per source. On a grid both have two per dimension; those beyond a border are neither sent
   * nor written. Parallel edges are paired in the order of the lists; on a grid block s arrives as block
   * `s ^ 1`.
   *
   * @throws ERR_TYPE, ERR_COUNT, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, before anything is sent;
   *   ERR_TRUNCATE on a rank without destinations, which learns the length of blocks when they arrive, after
   *   the exchange
   * @throws ERR_COLLECTIVE_MISMATCH when neighbors pass blocks of different lengths or types; of different
   *   lengths any two ranks, not only neighbors, where the library chooses the strategy by the length
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Promise<I> {
    return neighborAlltoall(blocking, this, this.neighborhood, data, options) as Promise<I>
  }

  /** Starts a `neighborAlltoall`. */
  ineighborAlltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Request<I> {
    return neighborAlltoall(started, this, this.neighborhood, data, options) as Request<I>
  }

  /**
   * `neighborAlltoall` of blocks of any lengths: `sendCounts[j]` elements from `sendDispls[j]` (default: side
   * by side) to the j-th destination. Lengths are sent with the blocks; those given in `counts` are checked.
   * Blocks are packed in the order of the sources unless `displs` places them.
   *
   * @throws ERR_TYPE, ERR_COUNT for what is sent, before anything is
   * @throws ERR_COUNT when `counts` or `displs` do not fit what arrives, ERR_TRUNCATE when `into` is too
   * small: on this rank only, after the exchange
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: EdgeBlocksOptions<I>,
  ): Promise<Gathered<I>> {
    const { neighborhood } = this
    return neighborAlltoallv(blocking, this, neighborhood, data, sendCounts, options) as Promise<Gathered<I>>
  }

  /** Starts a `neighborAlltoallv`. */
  ineighborAlltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: EdgeBlocksOptions<I>,
  ): Request<Gathered<I>> {
    const { neighborhood } = this
    return neighborAlltoallv(started, this, neighborhood, data, sendCounts, options) as Request<Gathered<I>>
  }

  /**
   * `neighborAlltoall` of blocks of any lengths and types: `data[j]`, a typed array or a strided view, to the
   * j-th destination. What the l-th source sends fills `into[l]`, of the same type and length, or comes in a
   * fresh array of its type. On a grid both lists have two entries per dimension; those beyond a border are
   * not read, and null in the result unless `into` has a buffer there. The type travels as one byte in front
   * of each block.
   *
   * @throws ERR_COUNT for lists of other lengths, ERR_TYPE for what is not elements, before anything is sent
   * @throws ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT when a block does not fit its buffer: on this rank
   * only, after the exchange
   * @see MPI-4.1 §8.6.2
   */
  neighborAlltoallw(
    data: readonly EdgeData[],
    options?: EdgeBuffersOptions,
  ): Promise<(ReceiveBuffer | null)[]> {
    return neighborAlltoallw(blocking, this, this.neighborhood, data, options) as Promise<
      (ReceiveBuffer | null)[]
    >
  }

  /** Starts a `neighborAlltoallw`. */
  ineighborAlltoallw(
    data: readonly EdgeData[],
    options?: EdgeBuffersOptions,
  ): Request<(ReceiveBuffer | null)[]> {
    return neighborAlltoallw(started, this, this.neighborhood, data, options) as Request<
      (ReceiveBuffer | null)[]
    >
  }

  /**
   * Reduces, element by element, what the sources send: every rank sends `data` to all its destinations, and
   * gets the combination of the blocks of its sources, each as often as it is listed; its own only if it is
   * its own source. Not in MPI. A rank without sources gets null, and `into` is not written. Shapes: as many
   * elements as `data` has, the same number on all ranks.
   *
   * By default floating-point numbers, and operations that are not commutative, are combined in the order of
   * the sources, from first to last: the same bits on every layout and by every strategy. Integers, and with
   * `order: 'any'` all that commutes, are combined on the way where the strategy combines messages.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, ERR_OP for an operation that they do not
   *   have, before anything is sent
   * @throws ERR_COLLECTIVE_MISMATCH when neighbors pass different counts, types, operations or orders
   */
  neighborReduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: NeighborReduceOptions<I>,
  ): Promise<I | null> {
    return neighborReduce(blocking, this, this.neighborhood, data, op, options) as Promise<I | null>
  }

  /** Starts a `neighborReduce`. */
  ineighborReduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: NeighborReduceOptions<I>,
  ): Request<I | null> {
    return neighborReduce(started, this, this.neighborhood, data, op, options) as Request<I | null>
  }

  /**
   * A persistent `neighborAlltoall` between these two buffers. Collective; it returns at once. `tune` as of
   * `neighborAllgatherInit`: what is tried is what the library would choose among for alltoalls, of blocks of
   * `bytes` of the strategy. Without it their own length counts, and 1,024 B where not all ranks know that.
   *
   * @throws as `neighborAlltoall`; ERR_TYPE for strided views; ERR_ARGUMENT, ERR_STRATEGY for options
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallInit<T extends TypedArray>(
    send: T,
    recv: T,
    options?: NeighborInitOptions,
  ): NeighborRequest {
    return neighborAlltoallInit(this.seat(), this.neighborhood, send, recv, options)
  }

  /**
   * A persistent `neighborAlltoallv`. Lengths are exchanged once, here; starts do not send them.
   *
   * @throws ERR_TYPE, ERR_COUNT for what is sent, ERR_ARGUMENT for options, before anything is sent
   * @throws ERR_COUNT, ERR_TRUNCATE at every `start`, on the ranks of this process, when what arrives does
   *   not fit
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallvInit<T extends TypedArray>(
    send: T,
    sendCounts: ArrayLike<number>,
    recv: T,
    options?: Omit<EdgeBlocksOptions, 'into' | 'signal'>,
  ): PersistentRequest {
    return neighborAlltoallvInit(this.seat(), this.neighborhood, send, sendCounts, recv, options)
  }

  /**
   * A persistent `neighborAlltoallw` between these buffers, which may be strided views. Types and lengths are
   * exchanged once, here.
   *
   * @throws ERR_COUNT for lists of other lengths, ERR_TYPE for what is not elements, before anything is sent
   * @throws ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT at every `start`, on the ranks of this process, when a
   *   block does not fit
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallwInit(
    send: readonly EdgeData[],
    recv: readonly (ReceiveBuffer | null)[],
  ): PersistentRequest {
    return neighborAlltoallwInit(this.seat(), this.neighborhood, send, recv)
  }

  /** A persistent `neighborReduce`. `recv` of a rank without sources is not written. */
  neighborReduceInit<T extends TypedArray>(
    send: T,
    recv: T,
    op: ArrayOperation<T>,
    options?: Pick<NeighborReduceOptions, 'order'>,
  ): PersistentRequest {
    return neighborReduceInit(this.seat(), this.neighborhood, send, recv, op, options)
  }
}
