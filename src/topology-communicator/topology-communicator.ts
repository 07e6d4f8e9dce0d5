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
 * A communicator with a process topology (MPI-4.1 §8). Topology and plan are retained once per process. The plan is
 * made at the first neighborhood collective, or by `plan()`; every process makes it from the whole topology. If
 * processes plan from neighbors alone (`createDistGraphAdjacent`), it is made with the communicator. Its collectives
 * have the forms of all collectives: {@link NeighborCalls}, {@link StartedNeighborCalls} and {@link
 * PersistentNeighborCalls}.
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
