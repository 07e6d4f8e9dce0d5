import { promiseTry } from '../base/turn.js'
import { started } from '../calls/collectives/started-form.js'
import type { BlocksOptions, IntoOptions } from '../calls/plan/options.js'
import type { Gathered } from '../calls/plan/placement.js'
import type { PersistentRequest } from '../calls/program/persistent-request.js'
import type { CommState } from '../comm/comm-state.js'
import type { FreshArray, SameElements } from '../messages/datatype/array-types.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { StridedView } from '../messages/datatype/strided-view.js'
import type { Request } from '../messages/p2p/request.js'
import type { WaitOptions } from '../messages/process/abort.js'
import type { Choice } from '../neighborhood/choose/choice.js'
import type { Plan } from '../neighborhood/strategies/strategy.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { type BlockLength, type ChoiceOptions, checkedLength, checkedOperation } from './arguments.js'
import { ExchangeCommunicator } from './exchange-communicator.js'
import {
  type CheckedCall,
  checkedAllgather,
  checkedAllgatherv,
  isRepeated,
  isRetained,
} from './exchanges/neighbor-allgather.js'
import {
  type AllgatherInitOptions,
  neighborAllgatherInit,
  neighborAllgathervInit,
} from './exchanges/persistent-allgather.js'
import type { NeighborRequest } from './execute/neighbor-request.js'
import type { NeighborTraffic } from './execute/neighbor-traffic.js'
import type { Neighborhood } from './execute/neighborhood.js'
import type { BlockLayoutOptions } from './memory/block-layout.js'
import { type PlanLinesOptions, planLines } from './plan-lines.js'

/**
 * A communicator with a process topology (MPI-4.1 §8). Topology and plan are retained once per process. The
 * plan is made at the first neighborhood collective, or by `plan()`; every process makes it itself, from the
 * whole topology. Where processes plan from neighbors alone (`createDistGraphAdjacent`), it is made with the
 * communicator.
 */
export class TopologyCommunicator extends ExchangeCommunicator {
  /** @internal */
  protected override readonly neighborhood: Neighborhood
  #last: CheckedCall | undefined

  /** Not for users: these communicators come from `createDistGraphAdjacent` and the other constructors. */
  constructor(state: CommState, localIndex: number, neighborhood: Neighborhood) {
    super(state, localIndex)
    this.neighborhood = neighborhood
  }

  /**
   * Who sends to whom; shared by all ranks of the process. Where processes plan from neighbors alone, it has
   * only the lists of this process's ranks, those of the others are empty, and it is built when it is read:
   * O(size) memory.
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
   * Weights of the sources, or null in an unweighted topology.
   * @see MPI-4.1 §8.5.5 (MPI_Dist_graph_neighbors)
   */
  get sourceWeights(): Float64Array | null {
    return this.neighborhood.sourceWeightsOf(this.rank)
  }

  /** Weights of the destinations, or null in an unweighted topology. */
  get destinationWeights(): Float64Array | null {
    return this.neighborhood.destinationWeightsOf(this.rank)
  }

  /**
   * The verified plan that neighborhood collectives execute; made now if none has run yet. Where no process
   * has the whole topology, the plan of this process's ranks, which its `ranks` lists. Where the library
   * chooses by block length, the plan for blocks of `bytes`; without, the one for lengths that no rank knows
   * of all.
   */
  async plan(blocks: BlockLength = {}): Promise<Plan> {
    this.seat()
    const bytes = checkedLength('plan', blocks)
    await this.neighborhood.prepareChoice(bytes, 'neighbor-allgather')
    return this.neighborhood.forBlocks(bytes).plan
  }

  /**
   * Which strategy the library has chosen, or chooses now, for blocks of some length, and what others would
   * take; null where the strategy was given. Without `bytes`: for blocks whose lengths no rank knows of all,
   * as in `neighborAllgatherv`. Without `operation`: for a neighbor allgather.
   *
   * That of an alltoall is followed by blocks of `bytes` of the strategy; without it, by equal blocks where
   * every rank has a destination or the topology is a grid. Other alltoalls are sent directly, whatever this
   * says; what `tune` tries are its alternatives.
   *
   * @throws ERR_ARGUMENT for a length or an operation that is none
   */
  choice(blocks: ChoiceOptions = {}): Choice | null {
    this.seat()
    const bytes = checkedLength('choice', blocks)
    return this.neighborhood.choiceFor(bytes, checkedOperation('choice', blocks))
  }

  /**
   * The plan as the lines of a schedule file, on one rank; null on the others. Collective. The lines are the
   * same whether every process planned for all ranks or the ranks grouped friends by messages. `version` of
   * the format: all ranks the same, default 2.
   *
   * @throws ERR_RANK, ERR_SCHEDULE_VERSION before anything is sent
   */
  planLines(root = 0, options?: PlanLinesOptions): Promise<string[] | null> {
    return promiseTry(() => planLines(this.seat(), this.neighborhood, root, options))
  }

  /** What neighborhood collectives of this communicator have sent from this process so far. Live. */
  get traffic(): Readonly<NeighborTraffic> {
    return this.neighborhood.traffic
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
    data: T | StridedView<T>,
    options: IntoOptions<I> = {},
  ): Promise<I> {
    return promiseTry(() => {
      const seat = this.seat()
      let checked = this.#last
      if (checked === undefined || !isRepeated(checked, data, options)) {
        checked = checkedAllgather(seat, this.neighborhood, data, options)
        this.#last = isRetained(checked) ? checked : undefined
      }
      return seat.state.collectives.call(seat.localIndex, checked.call, checked.blocks, options)
    }) as Promise<I>
  }

  /**
   * `neighborAllgather` of blocks of varying lengths. Lengths are sent with the blocks; those given in
   * `counts` are checked. Blocks are packed in the order of the sources unless `displs` places them.
   *
   * @throws ERR_COUNT when `counts` or `displs` do not fit what arrives, ERR_TRUNCATE when `into` is too
   * small: on this rank only, after the exchange
   * @see MPI-4.1 §8.6.1
   */
  neighborAllgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: T | StridedView<T>,
    options: BlocksOptions<I> = {},
  ): Promise<Gathered<I>> {
    return promiseTry(() => {
      const { state, localIndex } = this.seat()
      const { call, blocks } = checkedAllgatherv(this.neighborhood, data, options)
      return state.collectives.call(localIndex, call, blocks, options)
    }) as Promise<Gathered<I>>
  }

  /** Starts a `neighborAllgather`. @see MPI-4.1 §8.7.1 */
  ineighborAllgather<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: T | StridedView<T>,
    options: IntoOptions<I> = {},
  ): Request<I> {
    const seat = this.seat()
    const { call, blocks } = checkedAllgather(seat, this.neighborhood, data, options)
    return started.join(seat, call, blocks, options) as Request<I>
  }

  /** Starts a `neighborAllgatherv`. @see MPI-4.1 §8.7.1 */
  ineighborAllgatherv<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    data: T | StridedView<T>,
    options: BlocksOptions<I> = {},
  ): Request<Gathered<I>> {
    const { call, blocks } = checkedAllgatherv(this.neighborhood, data, options)
    return started.join(this.seat(), call, blocks, options) as Request<Gathered<I>>
  }

  /**
   * A persistent `neighborAllgather` between these two buffers. Collective: every rank calls it, in the same
   * order as all collectives; it returns at once.
   *
   * With `tune`, of a communicator whose strategy the library chooses, the first starts try the strategies
   * that are predicted to be best, `starts` times each in turn, and later ones keep the one whose median time
   * is least: that of the slowest process counts. Results are right at every start. Costs, until one is
   * chosen: a start begins with an agreement by lg (processes) messages of 8 bytes per process, in which all
   * wait for the last; the plan, program and blocks of every candidate are retained. `tuning` of the request
   * reports what was measured.
   *
   * With `sharedMemory`, of a communicator that sends directly or lets the library choose, blocks are read
   * where they are if all processes share memory: only on `mpi`, on one node of at most 64 processes. A start
   * then waits until the destinations have written their blocks of the start before it, so a rank has
   * completed at most one start more than they have begun. Every process retains, until the communicator is
   * freed, two times its ranks' blocks and 64 bytes, rounded up to 64, in memory that peers read: at most 16
   * MiB of all its requests; those that find no room send their blocks.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE for arrays, ERR_ARGUMENT for options, ERR_STRATEGY for
   *   `tune` where the strategy was given, and for `sharedMemory` where it is not `direct`, before anything
   *   is sent
   * @throws ERR_COLLECTIVE_MISMATCH at `start`, when neighbors bound other counts or types, or ranks other
   *   options of `tune`
   * @see MPI-4.1 §8.8.1
   */
  neighborAllgatherInit<T extends TypedArray>(
    send: T,
    recv: T,
    options?: AllgatherInitOptions,
  ): NeighborRequest {
    return neighborAllgatherInit(this.seat(), this.neighborhood, send, recv, options)
  }

  /**
   * A persistent `neighborAllgatherv`. Lengths are exchanged once, here; starts do not send them.
   *
   * @throws ERR_TYPE, ERR_TYPE_MISMATCH for arrays, ERR_ARGUMENT for options, before anything is sent
   * @throws ERR_COUNT, ERR_TRUNCATE at `start`, on all ranks, when the blocks of one do not fit
   * @see MPI-4.1 §8.8.1
   */
  neighborAllgathervInit<T extends TypedArray>(
    send: T,
    recv: T,
    layout: BlockLayoutOptions = {},
  ): PersistentRequest {
    return neighborAllgathervInit(this.seat(), this.neighborhood, send, recv, layout)
  }

  /** The same ranks and topology with a new context. @see MPI-4.1 §7.4.2 */
  override async dup(options?: WaitOptions): Promise<TopologyCommunicator> {
    const { state, localIndex } = (await super.dup(options)).seat()
    return new TopologyCommunicator(state, localIndex, this.neighborhood)
  }
}
