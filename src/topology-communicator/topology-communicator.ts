import { promiseTry } from '../base/turn.js'
import type { CommState } from '../comm/comm-state.js'
import { addMethods, Communicator } from '../comm/communicator.js'
import type { DupOptions } from '../comm/create.js'
import type { Machine } from '../machine/machine.js'
import type { Choice } from '../neighborhood/choose/choice.js'
import type { Plan } from '../neighborhood/strategies/strategy.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import {
  type BlockLength,
  type ChoiceOptions,
  checkedLength,
  checkedOperation,
  choiceOptions,
} from './arguments.js'
import type { CheckedCall } from './exchanges/neighbor-allgather.js'
import type { NeighborTraffic } from './execute/neighbor-traffic.js'
import type { Neighborhood } from './execute/neighborhood.js'
import {
  blockingNeighborCalls,
  type NeighborCalls,
  type StartedNeighborCalls,
  startedNeighborCalls,
} from './neighbor-calls.js'
import { type PersistentNeighborCalls, persistentNeighborCalls } from './neighbor-inits.js'
import { type PlanLinesOptions, planLines } from './plan-lines.js'

/**
 * A communicator with a process topology (MPI-4.1 §8). Topology and plan are retained once per process. The
 * plan is made at the first neighborhood collective, or by `plan()`; every process makes it itself, from the
 * whole topology. Where processes plan from neighbors alone (`createDistGraphAdjacent`), it is made with the
 * communicator. Its collectives have the forms of all collectives: {@link NeighborCalls},
 * {@link StartedNeighborCalls} and {@link PersistentNeighborCalls}.
 */
export class TopologyCommunicator extends Communicator {
  /** @internal */
  readonly neighborhood: Neighborhood
  /** @internal What this rank passed to its last `neighborAllgather`, if it is retained. */
  lastAllgather: CheckedCall | undefined

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
   * @throws ERR_ARGUMENT for an invalid length or operation
   */
  choice(blocks: ChoiceOptions = {}): Choice | null {
    this.seat()
    const bytes = checkedLength('choice', blocks, choiceOptions)
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

  /** @internal */
  protected override get givenMachine(): Machine | undefined {
    return this.neighborhood.machine
  }

  /** What neighborhood collectives of this communicator have sent from this process so far. Live. */
  get traffic(): Readonly<NeighborTraffic> {
    return this.neighborhood.traffic
  }

  /** The same ranks and topology with a new context. @see MPI-4.1 §7.4.2 */
  override async dup(options?: DupOptions): Promise<TopologyCommunicator> {
    const { state, localIndex } = (await super.dup(options)).seat()
    return new TopologyCommunicator(state, localIndex, this.neighborhood)
  }
}

export interface TopologyCommunicator
  extends NeighborCalls<'blocking'>,
    StartedNeighborCalls,
    PersistentNeighborCalls {}

addMethods(TopologyCommunicator.prototype, blockingNeighborCalls)
addMethods(TopologyCommunicator.prototype, startedNeighborCalls, 'i')
addMethods(TopologyCommunicator.prototype, persistentNeighborCalls)
