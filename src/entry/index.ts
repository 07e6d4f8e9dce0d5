/**
 * `rankweave`: worlds, communicators, requests, operations, fabrics and errors. Everything else has an entry of its own:
 * `rankweave/topology`, `/schedule`, `/spmm`, `/graphology`, `/fabric`, `/conformance`.
 *
 * @module rankweave
 */
import { installNeighborhood } from '../neighborhood/install.js'

// The one side effect of an import: communicators get `createCart` and its like. A module of types alone has none.
installNeighborhood()

// communicators

export type { Gathered } from '../comm/calls/collectives/blocks/gathered.js'
export type { MethodOptions, OrderOptions } from '../comm/calls/collectives/plan/method.js'
export type {
  BlockPlaces,
  BlocksOptions,
  IntoOptions,
  MovementOptions,
  ReductionOptions,
  ScalarReductionOptions,
  ValueOptions,
} from '../comm/calls/collectives/plan/options.js'
export type { CollectiveName } from '../comm/calls/exchange/collective-name.js'
export { PersistentRequest } from '../comm/calls/program/persistent-request.js'
export { Communicator } from '../comm/communicator.js'
export type { CommDescription, SplitReport } from '../comm/context/describe.js'
export type { PhaseCost, PhaseCosts } from '../comm/context/split/plan/split-meter.js'
export type { SplitAlgorithmName, SplitOptions } from '../comm/context/split/plan/split-plan.js'
export type { SendrecvTags } from '../comm/message-communicator.js'
export type { ProcessCounters, RankCounters } from '../comm/process/counters.js'
export type { WaitOptions } from '../comm/process/waits/wait-options.js'
export type { LookupStatistics } from '../comm/table/distributed-table.js'
export { type Comparison, Group, type RankRange } from '../comm/table/group.js'
export type { BlockLength, ChoiceOptions } from '../neighborhood/block-length.js'
export { CartCommunicator } from '../neighborhood/cart-communicator.js'
export type { AdjacentOptions, CartOptions, DistGraphOptions } from '../neighborhood/constructors.js'
export type { TopologyOptions } from '../neighborhood/create.js'
export type { AdjacentEdges, DistributedEdges } from '../neighborhood/distributed/gather-lists.js'
export type { AllgatherInitOptions } from '../neighborhood/execute/allgather/persistent-allgather.js'
export type { EdgeBlocksOptions } from '../neighborhood/execute/alltoall/neighbor-alltoall.js'
export type { EdgeBuffersOptions, EdgeData } from '../neighborhood/execute/alltoall/neighbor-alltoallw.js'
export type { BlockLayoutOptions } from '../neighborhood/execute/memory/block-layout.js'
export type { NeighborTraffic } from '../neighborhood/execute/neighbor-traffic.js'
export type { NeighborReduceOptions } from '../neighborhood/execute/reduce/neighbor-reduce.js'
export { NeighborRequest } from '../neighborhood/execute/tune/neighbor-request.js'
export type { NeighborInitOptions, TuneOptions } from '../neighborhood/execute/tune/tune-options.js'
export type { TunedCandidate, Tuning } from '../neighborhood/execute/tune/tuner.js'
// Also what makes these methods part of `Communicator` for users of the types.
export type { TopologyMethods } from '../neighborhood/install.js'
export type { PlanStore } from '../neighborhood/plan/plan-store.js'
export { autoLimit, type PlanFrom, planningLimits } from '../neighborhood/plan-from.js'
export type { PlanLinesOptions } from '../neighborhood/plan-lines.js'
export { TopologyCommunicator } from '../neighborhood/topology-communicator.js'

// messages and requests

export { MatchedMessage } from '../comm/p2p/matched-message.js'
export type { Message, RecvOptions, Status } from '../comm/p2p/message/received-message.js'
export {
  type Completed,
  Request,
  type Tested,
  testall,
  testany,
  waitall,
  waitany,
  waitsome,
} from '../comm/p2p/request.js'
export { ANY_SOURCE, ANY_TAG, maxTag, PROC_NULL } from '../matching/wildcards.js'

// data and operations

export type { FreshArray, SameElements } from '../comm/datatype/array-types.js'
export type { TypedArray } from '../comm/datatype/elements.js'
export { createOperation, type Operation } from '../comm/datatype/operation.js'
export type {
  BigintOperation,
  BitwiseOperation,
  ElementOperation,
  NumberOperation,
  OperationName,
  PairOperation,
} from '../comm/datatype/operation-names.js'
export type { Sendable, SendableValue } from '../comm/datatype/sendable.js'
export { type ReceiveBuffer, type StridedShape, StridedView, strided } from '../comm/datatype/strided-view.js'

// worlds and the fabrics that carry them

export { worldReport } from '../comm/world/deadlock.js'
// Worlds of sessions that `run` does not open: what hosts processes elsewhere.
export { hostSession, type WorldOptions } from '../comm/world/world.js'
export { type LocalFactory, type LocalOptions, local } from '../fabric/local/local.js'
export type { LocalFaults } from '../fabric/local/local-faults.js'
export { type VirtualCosts, VirtualTime, type VirtualTimeOptions } from '../fabric/local/virtual-time.js'
export { type MpiFactory, type MpiOptions, mpi } from '../fabric/mpi/mpi.js'
export { type ThreadsFactory, threads } from '../fabric/threads/threads.js'
export type { ThreadsOptions } from '../fabric/threads/threads-connect.js'
export { type WebSocketFactory, type WebSocketOptions, websocket } from '../fabric/websocket/factory-node.js'
export { type PlanDirectoryOptions, planDirectory } from '../launch/plan-directory.js'
export type { ReportOptions } from '../launch/processes/report-triggers.js'
export { type Main, type RunOptions, run } from '../launch/run.js'
export { type HostOptions, host, type OpenWorld } from '../launch/websocket/host.js'
export { type JoinOptions, join } from '../launch/websocket/join.js'
export type { Joined } from '../launch/websocket/joined.js'
export type { ListenOptions } from '../launch/websocket/settings.js'
export type { WorldEnd } from '../rendezvous/hosted-world.js'
export type { WorldLimits } from '../rendezvous/protocol/limits.js'

// errors

export * from './errors.js'
