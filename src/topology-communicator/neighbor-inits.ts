import type { ArrayOperation } from '../calls/plan/options.js'
import type { PersistentRequest } from '../calls/program/persistent-request.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import type { EdgeBlocksOptions } from './exchanges/neighbor-alltoall.js'
import { neighborAlltoallInit, neighborAlltoallvInit } from './exchanges/neighbor-alltoall-inits.js'
import type { EdgeData } from './exchanges/neighbor-alltoallw.js'
import { neighborAlltoallwInit } from './exchanges/neighbor-alltoallw-init.js'
import { type NeighborReduceOptions, neighborReduceInit } from './exchanges/neighbor-reduce.js'
import {
  type AllgatherInitOptions,
  neighborAllgatherInit,
  neighborAllgathervInit,
} from './exchanges/persistent-allgather.js'
import type { NeighborRequest } from './execute/neighbor-request.js'
import type { NeighborInitOptions } from './execute/tune-options.js'
import type { BlockLayoutOptions } from './memory/block-layout.js'

/**
 * Persistent collectives over a topology, bound once to their buffers and started often (MPI-4.1 §8.8).
 * Ownership: the buffers are borrowed while a start is active.
 */
export interface PersistentNeighborCalls {
  /**
   * Creates a persistent `neighborAllgather` between these two buffers. Collective: every rank calls it, in the same
   * order as all collectives; it returns at once.
   *
   * With `tune`, of a communicator whose strategy the library chooses, the first starts try the strategies that are
   * predicted to be best, `starts` times each in turn. Later ones keep the strategy whose median time is least, where
   * the time of the slowest process counts. Results are right at every start. Costs, until one is chosen: a start
   * begins with an agreement by lg (processes) messages of 8 bytes per process, in which all wait for the last; the
   * plan, program and blocks of every candidate are retained. `tuning` of the request reports what was measured.
   *
   * With `sharedMemory`, of a communicator that sends directly or lets the library choose, blocks are read in place if
   * all processes share memory: only on `mpi`, on one node of at most 64 processes. That is the default for blocks of
   * up to 16 KiB if these processes share cores. A start then waits until the destinations have written their blocks of
   * the start before it. So a rank has completed at most one start more than they have begun. Every process retains,
   * until the communicator is freed, twice its ranks' blocks and 64 bytes, rounded up to 64, in memory that peers read:
   * at most 16 MiB of all its requests; requests that find no room send their blocks.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, ERR_ARGUMENT for options, ERR_STRATEGY for `tune` if
   *   the strategy was given, and for `sharedMemory` if it is not `direct`; before anything is sent
   * @throws ERR_COLLECTIVE_MISMATCH at `start`, when neighbors bound other counts or types, or ranks other options of
   *   `tune`
   * @see MPI-4.1 §8.8.1
   */
  neighborAllgatherInit<T extends TypedArray>(
    send: T,
    recv: T,
    options?: AllgatherInitOptions,
  ): NeighborRequest

  /**
   * Creates a persistent `neighborAllgatherv`. Lengths are exchanged once, here; starts do not send them.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH for arrays, ERR_COUNT for malformed lists, ERR_ARGUMENT for options, before
   *   anything is sent
   * @throws ERR_COUNT, ERR_TRUNCATE at every `start`, on the ranks of this process, when what arrives does not fit
   * @see MPI-4.1 §8.8.1
   */
  neighborAllgathervInit<T extends TypedArray>(
    send: T,
    recv: T,
    layout?: BlockLayoutOptions,
  ): PersistentRequest

  /**
   * Creates a persistent `neighborAlltoall` between these two buffers. Collective; it returns at once. `tune` works as
   * in `neighborAllgatherInit`. It tries the strategies that the library would choose among for alltoalls, for the
   * block length `bytes` of the strategy. Without `bytes`, the length of the blocks counts, and 1,024 B if not all
   * ranks know it.
   *
   * @throws as `neighborAlltoall`; ERR_TYPE for strided views; ERR_ARGUMENT, ERR_STRATEGY for options
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallInit<T extends TypedArray>(send: T, recv: T, options?: NeighborInitOptions): NeighborRequest

  /**
   * Creates a persistent `neighborAlltoallv`. Lengths are exchanged once, here; starts do not send them.
   *
   * @throws ERR_TYPE, ERR_COUNT for the data and for malformed lists, ERR_ARGUMENT for options, before anything is sent
   * @throws ERR_COUNT, ERR_TRUNCATE at every `start`, on the ranks of this process, when what arrives does not fit
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallvInit<T extends TypedArray>(
    send: T,
    sendCounts: ArrayLike<number>,
    recv: T,
    options?: Omit<EdgeBlocksOptions, 'into' | 'signal'>,
  ): PersistentRequest

  /**
   * Creates a persistent `neighborAlltoallw` between these buffers, which may be strided views. Types and lengths are
   * exchanged once, here.
   *
   * @throws ERR_COUNT for lists of other lengths, ERR_TYPE for data that are not elements, before anything is sent
   * @throws ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_COUNT at every `start`, on the ranks of this process, when a block
   *   does not fit
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallwInit(send: readonly EdgeData[], recv: readonly (ReceiveBuffer | null)[]): PersistentRequest

  /** Creates a persistent `neighborReduce`. `recv` of a rank without sources is not written. */
  neighborReduceInit<T extends TypedArray>(
    send: T,
    recv: T,
    op: ArrayOperation<T>,
    options?: Pick<NeighborReduceOptions, 'order'>,
  ): PersistentRequest
}

export const persistentNeighborCalls = {
  neighborAllgatherInit,
  neighborAllgathervInit,
  neighborAlltoallInit,
  neighborAlltoallvInit,
  neighborAlltoallwInit,
  neighborReduceInit,
} satisfies PersistentNeighborCalls
