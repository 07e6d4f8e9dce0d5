/** Rankweave: MPI-grade communicators, process topologies and message-combining neighborhood collectives. */
import { installNeighborhood } from './neighborhood/install.js'

installNeighborhood()

export type { CollectiveName } from './comm/calls/collective-name.js'
export type { Gathered } from './comm/calls/collectives/gathered.js'
// comm
export type { BlocksOptions, IntoOptions } from './comm/calls/collectives/options.js'
export { Communicator } from './comm/communicator.js'
export type { CommDescription, SplitReport } from './comm/context/describe.js'
export type { PhaseCost, PhaseCosts } from './comm/context/split/meter.js'
export type { SplitAlgorithmName, SplitOptions } from './comm/context/split/plan.js'
export type { TypedArray } from './comm/datatype/elements.js'
export { createOperation, type Operation, type OperationName } from './comm/datatype/operation.js'
export {
  type ReceiveBuffer,
  type Sendable,
  type StridedShape,
  StridedView,
  strided,
} from './comm/datatype/payload.js'
export type { Message, RecvOptions, Status } from './comm/p2p/received-message.js'
export {
  type Completed,
  MatchedMessage,
  Request,
  type Tested,
  testall,
  testany,
  waitall,
  waitany,
  waitsome,
} from './comm/p2p/request.js'
export type { ProcessCounters, RankCounters } from './comm/process/counters.js'
export type { WaitOptions } from './comm/process/wait-options.js'
export type { LookupStatistics } from './comm/table/distributed-table.js'
export { type Comparison, Group, type RankRange } from './comm/table/group.js'
export { worldReport } from './comm/world/deadlock.js'
// Worlds of sessions that `run` does not open: what hosts processes elsewhere.
export { hostSession, type WorldOptions } from './comm/world/world.js'
// errors
export {
  type CauseRecord,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRecord,
  errorCodes,
  isRankweaveError,
  RankweaveError,
} from './errors.js'
// fabric
export type {
  BulkTransfer,
  Fabric,
  FabricCounters,
  FabricFactory,
  FabricKind,
  FabricSession,
  FrameSink,
  MemoryLocation,
  MemorySharing,
} from './fabric/fabric.js'
export { maxHeaderWords } from './fabric/fabric.js'
export { type LocalFactory, type LocalOptions, LocalSession, local } from './fabric/local/local.js'
export type { LocalFaults } from './fabric/local/local-faults.js'
export { type MpiFactory, type MpiOptions, MpiSession, mpi } from './fabric/mpi/mpi.js'
export { type ThreadsFactory, threads } from './fabric/threads/threads.js'
export type { ThreadsOptions } from './fabric/threads/threads-connect.js'
export type { ReportOptions } from './launch/report-triggers.js'
export { type Main, type RunOptions, run } from './launch/run.js'
export { cluster, clusterOf, formatMachine, type Machine, nodeOf, parseMachine } from './machine/machine.js'
export { ANY_SOURCE, ANY_TAG, maxTag, PROC_NULL } from './matching/wildcards.js'
export { CartCommunicator } from './neighborhood/cart-communicator.js'
export type { AdjacentOptions, CartOptions, DistGraphOptions } from './neighborhood/constructors.js'
export type { TopologyOptions } from './neighborhood/create.js'
export type { AdjacentEdges, DistributedEdges } from './neighborhood/distributed/gather-lists.js'
// neighborhood
export type { BlockLayoutOptions } from './neighborhood/execute/block-layout.js'
export type { NeighborTraffic } from './neighborhood/execute/executor.js'
export { NeighborRequest } from './neighborhood/execute/persistent.js'
// Also what makes these methods part of `Communicator` for users of the types.
export type { TopologyMethods } from './neighborhood/install.js'
export { type PlanOptions, plan, planStatistics } from './neighborhood/plan/plan.js'
export type { Plan, PlanStatistics, Strategy } from './neighborhood/plan/strategy.js'
export { formatStrategy, parseStrategy } from './neighborhood/plan/strategy-text.js'
export { maxRelativeError, serialProduct } from './neighborhood/spmm/serial.js'
export { type SpmmProblem, type SpmmShare, spmm } from './neighborhood/spmm/spmm.js'
export { TopologyCommunicator } from './neighborhood/topology-communicator.js'
// schedule
export { ScheduleBuilder, type ScheduleFileHeader } from './schedule/builder.js'
export { formatSchedule } from './schedule/file/format-schedule.js'
export { parseSchedule, parseScheduleSlice, parseScheduleStream } from './schedule/file/reader.js'
export { readScheduleFile, writeScheduleFile } from './schedule/file/schedule-file.js'
export { type ScheduleSlice, sliceSchedule, sliceScheduleStream } from './schedule/file/slice.js'
export {
  type Collective,
  type CollectiveSpecification,
  opKind,
  type Schedule,
  scheduleTag,
  specificationOf,
} from './schedule/ir.js'
export { type LoweredSchedule, lower, lowerProcess, type ProcessProgram } from './schedule/lower/lower.js'
export { type VerifyOptions, verify, verifySlice } from './schedule/verify/verify.js'
export {
  type Verification,
  type Violation,
  type ViolationCode,
  violationCodes,
} from './schedule/verify/violations.js'
export { countMessages, forEachOperation } from './schedule/walk.js'
export {
  type ByteSource,
  type OpenSource,
  openSourceFile,
  type ReadProgress,
  sourceOf,
} from './text/byte-source.js'
export { blockBounds } from './topology/block-bounds.js'
export { cartNeighborSlots, cartShift } from './topology/cart-shape.js'
export { checkTopology } from './topology/check-topology.js'
// topology
export { adjacencySvg, type PictureOptions } from './topology/files/adjacency-picture.js'
export { type CsvOptions, parseCsv } from './topology/files/csv.js'
export { formatEdgeList, parseEdgeList } from './topology/files/edge-list.js'
export { type TopologyFormat, topologyFormats, topologyText } from './topology/files/format-topology.js'
export {
  type GraphOptions,
  type TopologyEdgeAttributes,
  topologyFromGraph,
  topologyToGraph,
} from './topology/files/graphology.js'
export { parseGraphologyJson } from './topology/files/graphology-json.js'
export { type MetisGraph, parseMetis } from './topology/files/metis.js'
export {
  type CommonNeighborOptions,
  type CommonNeighbors,
  commonNeighbors,
} from './topology/friends/common-neighbors.js'
export type { FriendGroups, Grouping } from './topology/friends/friend-groups.js'
export type { GroupingEngine, GroupingOptions } from './topology/friends/grouping-options.js'
export { countHyperedges, type HyperedgeCount, type HyperedgeOptions } from './topology/friends/hyperedges.js'
export type { MessageCounts } from './topology/friends/rank-view.js'
export { cartSub, cartTopology } from './topology/generate/cartesian.js'
export { dimsCreate } from './topology/generate/dims-create.js'
export { type ErdosRenyi, erdosRenyiTopology } from './topology/generate/erdos-renyi.js'
export { type Moore, mooreTopology } from './topology/generate/moore.js'
export { type PowerLaw, powerLawTopology } from './topology/generate/power-law.js'
export { type RandomGeometric, randomGeometricTopology } from './topology/generate/random-geometric.js'
export { graph500Quarters, type Rmat, rmatTopology } from './topology/generate/rmat.js'
export { type SmallWorld, smallWorldTopology } from './topology/generate/small-world.js'
export {
  type Stencil,
  type StencilShape,
  stencilOffsets,
  stencilTopology,
} from './topology/generate/stencil.js'
export {
  type CombiningForecast,
  type Forecast,
  type ForecastOptions,
  forecastCombining,
} from './topology/grouping/combining-forecast.js'
export { prepareEngine } from './topology/grouping/exact-round.js'
export { groupFriends } from './topology/grouping/group-friends.js'
export { topologyLimits } from './topology/limits.js'
export { formatMatrixMarket } from './topology/matrix/format-matrix-market.js'
export { parseMatrixMarket, readMatrixMarket } from './topology/matrix/matrix-market.js'
export { matrixLimits } from './topology/matrix/matrix-market-entries.js'
export { topologyFromMatrixMarket } from './topology/matrix/matrix-market-topology.js'
export { topologyFromMatrix } from './topology/matrix/matrix-topology.js'
export {
  compressTriplets,
  type SparseMatrix,
  type SparsePattern,
  type Triplets,
} from './topology/matrix/sparse-matrix.js'
export {
  distinctIn,
  distinctOut,
  inNeighbors,
  type NeighborSets,
  outNeighbors,
  pairEdges,
  transposeTopology,
} from './topology/neighbors.js'
export {
  type CartShape,
  type EdgeArrays,
  type NeighborLists,
  type ProcessTopology,
  topologyFromEdges,
  topologyFromLists,
} from './topology/process-topology.js'
export { buildTopology } from './topology/spec/build-topology.js'
export { formatTopologySpec, parseTopologySpec, type TopologySpec } from './topology/spec/spec-text.js'
export {
  findTranslations,
  type TranslationFinding,
  type TranslationOptions,
  type Translations,
  translationSpec,
} from './topology/spec/translation.js'
export { topologyHash } from './topology/topology-hash.js'
export { type TopologyStatistics, topologyStatistics } from './topology/topology-statistics.js'
