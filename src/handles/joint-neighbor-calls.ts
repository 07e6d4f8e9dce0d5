import { promiseTry } from '../base/turn.js'
import type { Form } from '../calls/collectives/form.js'
import {
  type ByHandle,
  type JointOptions,
  type JointTable,
  joint,
  jointCallsIn,
} from '../calls/collectives/joint-form.js'
import type { ArrayOperation, Elements, IntoOptions } from '../calls/collectives/options.js'
import type { Gathered } from '../calls/values/placement.js'
import { RankweaveError } from '../errors.js'
import type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import {
  type GatheringHandle,
  type NeighborBlocksOptions,
  neighborAllgather,
  neighborAllgatherv,
  repeatedAllgather,
} from '../topology-communicator/exchanges/neighbor-allgather.js'
import type { EdgeBlocksOptions } from '../topology-communicator/exchanges/neighbor-alltoall.js'
import { neighborAlltoall, neighborAlltoallv } from '../topology-communicator/exchanges/neighbor-alltoall.js'
import type { EdgeBuffersOptions, EdgeData } from '../topology-communicator/exchanges/neighbor-alltoallw.js'
import { neighborAlltoallw } from '../topology-communicator/exchanges/neighbor-alltoallw.js'
import type { NeighborReduceOptions } from '../topology-communicator/exchanges/neighbor-reduce.js'
import { neighborReduce } from '../topology-communicator/exchanges/neighbor-reduce.js'
import { Communicator } from './communicator.js'
import { TopologyCommunicator } from './topology-communicator.js'

type Graphs = ByHandle<TopologyCommunicator>

/** Neighborhood collectives of all ranks of a process in one call; {@link JointCalls} has the other collectives. */
export interface JointNeighborCalls {
  /** Runs `neighborAllgather` for all ranks. @see MPI-4.1 §8.6.1 */
  neighborAllgatherAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    graphs: Graphs,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<IntoOptions<I>>,
  ): Promise<I[]>

  /** Runs `neighborAllgatherv` for all ranks. @see MPI-4.1 §8.6.1 */
  neighborAllgathervAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    graphs: Graphs,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<NeighborBlocksOptions<I>>,
  ): Promise<Gathered<I>[]>

  /** Runs `neighborAlltoall` for all ranks. @see MPI-4.1 §8.6.2 */
  neighborAlltoallAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    graphs: Graphs,
    data: ByHandle<Elements<T>>,
    options?: JointOptions<IntoOptions<I>>,
  ): Promise<I[]>

  /** Runs `neighborAlltoallv` for all ranks. @see MPI-4.1 §8.6.2 */
  neighborAlltoallvAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    graphs: Graphs,
    data: ByHandle<Elements<T>>,
    sendCounts: ByHandle<ArrayLike<number>>,
    options?: JointOptions<EdgeBlocksOptions<I>>,
  ): Promise<Gathered<I>[]>

  /** Runs `neighborAlltoallw` for all ranks. @see MPI-4.1 §8.6.2 */
  neighborAlltoallwAll(
    graphs: Graphs,
    data: ByHandle<readonly EdgeData[]>,
    options?: JointOptions<EdgeBuffersOptions>,
  ): Promise<(ReceiveBuffer | null)[][]>

  /** Runs `neighborReduce` for all ranks; null for a rank without sources. */
  neighborReduceAll<T extends TypedArray, I extends SameElements<T> = FreshArray<T>>(
    graphs: Graphs,
    data: ByHandle<Elements<T>>,
    op: ArrayOperation<T>,
    options?: JointOptions<NeighborReduceOptions<I>>,
  ): Promise<(I | null)[]>
}

const table: JointTable<keyof ReturnType<typeof neighborCallsOf>> = {
  neighborAllgather: { lists: 1, options: 1 },
  neighborAllgatherv: { lists: 1, options: 1 },
  neighborAlltoall: { lists: 1, options: 1 },
  neighborAlltoallv: { lists: 2, options: 2 },
  neighborAlltoallw: { lists: 1, options: 1 },
  neighborReduce: { lists: 1, options: 2 },
}

const unchecked = jointCallsIn(table, neighborCallsOf(joint))

const general = Object.fromEntries(
  Object.entries(unchecked).map(([name, call]) => [
    name,
    (...[graphs, ...args]: Parameters<typeof call>) =>
      promiseTry(() => {
        requireGraphs(name, graphs)
        return call(graphs, ...args)
      }),
  ]),
) as typeof unchecked

export const jointNeighborCalls: typeof general = {
  ...general,
  neighborAllgatherAll: (graphs, data, options) =>
    promiseTry(
      () =>
        repeatedAllgather(graphs as ArrayLike<GatheringHandle>, data, options) ??
        general.neighborAllgatherAll(graphs, data, options),
    ),
}

/** @throws ERR_ARGUMENT for a communicator without a topology; later checks refuse values that are not handles */
function requireGraphs(where: string, graphs: ArrayLike<unknown> | null | undefined): void {
  for (let n = 0; n < (graphs?.length ?? 0); n++) {
    if (!(graphs![n] instanceof Communicator) || graphs![n] instanceof TopologyCommunicator) continue
    const message = `${where}: expected communicators with a topology, got one without at place ${n}`
    throw new RankweaveError('ERR_ARGUMENT', message)
  }
}

function neighborCallsOf(form: Form<unknown>) {
  return {
    neighborAllgather(this: GatheringHandle, data: unknown, options?: IntoOptions) {
      return neighborAllgather(form, this, data, options)
    },
    neighborAllgatherv(this: GatheringHandle, data: unknown, options?: NeighborBlocksOptions) {
      return neighborAllgatherv(form, this, this.neighborhood, data, options)
    },
    neighborAlltoall(this: GatheringHandle, data: unknown, options?: IntoOptions) {
      return neighborAlltoall(form, this, this.neighborhood, data, options)
    },
    neighborAlltoallv(
      this: GatheringHandle,
      data: unknown,
      sendCounts: ArrayLike<number>,
      options?: EdgeBlocksOptions,
    ) {
      return neighborAlltoallv(form, this, this.neighborhood, data, sendCounts, options)
    },
    neighborAlltoallw(this: GatheringHandle, data: readonly EdgeData[], options?: EdgeBuffersOptions) {
      return neighborAlltoallw(form, this, this.neighborhood, data, options)
    },
    neighborReduce(this: GatheringHandle, data: unknown, op: unknown, options?: NeighborReduceOptions) {
      return neighborReduce(form, this, this.neighborhood, data, op, options)
    },
  }
}
