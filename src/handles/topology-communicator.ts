import { promiseTry } from '../base/turn.js'
import { blocking, started } from '../calls/collectives/collectives.js'
import type { ArrayOperation, Elements, IntoOptions } from '../calls/collectives/options.js'
import type { PersistentRequest } from '../calls/program/planned-call.js'
import type { Gathered } from '../calls/values/placement.js'
import type { CommState } from '../comm/comm-state.js'
import { type DupOptions, dup } from '../comm/create.js'
import type { Machine } from '../machine/machine.js'
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import type { Request } from '../messages/p2p/request.js'
import type { Choice } from '../neighborhood/choose/auto.js'
import type { Plan } from '../neighborhood/plan/plan.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import {
  type BlockLength,
  type ChoiceOptions,
  checkedLength,
  checkedOperation,
  choiceOptions,
} from '../topology-communicator/arguments.js'
import {
  type AllgatherInitOptions,
  type CheckedCall,
  type NeighborBlocksOptions,
  neighborAllgather,
  neighborAllgatherInit,
  neighborAllgatherv,
  neighborAllgathervInit,
} from '../topology-communicator/collectives/neighbor-allgather.js'
import {
  type EdgeBlocksOptions,
  neighborAlltoall,
  neighborAlltoallInit,
  neighborAlltoallv,
  neighborAlltoallvInit,
} from '../topology-communicator/collectives/neighbor-alltoall.js'
import {
  type EdgeBuffersOptions,
  type EdgeData,
  neighborAlltoallw,
  neighborAlltoallwInit,
} from '../topology-communicator/collectives/neighbor-alltoallw.js'
import type {
  NeighborInitOptions,
  NeighborRequest,
} from '../topology-communicator/collectives/neighbor-call.js'
import {
  type NeighborReduceOptions,
  neighborReduce,
  neighborReduceInit,
} from '../topology-communicator/collectives/neighbor-reduce.js'
import type { BlockLayoutOptions } from '../topology-communicator/collectives/varying-blocks.js'
import type { NeighborTraffic } from '../topology-communicator/plan/neighbor-program.js'
import type { Neighborhood } from '../topology-communicator/plan/neighborhood.js'
import { type PlanLinesOptions, planLines } from '../topology-communicator/plan-lines.js'
import { Communicator } from './communicator.js'

/**
 * A communicator with a process topology (MPI-4.1 §8). Topology and plan are retained once per process. The plan is
 * made at the first neighborhood collective, or by `plan()`; every process makes it from the whole topology. If
 * processes plan from neighbors alone (`createDistGraphAdjacent`), it is made with the communicator.
 *
 * Its collectives (MPI-4.1 §8.6 to §8.8) have the forms of all collectives: `neighborAllgather`, `ineighborAllgather`
 * and `neighborAllgatherInit`. Ownership: a call borrows its arguments until its promise settles or its request has
 * completed; a persistent one borrows its buffers while a start is active.
 */
export class TopologyCommunicator extends Communicator {
  /** @internal */
  readonly neighborhood: Neighborhood
  /** @internal The arguments of this rank's last `neighborAllgather`, if they are retained. */
  lastAllgather: CheckedCall | undefined

  /** Users get these communicators from `createDistGraphAdjacent` and the other constructors. */
  constructor(state: CommState, localIndex: number, neighborhood: Neighborhood) {
    super(state, localIndex)
    this.neighborhood = neighborhood
  }

  /**
   * The topology, shared by all ranks of the process. If processes plan from neighbors alone, it has only the lists of
   * this process's ranks, and those of the others are empty. It is then built when it is read, in O(size) memory.
   */
  get topology(): ProcessTopology {
    return this.neighborhood.topology
  }

  /**
   * The ranks that this rank receives from, in the order of the blocks of its receive buffer. A fresh array.
   */
  get sources(): Int32Array {
    return this.neighborhood.sourcesOf(this.rank)
  }

  /** The ranks that this rank sends to, in order. A fresh array. */
  get destinations(): Int32Array {
    return this.neighborhood.destinationsOf(this.rank)
  }

  /**
   * The weights of the sources, or null in an unweighted topology.
   * @see MPI-4.1 §8.5.5 (MPI_Dist_graph_neighbors)
   */
  get sourceWeights(): Float64Array | null {
    return this.neighborhood.sourceWeightsOf(this.rank)
  }

  /** The weights of the destinations, or null in an unweighted topology. */
  get destinationWeights(): Float64Array | null {
    return this.neighborhood.destinationWeightsOf(this.rank)
  }

  /**
   * Returns the verified plan that neighborhood collectives execute, and makes it if none has run yet. If no process
   * has the whole topology, it is the plan of this process's ranks, which its `ranks` lists. If the library chooses by
   * block length, it is the plan for blocks of `bytes`; without `bytes`, the one for lengths that no rank knows
   * completely.
   */
  async plan(blocks: BlockLength = {}): Promise<Plan> {
    this.seat()
    const bytes = checkedLength('plan', blocks)
    await this.neighborhood.prepareChoice(bytes, 'neighbor-allgather')
    return this.neighborhood.forBlocks(bytes).plan
  }

  /**
   * Returns the strategy that the library has chosen, or chooses now, for blocks of some length, and the predicted
   * times of others. Returns null if the strategy was given. Without `bytes` the choice is for blocks whose lengths no
   * rank knows completely, as in `neighborAllgatherv`; without `operation`, for a neighbor allgather.
   *
   * Alltoalls follow their choice for the block length `bytes` of the strategy. Without `bytes`, those of equal blocks
   * follow it if every rank has a destination or the topology is a grid. Other alltoalls are sent directly, whatever
   * the choice is. `tune` tries its alternatives.
   *
   * @throws ERR_ARGUMENT for an invalid length or operation
   */
  choice(blocks: ChoiceOptions = {}): Choice | null {
    this.seat()
    const bytes = checkedLength('choice', blocks, choiceOptions)
    return this.neighborhood.choiceFor(bytes, checkedOperation('choice', blocks))
  }

  /**
   * Returns the plan as the lines of a schedule file on one rank; null on the others. Collective. The lines are the
   * same whether every process planned for all ranks or the ranks grouped friends by messages. `version` is that of the
   * format; all ranks pass the same, default 2.
   *
   * @throws ERR_RANK, ERR_SCHEDULE_VERSION before anything is sent
   */
  planLines(root = 0, options?: PlanLinesOptions): Promise<string[] | null> {
    return promiseTry(() => planLines(this.seat(), this.neighborhood, root, options))
  }

  /** @internal */
  protected override get givenMachine(): Machine | undefined {
    return this.neighborhood.machine
  }

  /** The traffic of this communicator's neighborhood collectives from this process so far. A live object. */
  get traffic(): Readonly<NeighborTraffic> {
    return this.neighborhood.traffic
  }

  /** Duplicates the communicator: the same ranks and topology with a new context. @see MPI-4.1 §7.4.2 */
  override dup(options?: DupOptions): Promise<TopologyCommunicator> {
    const { neighborhood } = this
    const make = (state: CommState, localIndex: number) =>
      new TopologyCommunicator(state, localIndex, neighborhood)
    return promiseTry(() => dup(this, make, options))
  }

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
  ): Promise<I> {
    return neighborAllgather(blocking, this, data, options)
  }

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
  ): Promise<Gathered<I>> {
    return neighborAllgatherv(blocking, this, this.neighborhood, data, options)
  }

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
  ): Promise<I> {
    return neighborAlltoall(blocking, this, this.neighborhood, data, options)
  }

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
  ): Promise<Gathered<I>> {
    return neighborAlltoallv(blocking, this, this.neighborhood, data, sendCounts, options)
  }

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
  ): Promise<(ReceiveBuffer | null)[]> {
    return neighborAlltoallw(blocking, this, this.neighborhood, data, options)
  }

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
  ): Promise<I | null> {
    return neighborReduce(blocking, this, this.neighborhood, data, op, options)
  }

  /** Starts a {@link neighborAllgather}. */
  ineighborAllgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Request<I> {
    return neighborAllgather(started, this, data, options)
  }

  /** Starts a {@link neighborAllgatherv}. */
  ineighborAllgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: NeighborBlocksOptions<I>,
  ): Request<Gathered<I>> {
    return neighborAllgatherv(started, this, this.neighborhood, data, options)
  }

  /** Starts a {@link neighborAlltoall}. */
  ineighborAlltoall<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    options?: IntoOptions<I>,
  ): Request<I> {
    return neighborAlltoall(started, this, this.neighborhood, data, options)
  }

  /** Starts a {@link neighborAlltoallv}. */
  ineighborAlltoallv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    sendCounts: ArrayLike<number>,
    options?: EdgeBlocksOptions<I>,
  ): Request<Gathered<I>> {
    return neighborAlltoallv(started, this, this.neighborhood, data, sendCounts, options)
  }

  /** Starts a {@link neighborAlltoallw}. */
  ineighborAlltoallw(
    data: readonly EdgeData[],
    options?: EdgeBuffersOptions,
  ): Request<(ReceiveBuffer | null)[]> {
    return neighborAlltoallw(started, this, this.neighborhood, data, options)
  }

  /** Starts a {@link neighborReduce}. */
  ineighborReduce<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: Elements<T>,
    op: ArrayOperation<T>,
    options?: NeighborReduceOptions<I>,
  ): Request<I | null> {
    return neighborReduce(started, this, this.neighborhood, data, op, options)
  }

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
  ): NeighborRequest {
    return neighborAllgatherInit(this, send, recv, options)
  }

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
  ): PersistentRequest {
    return neighborAllgathervInit(this, send, recv, layout)
  }

  /**
   * Creates a persistent `neighborAlltoall` between these two buffers. Collective; it returns at once. `tune` works as
   * in `neighborAllgatherInit`. It tries the strategies that the library would choose among for alltoalls, for the
   * block length `bytes` of the strategy. Without `bytes`, the length of the blocks counts, and 1,024 B if not all
   * ranks know it.
   *
   * @throws as `neighborAlltoall`; ERR_TYPE for strided views; ERR_ARGUMENT, ERR_STRATEGY for options
   * @see MPI-4.1 §8.8.2
   */
  neighborAlltoallInit<T extends TypedArray>(
    send: T,
    recv: T,
    options?: NeighborInitOptions,
  ): NeighborRequest {
    return neighborAlltoallInit(this, send, recv, options)
  }

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
  ): PersistentRequest {
    return neighborAlltoallvInit(this, send, sendCounts, recv, options)
  }

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
  neighborAlltoallwInit(
    send: readonly EdgeData[],
    recv: readonly (ReceiveBuffer | null)[],
    options?: object,
  ): PersistentRequest {
    return neighborAlltoallwInit(this, send, recv, options)
  }

  /** Creates a persistent `neighborReduce`. `recv` of a rank without sources is not written. */
  neighborReduceInit<T extends TypedArray>(
    send: T,
    recv: T,
    op: ArrayOperation<T>,
    options?: Pick<NeighborReduceOptions, 'order'>,
  ): PersistentRequest {
    return neighborReduceInit(this, send, recv, op, options)
  }
}
