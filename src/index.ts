/** Rankweave: MPI-grade communicators, process topologies and message-combining neighborhood collectives. */
import { installNeighborhood } from './neighborhood/install.js'

installNeighborhood()

// comm
export { type BlocksOptions, Communicator, type IntoOptions } from './comm/communicator.js'
export { type StridedShape, StridedView, strided } from './comm/datatype.js'
export { worldReport } from './comm/deadlock.js'
export type { CommDescription, SplitReport } from './comm/describe.js'
export { Group, type RankRange } from './comm/group.js'
export { createOperation, type Operation, type OperationName } from './comm/operation.js'
export type { ReportOptions } from './comm/report-triggers.js'
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
} from './comm/request.js'
export { type Main, type RunOptions, run } from './comm/run.js'
export type { PhaseCost, PhaseCosts } from './comm/split/meter.js'
export type { SplitAlgorithmName, SplitOptions } from './comm/split/plan.js'
export type { LookupStatistics } from './comm/tables/distributed-table.js'
export {
  ANY_SOURCE,
  ANY_TAG,
  type CollectiveName,
  type Comparison,
  type Gathered,
  type Message,
  maxTag,
  PROC_NULL,
  type ProcessCounters,
  type RankCounters,
  type ReceiveBuffer,
  type RecvOptions,
  type Sendable,
  type Status,
  type TypedArray,
  type WaitOptions,
} from './comm/types.js'
// Worlds of sessions that `run` does not open: what hosts processes elsewhere.
export { hostSession, type WorldOptions } from './comm/world.js'
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
export { type LocalFactory, type LocalOptions, LocalSession, local } from './fabric/local.js'
export type { LocalFaults } from './fabric/local-faults.js'
export { type MpiFactory, type MpiOptions, MpiSession, mpi } from './fabric/mpi.js'
export { type ThreadsFactory, threads } from './fabric/threads.js'
export type { ThreadsOptions } from './fabric/threads-connect.js'
// neighborhood
export type { BlockWishes } from './neighborhood/block-layout.js'
export { CartCommunicator } from './neighborhood/cart-communicator.js'
export type { AdjacentOptions, CartOptions, DistGraphOptions } from './neighborhood/constructors.js'
export type { TopologyOptions } from './neighborhood/create.js'
export type { NeighborTraffic } from './neighborhood/executor.js'
export type { AdjacentEdges, DistributedEdges } from './neighborhood/gather-lists.js'
// Also what makes these methods part of `Communicator` for users of the types.
export type { TopologyMethods } from './neighborhood/install.js'
export { NeighborRequest } from './neighborhood/persistent.js'
export { type PlanOptions, plan, planStatistics } from './neighborhood/plan.js'
export { maxRelativeError, serialProduct } from './neighborhood/spmm/serial.js'
export { type SpmmProblem, type SpmmShare, spmm } from './neighborhood/spmm/spmm.js'
export type { Plan, PlanStatistics, Strategy } from './neighborhood/strategy.js'
export { formatStrategy, parseStrategy } from './neighborhood/strategy-text.js'
export { TopologyCommunicator } from './neighborhood/topology-communicator.js'
// schedule
export { ScheduleBuilder, type ScheduleHead } from './schedule/builder.js'
export { formatSchedule } from './schedule/format.js'
export {
  type Collective,
  type CollectiveSpecification,
  opKind,
  type Schedule,
  scheduleTag,
  specificationOf,
} from './schedule/ir.js'
export { type LoweredSchedule, lower, lowerProcess, type ProcessProgram } from './schedule/lower.js'
export { parseSchedule, parseScheduleSlice, parseScheduleStream } from './schedule/reader.js'
export { readScheduleFile, writeScheduleFile } from './schedule/schedule-file.js'
export { type ScheduleSlice, sliceSchedule, sliceScheduleStream } from './schedule/slice.js'
export { type VerifyOptions, verify, verifySlice } from './schedule/verify.js'
export {
  type Verification,
  type Violation,
  type ViolationCode,
  violationCodes,
} from './schedule/violations.js'
export { countMessages, forEachOperation } from './schedule/walk.js'
// topology
export { adjacencySvg, type PictureOptions } from './topology/adjacency-picture.js'
export { blockBounds } from './topology/blocks.js'
export {
  type ByteSource,
  type OnRead,
  type OpenSource,
  openSourceFile,
  sourceOf,
} from './topology/byte-source.js'
export { cartNeighborSlots, cartShift } from './topology/cart-shape.js'
export { cartSub, cartTopology } from './topology/cartesian.js'
export { checkTopology } from './topology/check-topology.js'
export {
  type CombiningForecast,
  type Forecast,
  type ForecastOptions,
  forecastCombining,
} from './topology/combining-forecast.js'
export {
  type CommonNeighborOptions,
  type CommonNeighbors,
  commonNeighbors,
} from './topology/common-neighbors.js'
export { type CsvOptions, parseCsv } from './topology/csv.js'
export { dimsCreate } from './topology/dims-create.js'
export { formatEdgeList, parseEdgeList } from './topology/edge-list.js'
export { type ErdosRenyi, erdosRenyiTopology } from './topology/erdos-renyi.js'
export { formatMatrixMarket } from './topology/format-matrix-market.js'
export { type TopologyFormat, topologyFormats, topologyText } from './topology/format-topology.js'
export type { FriendGroups, Matching } from './topology/friend-groups.js'
export {
  type GraphOptions,
  type TopologyEdgeAttributes,
  topologyFromGraph,
  topologyToGraph,
} from './topology/graphology.js'
export { parseGraphologyJson } from './topology/graphology-json.js'
export { countHyperedges, type HyperedgeCount, type HyperedgeOptions } from './topology/hyperedges.js'
export { topologyLimits } from './topology/limits.js'
export { cluster, clusterOf, formatMachine, type Machine, nodeOf, parseMachine } from './topology/machine.js'
export { matchFriends } from './topology/matching.js'
export { prepareEngine } from './topology/matching-exact.js'
export type { MatchingEngine, MatchOptions } from './topology/matching-options.js'
export type { MessageCounts } from './topology/matching-protocol.js'
export { parseMatrixMarket, readMatrixMarket } from './topology/matrix-market.js'
export { matrixLimits } from './topology/matrix-market-entries.js'
export { topologyFromMatrixMarket } from './topology/matrix-market-topology.js'
export { type MetisGraph, parseMetis } from './topology/metis.js'
export { type Moore, mooreTopology } from './topology/moore.js'
export {
  distinctIn,
  distinctOut,
  inNeighbors,
  type NeighborSets,
  outNeighbors,
  pairEdges,
  transposeTopology,
} from './topology/neighbors.js'
export { type PowerLaw, powerLawTopology } from './topology/power-law.js'
export {
  type CartShape,
  type EdgeArrays,
  type NeighborLists,
  type ProcessTopology,
  topologyFromEdges,
  topologyFromLists,
} from './topology/process-topology.js'
export { type RandomGeometric, randomGeometricTopology } from './topology/random-geometric.js'
export { graph500Quarters, type Rmat, rmatTopology } from './topology/rmat.js'
export { type SmallWorld, smallWorldTopology } from './topology/small-world.js'
export {
  compressTriplets,
  type SparseMatrix,
  type SparsePattern,
  type Triplets,
} from './topology/sparse-matrix.js'
export { topologyFromMatrix } from './topology/sparse-topology.js'
export { buildTopology } from './topology/spec.js'
export { formatTopologySpec, parseTopologySpec, type TopologySpec } from './topology/spec-text.js'
export { type Stencil, type StencilShape, stencilOffsets, stencilTopology } from './topology/stencil.js'
export { topologyHash } from './topology/topology-hash.js'
export { type TopologyStatistics, topologyStatistics } from './topology/topology-statistics.js'
export {
  findTranslations,
  type TranslationFinding,
  type TranslationOptions,
  type Translations,
  translationSpec,
} from './topology/translation.js'
