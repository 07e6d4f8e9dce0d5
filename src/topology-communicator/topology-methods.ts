import { promiseTry } from '../base/turn.js'
import { addMethods, Communicator } from '../comm/communicator.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import type { CartCommunicator } from './cart-communicator.js'
import {
  type AdjacentOptions,
  type CartOptions,
  createCart,
  createDistGraph,
  createDistGraphAdjacent,
  createGraph,
  createTopology,
  type DistGraphOptions,
} from './constructors.js'
import {
  type CreationModules,
  loadCreationModules,
  loadCreationModulesBy,
  loadedCreationModules,
  type TopologyOptions,
} from './create.js'
import type { JointNeighborCalls } from './joint-neighbor-calls.js'
import type { TopologyCommunicator } from './topology-communicator.js'

/** The methods that `topology-communicator/` adds to every communicator. All are collective over all its ranks. */
export interface TopologyMethods {
  /**
   * Creates a grid over the first ranks; null for ranks beyond it. Costs one small exchange, because every process
   * computes the grid.
   *
   * @throws ERR_DIMS for a malformed grid, or one with more ranks than there are
   * @throws ERR_COLLECTIVE_MISMATCH when ranks pass different grids, strategies or machines
   * @see MPI-4.1 §8.5.1
   */
  createCart(dims: readonly number[], options?: CartOptions): Promise<CartCommunicator | null>

  /**
   * Creates a communicator from a graph that every rank passes entirely: the neighbors of rank r are `edges[index[r -
   * 1] .. index[r] - 1]`, both as sources and as destinations. Null for ranks beyond `index.length`.
   *
   * @throws ERR_TOPOLOGY for a malformed graph, or an edge without the opposite one
   * @see MPI-4.1 §8.5.3
   */
  createGraph(
    index: ArrayLike<number>,
    edges: ArrayLike<number>,
    options?: TopologyOptions,
  ): Promise<TopologyCommunicator | null>

  /**
   * Creates a communicator from the neighbors that every rank passes, in the order of the blocks in its buffers. Costs:
   * every process gets the lists of all ranks and plans for all, in a graph of up to 65,536 edges (strategy `direct`)
   * or 1,048,576 (`common-neighbor`). In larger ones, and with the engine `distributed`, each process plans for its own
   * ranks, in memory for their neighborhoods. The parts are proved to fit together before this resolves; see
   * `planFrom`.
   *
   * @throws ERR_RANK, ERR_COUNT, ERR_ARGUMENT for arguments, before anything is sent
   * @throws ERR_TOPOLOGY on every rank, naming the edge, when one rank lists an edge and the other does not
   * @throws ERR_PLAN_MISMATCH on every rank, when processes that plan from neighbors do not fit together
   * @see MPI-4.1 §8.5.4
   */
  createDistGraphAdjacent(options: AdjacentOptions): Promise<TopologyCommunicator>

  /**
   * Creates a communicator from edges. Every rank passes any edges, also those of other ranks. The neighbors of a rank
   * are in the order of the ranks that passed the edges, and then in the order of each rank. Costs: every process gets
   * all edges.
   *
   * @throws ERR_RANK, ERR_COUNT for arguments, before anything is sent
   * @see MPI-4.1 §8.5.4
   */
  createDistGraph(options: DistGraphOptions): Promise<TopologyCommunicator>

  /**
   * Creates a communicator from a topology that every rank passes entirely: a generated one, or that of a matrix. Costs
   * one small exchange. Ownership: the object is shared by the ranks of a process; do not change its arrays.
   *
   * @throws ERR_TOPOLOGY for a malformed topology, or one with another number of ranks
   * @throws ERR_COLLECTIVE_MISMATCH when ranks pass different ones
   */
  createTopology(topology: ProcessTopology, options?: TopologyOptions): Promise<TopologyCommunicator>
}

declare module '../comm/communicator.js' {
  interface Communicator extends TopologyMethods {}
}

const jointNames: Readonly<Record<keyof JointNeighborCalls, true>> = {
  neighborAllgatherAll: true,
  neighborAllgathervAll: true,
  neighborAlltoallAll: true,
  neighborAlltoallvAll: true,
  neighborAlltoallwAll: true,
  neighborReduceAll: true,
}

/**
 * Makes a joint call that may run before it is loaded. There is no communicator that it accepts then, and the loaded
 * call reports that.
 */
function jointCall(name: keyof JointNeighborCalls) {
  return (...args: readonly unknown[]): Promise<unknown> => {
    const call = (modules: CreationModules) =>
      (modules.jointNeighborCalls[name] as (...args: unknown[]) => Promise<unknown>)(...args)
    const modules = loadedCreationModules()
    return modules === undefined ? loadCreationModules().then(call) : call(modules)
  }
}

/**
 * Adds the methods to `Communicator`, which does not import `topology-communicator/`. Idempotent.
 *
 * @param load loads the modules at the first creation
 */
export function installTopologyMethods(load: () => Promise<CreationModules>): void {
  loadCreationModulesBy(load)
  const methods: TopologyMethods & ThisType<Communicator> = {
    createCart(dims, options) {
      return promiseTry(() => createCart(this, dims, options))
    },
    createGraph(index, edges, options) {
      return promiseTry(() => createGraph(this, index, edges, options))
    },
    createDistGraphAdjacent(options) {
      return promiseTry(() => createDistGraphAdjacent(this, options))
    },
    createDistGraph(options) {
      return promiseTry(() => createDistGraph(this, options))
    },
    createTopology(topology, options) {
      return promiseTry(() => createTopology(this, topology, options))
    },
  }
  addMethods(Communicator.prototype, methods)
  const names = Object.keys(jointNames) as (keyof JointNeighborCalls)[]
  addMethods(Communicator, Object.fromEntries(names.map((name) => [name, jointCall(name)])))
}
