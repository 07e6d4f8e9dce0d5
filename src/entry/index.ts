/**
 * `rankweave`: worlds, communicators, requests, operations, fabrics and errors. Everything else has a
 * separate entry: `rankweave/topology`, `/machine`, `/schedule`, `/models`, `/spmm`, `/graphology`, `/fabric`,
 * `/rendezvous`, `/client`, `/browser`, `/conformance`, `/errors`.
 *
 * @module rankweave
 */
// communicators

export type { WaitOptions } from '../base/abort.js'
export type {
  BlockPlaces,
  BlocksOptions,
  IntoOptions,
  MovementOptions,
  ReductionOptions,
  ScalarReductionOptions,
  ValueOptions,
} from '../calls/collectives/options.js'
export type { AlgorithmUse } from '../calls/plan/collective-plan.js'
export type { MethodOptions, OrderOptions } from '../calls/plan/method.js'
export type { PersistentRequest } from '../calls/program/planned-call.js'
export type { CollectiveName } from '../calls/signature.js'
export type { Gathered } from '../calls/values/placement.js'
export type { DupOptions } from '../comm/create.js'
export type { CommDescription, SplitReport } from '../comm/describe.js'
export type { PhaseCost, PhaseCosts } from '../comm/split/split-call.js'
export type { SplitAlgorithmName, SplitOptions } from '../comm/split/split-plan.js'
export type { LookupStatistics } from '../comm/table/distributed-table.js'
export { type Comparison, Group, type RankRange } from '../comm/table/group.js'
export type { CartCommunicator } from '../handles/cart-communicator.js'
export { Communicator, together } from '../handles/communicator.js'
export type { TopologyCommunicator } from '../handles/topology-communicator.js'
export type { ProcessCounters, RankCounters } from '../messages/process/counters.js'
export type { PlanStore } from '../neighborhood/plan/plan-store.js'
export type { BlockLength, ChoiceOptions, PlanFrom } from '../topology-communicator/arguments.js'
export type { AllgatherInitOptions } from '../topology-communicator/collectives/neighbor-allgather.js'
export type { EdgeBlocksOptions } from '../topology-communicator/collectives/neighbor-alltoall.js'
export type { EdgeBuffersOptions, EdgeData } from '../topology-communicator/collectives/neighbor-alltoallw.js'
export type {
  NeighborInitOptions,
  NeighborRequest,
  TunedCandidate,
  TuneOptions,
  Tuning,
} from '../topology-communicator/collectives/neighbor-call.js'
export type { NeighborReduceOptions } from '../topology-communicator/collectives/neighbor-reduce.js'
export type { BlockLayoutOptions } from '../topology-communicator/collectives/varying-blocks.js'
export type { AdjacentOptions, CartOptions, DistGraphOptions } from '../topology-communicator/constructors.js'
export type { TopologyOptions } from '../topology-communicator/create.js'
export type { AdjacentEdges, DistributedEdges } from '../topology-communicator/distributed/gather-lists.js'
export type { NeighborTraffic } from '../topology-communicator/plan/neighbor-program.js'
export type { PlanLinesOptions } from '../topology-communicator/plan-lines.js'

// messages and requests

export type { Message, RecvOptions, Status } from '../messages/mailboxes/arrived.js'
export { ANY_SOURCE, ANY_TAG, PROC_NULL } from '../messages/mailboxes/envelope.js'
export type { MatchedMessage } from '../messages/p2p/matched-message.js'
export type { SendrecvTags } from '../messages/p2p/point-to-point.js'
export {
  type Completed,
  type Request,
  type Tested,
  testall,
  testany,
  waitall,
  waitany,
  waitsome,
} from '../messages/p2p/request.js'

// data and operations

export type { FreshArray, SameElements, TypedArray } from '../messages/datatype/elements.js'
export type {
  BigintOperation,
  BitwiseOperation,
  ElementOperation,
  NumberOperation,
  OperationName,
  PairOperation,
} from '../messages/datatype/operation.js'
export { createOperation, type Operation } from '../messages/datatype/operation.js'
export type { Sendable, SendableValue } from '../messages/datatype/payload.js'
export {
  type ReceiveBuffer,
  type StridedShape,
  type StridedView,
  strided,
} from '../messages/datatype/strided-view.js'

// worlds and the fabrics that carry them

export { type LocalFactory, type LocalOptions, local } from '../fabric/local/local.js'
export type { LocalFaults } from '../fabric/local/local-faults.js'
export { type VirtualCosts, VirtualTime, type VirtualTimeOptions } from '../fabric/local/virtual-time.js'
export { type MpiFactory, type MpiOptions, mpi } from '../fabric/mpi/mpi.js'
export { type ThreadsFactory, threads } from '../fabric/threads/threads.js'
export type { ThreadsOptions } from '../fabric/threads/threads-connect.js'
export { type PlanDirectoryOptions, planDirectory } from '../launch/plan-directory.js'
export type { ReportOptions } from '../launch/processes/report-triggers.js'
export type { TuningOption } from '../launch/processes/tuning-option.js'
export {
  type HostedMain,
  type HostedResults,
  type Main,
  type ModuleRunOptions,
  type RunOptions,
  run,
} from '../launch/run.js'
export { type HostOptions, host, type OpenWorld } from '../launch/websocket/host.js'
export { join, type NodeJoinOptions } from '../launch/websocket/join.js'
export type { Joined, JoinOptions } from '../launch/websocket/joined.js'
export type { ListenOptions } from '../launch/websocket/settings.js'
export type { MeasurementSource, SourceKind } from '../tuning/measured/measurement.js'
export type {
  DecisionLeaf,
  DecisionNode,
  DecisionTree,
  ThresholdTest,
  WordBranch,
  WordTest,
} from '../tuning/models/decision-tree.js'
export type { TuningFile } from '../tuning/models/tuning-file.js'
export type { TuningSetting } from '../tuning/settings/setting.js'
export type { WorldLimits } from '../websocket/protocol/limits.js'
export type { WorldEnd } from '../websocket/rendezvous/hosted-world.js'
export {
  type WebSocketFactory,
  type WebSocketOptions,
  websocket,
} from '../websocket/websocket-factory-nodejs.js'
export { worldReport } from '../world/deadlock.js'

// errors

export {
  type CauseRecord,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRecord,
  isRankweaveError,
  RankweaveError,
} from '../errors.js'
