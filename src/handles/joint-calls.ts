import { promiseTry } from '../base/turn.js'
import { barrierOf } from '../calls/collectives/barrier.js'
import * as collectives from '../calls/collectives/collectives.js'
import type { Form, Handle } from '../calls/collectives/form.js'
import { repeatedAllreduce } from '../calls/collectives/joint-allreduce.js'
import {
  type ByHandle,
  type JointOptions,
  type JointTable,
  joint,
  jointCallsIn,
  jointly,
} from '../calls/collectives/joint-form.js'
import type {
  ArrayOperation,
  BlocksOptions,
  Elements,
  MovementOptions,
  ReductionOptions,
  ScalarReductionOptions,
  ValueOptions,
} from '../calls/collectives/options.js'
import { hostedBy } from '../calls/hosted-ranks.js'
import { PersistentRequest } from '../calls/program/persistent-request.js'
import type { Gathered } from '../calls/values/placement.js'
import type { CommState } from '../comm/comm-state.js'
import type { CommHandle, MakeHandle } from '../comm/handle.js'
import type { SplitOptions } from '../comm/split/split-plan.js'
import { split, splitTogether } from '../comm/split-communicator.js'
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { BigintOperation, NumberOperation, Operation } from '../messages/datatype/operation.js'
import type { SendableValue } from '../messages/datatype/payload.js'

/**
 * Collectives of all ranks of a process in one call with one promise, for hosted programs:
 * `Communicator.allreduceAll(worlds, values, 'sum')`. To other processes it is the call without `All`: they may call
 * either. Results, checks, errors and bits are those of that call.
 *
 * `comms` are the handles of all ranks of one communicator in this process, each once, in any order. The data of the
 * ranks are a list in that order; so is the result. Operation, root and options are the same for all; a list of options
 * has those of each rank, which `into` needs.
 *
 * The promise rejects with the error of the first rank that fails. The error of an argument is thrown before anything
 * is sent, and names the rank.
 *
 * @typeParam C a handle
 * @throws ERR_ARGUMENT for handles that are not those of all ranks here; ERR_COUNT for lists of another length
 */
export interface JointCalls<C> {
  /** Resolves when every rank of the communicator has called it. @see MPI-4.1 §6.3 */
  barrierAll(comms: ByHandle<C>, options?: ValueOptions): Promise<void>

  /**
   * Calls `bcast`; `data` may be null if the root is elsewhere.
   *
   * @see MPI-4.1 §6.4
   */
  bcastAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<T | null> | null,
    root?: number,
    options?: JointOptions<MovementOptions<I>>,
  ): Promise<(T | I)[]>
  bcastAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<(T & SendableValue) | null> | null,
    root?: number,
    options?: JointOptions<ValueOptions>,
  ): Promise<T[]>

  /**
   * Calls `reduce`: the result at `root`, null for other ranks.
   *
   * @see MPI-4.1 §6.9
   */
  reduceAll(
    comms: ByHandle<C>,
    data: ByHandle<number>,
    op: NumberOperation,
    root?: number,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(number | null)[]>
  reduceAll(
    comms: ByHandle<C>,
    data: ByHandle<bigint>,
    op: BigintOperation,
    root?: number,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(bigint | null)[]>
  reduceAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    root?: number,
    options?: JointOptions<ReductionOptions<I>>,
  ): Promise<(I | null)[]>
  reduceAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    op: Operation<T>,
    root?: number,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(T | null)[]>

  /**
   * Calls `allreduce`.
   *
   * @see MPI-4.1 §6.9.6
   */
  allreduceAll(
    comms: ByHandle<C>,
    data: ByHandle<number>,
    op: NumberOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<number[]>
  allreduceAll(
    comms: ByHandle<C>,
    data: ByHandle<bigint>,
    op: BigintOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<bigint[]>
  allreduceAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    options?: JointOptions<ReductionOptions<I>>,
  ): Promise<I[]>
  allreduceAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    op: Operation<T>,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<T[]>

  /**
   * Calls `gather`.
   *
   * @see MPI-4.1 §6.5
   */
  gatherAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    root?: number,
    options?: JointOptions<MovementOptions<I>>,
  ): Promise<(I | null)[]>
  gatherAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    root?: number,
    options?: JointOptions<ValueOptions>,
  ): Promise<(T[] | null)[]>

  /**
   * Calls `gatherv`.
   *
   * @see MPI-4.1 §6.5
   */
  gathervAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    root?: number,
    options?: JointOptions<BlocksOptions<I>>,
  ): Promise<(Gathered<I> | null)[]>

  /**
   * Calls `scatter`; `data` may be null if the root is elsewhere.
   *
   * @see MPI-4.1 §6.6
   */
  scatterAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T> | null> | null,
    root?: number,
    options?: JointOptions<MovementOptions<I>>,
  ): Promise<I[]>
  scatterAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<readonly (T & SendableValue)[] | null> | null,
    root?: number,
    options?: JointOptions<ValueOptions>,
  ): Promise<T[]>

  /**
   * Calls `scatterv`; `data` and `counts` may be null if the root is elsewhere.
   *
   * @see MPI-4.1 §6.6
   */
  scattervAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T> | null> | null,
    counts: ByHandle<ArrayLike<number> | null> | null,
    root?: number,
    options?: JointOptions<MovementOptions<I> & { readonly displs?: ArrayLike<number> }>,
  ): Promise<I[]>

  /**
   * Calls `allgather`.
   *
   * @see MPI-4.1 §6.7
   */
  allgatherAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<MovementOptions<I>>,
  ): Promise<I[]>
  allgatherAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    options?: JointOptions<ValueOptions>,
  ): Promise<T[][]>

  /**
   * Calls `allgatherv`.
   *
   * @see MPI-4.1 §6.7
   */
  allgathervAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<BlocksOptions<I>>,
  ): Promise<Gathered<I>[]>

  /**
   * Calls `alltoall`.
   *
   * @see MPI-4.1 §6.8
   */
  alltoallAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<MovementOptions<I>>,
  ): Promise<I[]>
  alltoallAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<readonly (T & SendableValue)[]>,
    options?: JointOptions<ValueOptions>,
  ): Promise<T[][]>

  /**
   * Calls `alltoallv`.
   *
   * @see MPI-4.1 §6.8
   */
  alltoallvAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    sendCounts: ByHandle<ArrayLike<number>>,
    options?: JointOptions<BlocksOptions<I> & { readonly sendDispls?: ArrayLike<number> }>,
  ): Promise<Gathered<I>[]>

  /**
   * Calls `reduceScatter`.
   *
   * @see MPI-4.1 §6.10
   */
  reduceScatterAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    options?: JointOptions<ReductionOptions<I> & { readonly counts?: ArrayLike<number> }>,
  ): Promise<I[]>

  /**
   * Calls `scan`.
   *
   * @see MPI-4.1 §6.11.1
   */
  scanAll(
    comms: ByHandle<C>,
    data: ByHandle<number>,
    op: NumberOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<number[]>
  scanAll(
    comms: ByHandle<C>,
    data: ByHandle<bigint>,
    op: BigintOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<bigint[]>
  scanAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    options?: JointOptions<ReductionOptions<I>>,
  ): Promise<I[]>
  scanAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    op: Operation<T>,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<T[]>

  /**
   * Calls `exscan`: null for rank 0.
   *
   * @see MPI-4.1 §6.11.2
   */
  exscanAll(
    comms: ByHandle<C>,
    data: ByHandle<number>,
    op: NumberOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(number | null)[]>
  exscanAll(
    comms: ByHandle<C>,
    data: ByHandle<bigint>,
    op: BigintOperation,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(bigint | null)[]>
  exscanAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    comms: ByHandle<C>,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    options?: JointOptions<ReductionOptions<I>>,
  ): Promise<(I | null)[]>
  exscanAll<T>(
    comms: ByHandle<C>,
    data: ByHandle<T & SendableValue>,
    op: Operation<T>,
    options?: JointOptions<ScalarReductionOptions>,
  ): Promise<(T | null)[]>

  /**
   * Calls `split`: the new communicator of each rank, null for those with color null.
   *
   * @param colors 0 to 2^31 - 1, or null
   * @param keys signed 32-bit numbers; default 0 for all
   * @see MPI-4.1 §7.4.2
   */
  splitAll(
    comms: ByHandle<C>,
    colors: ByHandle<number>,
    keys?: ByHandle<number> | null,
    options?: SplitOptions,
  ): Promise<C[]>
  splitAll(
    comms: ByHandle<C>,
    colors: ByHandle<number | null>,
    keys?: ByHandle<number> | null,
    options?: SplitOptions,
  ): Promise<(C | null)[]>

  /**
   * Starts the requests of all ranks of this process that one init has returned, once each; resolves when the receive
   * buffers of all are filled. Costs one call for all of them, once their init is complete.
   *
   * @throws ERR_ARGUMENT unless they are those; ERR_REQUEST while a start is active, and after `free`; ERR_TYPE when a
   *   buffer has been detached
   * @see MPI-4.1 §3.9 (MPI_Startall)
   */
  startAll(requests: readonly PersistentRequest[]): Promise<void>
}

const table: JointTable<keyof ReturnType<typeof callsOf>> = {
  barrier: { lists: 0, options: 0 },
  bcast: { lists: 1, options: 2 },
  reduce: { lists: 1, options: 3 },
  allreduce: { lists: 1, options: 2 },
  gather: { lists: 1, options: 2 },
  gatherv: { lists: 1, options: 2 },
  scatter: { lists: 1, options: 2 },
  scatterv: { lists: 2, options: 3 },
  allgather: { lists: 1, options: 1 },
  allgatherv: { lists: 1, options: 1 },
  alltoall: { lists: 1, options: 1 },
  alltoallv: { lists: 2, options: 2 },
  reduceScatter: { lists: 1, options: 2 },
  scan: { lists: 1, options: 2 },
  exscan: { lists: 1, options: 2 },
}

function isListOf(length: number, list: unknown): boolean {
  return typeof list === 'object' && (list as ArrayLike<unknown> | null)?.length === length
}

function barrierTogether(comms: ArrayLike<Handle>): Promise<unknown> {
  const { state } = hostedBy('barrierAll', 'handles', comms)
  return state.collectives.callTogether(barrierOf(state, undefined))
}

/** @param make makes the handle of a rank; every split of the process passes the same one */
export function jointCalls<H>(make: MakeHandle<H>): Record<keyof JointCalls<H>, unknown> {
  const splitEach = jointly<Handle & CommHandle>('split', { lists: 2, options: 2 }, (comm, args) => {
    const [color, key = 0, options] = args as [number | null, number | undefined, SplitOptions | undefined]
    return split(comm, make, color, key, options)
  })
  const general = jointCallsIn(table, callsOf(joint))
  const calls = {
    ...general,
    // Nothing here depends on the rank, and little on the number of ranks.
    barrierAll: (comms: ArrayLike<Handle>, options?: ValueOptions) =>
      options === undefined ? promiseTry(() => barrierTogether(comms)) : general.barrierAll(comms, options),
    allreduceAll: (comms: ArrayLike<Handle>, data: unknown, op: unknown, options?: unknown) =>
      promiseTry(
        () => repeatedAllreduce(comms, data, op, options) ?? general.allreduceAll(comms, data, op, options),
      ),
    splitAll: (
      comms: ArrayLike<Handle & CommHandle>,
      colors: ArrayLike<number | null>,
      keys?: ArrayLike<number> | null,
      options?: SplitOptions,
    ) =>
      promiseTry(() => {
        const { state, places } = hostedBy<CommState>('splitAll', 'handles', comms)
        const isSimple =
          places === undefined && state.collectives.isEven && !Array.isArray(options) && !options?.signal
        const areLists =
          isListOf(comms.length, colors) &&
          (keys === null || keys === undefined || isListOf(comms.length, keys))
        return isSimple && areLists
          ? splitTogether(state, make, colors, keys, options)
          : splitEach(comms, colors, keys, options)
      }),
    startAll: (requests: readonly PersistentRequest[]) => PersistentRequest.startAll(requests),
  }
  return calls as unknown as Record<keyof JointCalls<H>, unknown>
}

function callsOf(form: Form<unknown>) {
  return {
    barrier(this: Handle, options?: ValueOptions) {
      return collectives.barrier(form, this, options)
    },
    bcast(this: Handle, data: unknown, root = 0, options?: MovementOptions) {
      return collectives.bcast(form, this, data, root, options)
    },
    reduce(this: Handle, data: unknown, op: unknown, root = 0, options?: ReductionOptions) {
      return collectives.reduce(form, this, data, op, root, options)
    },
    allreduce(this: Handle, data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.allreduce(form, this, data, op, options)
    },
    gather(this: Handle, data: unknown, root = 0, options?: MovementOptions) {
      return collectives.gather(form, this, 'gather', data, root, options)
    },
    gatherv(this: Handle, data: unknown, root = 0, options?: BlocksOptions) {
      return collectives.gather(form, this, 'gatherv', data, root, options)
    },
    scatter(this: Handle, data: unknown, root = 0, options?: MovementOptions) {
      return collectives.scatter(form, this, 'scatter', data, null, root, options)
    },
    scatterv(
      this: Handle,
      data: unknown,
      counts: ArrayLike<number> | null,
      root = 0,
      options?: MovementOptions & { readonly displs?: ArrayLike<number> },
    ) {
      return collectives.scatter(form, this, 'scatterv', data, counts, root, options)
    },
    allgather(this: Handle, data: unknown, options?: MovementOptions) {
      return collectives.gather(form, this, 'allgather', data, null, options)
    },
    allgatherv(this: Handle, data: unknown, options?: BlocksOptions) {
      return collectives.gather(form, this, 'allgatherv', data, null, options)
    },
    alltoall(this: Handle, data: unknown, options?: MovementOptions) {
      return collectives.alltoall(form, this, 'alltoall', data, null, options)
    },
    alltoallv(
      this: Handle,
      data: unknown,
      sendCounts: ArrayLike<number>,
      options?: BlocksOptions & { readonly sendDispls?: ArrayLike<number> },
    ) {
      return collectives.alltoall(form, this, 'alltoallv', data, sendCounts, options)
    },
    reduceScatter(
      this: Handle,
      data: unknown,
      op: unknown,
      options?: ReductionOptions & { readonly counts?: ArrayLike<number> },
    ) {
      return collectives.reduceScatter(form, this, data, op, options)
    },
    scan(this: Handle, data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.scan(form, this, 'scan', data, op, options)
    },
    exscan(this: Handle, data: unknown, op: unknown, options?: ReductionOptions) {
      return collectives.scan(form, this, 'exscan', data, op, options)
    },
  }
}
